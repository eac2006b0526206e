package fsmspec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"none", `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1], "metadata": {"x": {"fsm": 1}}}]`, ``},
		{"unknown field", `[{"id": 1, "subject": "A", "colour": "red"}]`, `1:28 /0/colour task 1 ("A"): unknown field "colour" is ignored`},
		{"unknown field far from any", `[{"id": 1, "subject": "A", "x/y~": 1, "": 1}]`,
			"1:28 /0/x~1y~0 task 1 (\"A\"): unknown field \"x/y~\" is ignored\n1:39 /0/ task 1 (\"A\"): unknown field \"\" is ignored"},
		{"tag of its own", `[{"id": 1, "subject": "A", "metadata": {"fsm": true}}]`,
			`1:41 /0/metadata/fsm task 1 ("A"): metadata.fsm is overwritten with the name of the command`},
		{"line break in a subject", `[{"id": 1, "subject": "A\nB"}]`,
			`1:23 /0/subject task 1 ("A\nB"): subject has a line break: write one line, and the rest into description`},
		{"control character in a subject", `[{"id": 1, "subject": "A\u001b[31m"}]`,
			`1:23 /0/subject task 1 ("A\x1b[31m"): subject has the control character U+001B, which does not show: remove it`},
		{"bidirectional override in a subject", `[{"id": 1, "subject": "A\u202eB"}]`,
			`1:23 /0/subject task 1 ("A\u202eB"): subject has the invisible character U+202E, which changes the order in ` +
				`which text is shown: remove it`},
		{"long subject", `[{"id": 1, "subject": "` + strings.Repeat("ä", 66) + `"}]`,
			`1:23 /0/subject task 1 ("` + strings.Repeat("ä", 40) +
				`…"): subject has 66 characters, and in 80 columns a task list shows the first 65: move the rest into description`},
		{"subject as long as is shown", `[{"id": 1, "subject": "` + strings.Repeat("ä", 65) + `"}]`, ``},
		{"line break in a description", `[{"id": 1, "subject": "A", "description": "B\nC\u202e"}]`, ``},
		{"blocks itself", `[{"id": 1, "subject": "A", "blocks": [1]}, {"id": 20, "subject": "Free"}]`,
			`1:39 /0/blocks/0 task 1 ("A"): blocks lists the task itself, which would then wait for itself`},
		{"blocked by itself", `[{"id": 1, "subject": "A", "blockedBy": [1]}, {"id": 20, "subject": "Free"}]`,
			`1:42 /0/blockedBy/0 task 1 ("A"): blockedBy lists the task itself, which would then wait for itself`},
		{"reference twice", `[{"id": 1, "subject": "A", "blocks": [2, 2.0]}, {"id": 2, "subject": "B"}]`,
			`1:42 /0/blocks/1 task 1 ("A"): blocks lists 2 more than once`},
		{"one reference in two tasks", `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "blockedBy": [1]}, {"id": 3, ` +
			`"subject": "C", "blockedBy": [1]}]`, ``},
		{"both sides", `[{"id": 1, "subject": "A", "blocks": [2]}, {"id": 2, "subject": "B", "blockedBy": [1]}]`, ``},
		{"both sides, blockedBy first", `[{"id": 2, "subject": "B", "blockedBy": [1]}, {"id": 1, "subject": "A", "blocks": [2]}]`, ``},
		{"in progress while blocked", `[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B", "status": "in_progress", "blockedBy": [1]}]`,
			`1:65 /1/status task 2 ("B"): in_progress while blocked by task 1 ("A"), which is pending`},
		{"in progress while blocked from the other side",
			`[{"id": 1, "subject": "A", "blocks": [2], "status": "in_progress"}, {"id": 2, "subject": "B", "status": "in_progress"}]`,
			`1:105 /1/status task 2 ("B"): in_progress while blocked by task 1 ("A"), which is in_progress`},
		{"in progress while blocked by two",
			`[{"id": 1, "subject": "A"}, {"id": 2, "subject": "B"}, {"id": 3, "subject": "C", "status": "in_progress", "blockedBy": [2, 1]}]`,
			`1:92 /2/status task 3 ("C"): in_progress while blocked by task 1 ("A"), which is pending`},
		{"in progress while its condition is open", `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "outcomes": ["a", "b"]}, ` +
			`{"id": 2, "subject": "B", "status": "in_progress", "when": {"1": "a"}}]}`,
			`1:109 /steps/1/status task 2 ("B"): in_progress while blocked by task 1 ("A"), which is pending`},
		{"in progress with its blocker done",
			`[{"id": 1, "subject": "A", "status": "completed"}, {"id": 2, "subject": "B", "status": "in_progress", "blockedBy": [1]}]`, ``},
		{"cycle of two", `[{"id": 1, "subject": "A", "blocks": [2]}, {"id": 2, "subject": "B", "blocks": [1]}, {"id": 20, "subject": "Free"}]`,
			`1:81 /1/blocks/0 cycle 1 -> 2 -> 1: each task blocks the next, so none of them holds up another`},
		{"cycle of three with a tail", `[{"id": 9, "subject": "Z", "blocks": [1]},
{"id": 1, "subject": "A", "blocks": [2]},
{"id": 2, "subject": "B"},
{"id": 3, "subject": "C", "blockedBy": [2], "blocks": [1]}]`,
			`4:56 /3/blocks/0 cycle 1 -> 2 -> 3 -> 1: each task blocks the next, so none of them holds up another`},
		{"two cycles that share a task", `[{"id": 1, "subject": "A", "blocks": [2]}, {"id": 2, "subject": "B", "blocks": [1, 3]}, {"id": 3, ` +
			`"subject": "C", "blocks": [2]}, {"id": 20, "subject": "Free"}]`,
			"1:81 /1/blocks/0 cycle 1 -> 2 -> 1: each task blocks the next, so none of them holds up another\n" +
				"1:126 /2/blocks/0 cycle 2 -> 3 -> 2: each task blocks the next, so none of them holds up another"},
		{"cycle beside a task that is not on it",
			`[{"id": 1, "subject": "A", "blocks": [2, 3]}, {"id": 2, "subject": "B"}, {"id": 3, "subject": "C", "blocks": [1]}, ` +
				`{"id": 20, "subject": "Free"}]`,
			`1:111 /2/blocks/0 cycle 1 -> 3 -> 1: each task blocks the next, so none of them holds up another`},
		{"cycle stated from both sides",
			`[{"id": 2, "subject": "B", "blockedBy": [1], "blocks": [1]}, {"id": 1, "subject": "A", "blocks": [2]}, {"id": 20, "subject": "Free"}]`,
			`1:42 /0/blockedBy/0 cycle 2 -> 1 -> 2: each task blocks the next, so none of them holds up another`},
		{"cycle stated from both sides, blocks first",
			`[{"id": 1, "subject": "A", "blocks": [2]}, {"id": 2, "subject": "B", "blockedBy": [1], "blocks": [1]}, {"id": 20, "subject": "Free"}]`,
			`1:99 /1/blocks/0 cycle 1 -> 2 -> 1: each task blocks the next, so none of them holds up another`},
		{"no cycle in a diamond", `[{"id": 1, "subject": "A", "blocks": [2, 3]}, {"id": 2, "subject": "B", "blocks": [4]}, {"id": 3, ` +
			`"subject": "C", "blocks": [4]}, {"id": 4, "subject": "D"}]`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			warnings := parsed(t, c.file).Warnings()
			for _, w := range warnings {
				assert.True(t, w.Warning)
			}
			assert.Equal(t, c.want, strings.Join(lines(warnings), "\n"))
		})
	}
}

// Cycles and tasks that block themselves are marked: with them a workflow cannot be carried
// out as it is written.
func TestWarningsThatChangeTheMeaning(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []bool
	}{
		{"cycle", `[{"id": 1, "subject": "A", "blocks": [2]}, {"id": 2, "subject": "B", "blocks": [1]}, {"id": 20, "subject": "Free"}]`,
			[]bool{true}},
		{"itself", `[{"id": 1, "subject": "A", "blocks": [1], "blockedBy": [1]}, {"id": 20, "subject": "Free"}]`, []bool{true, true}},
		{"others", `[{"id": 1, "subject": "A", "colour": 1, "metadata": {"fsm": 1}, "blocks": [2, 2]}, {"id": 2, ` +
			`"subject": "B", "status": "in_progress"}]`,
			[]bool{false, false, false, false}},
	} {
		var got []bool
		for _, w := range parsed(t, c.file).Warnings() {
			got = append(got, w.ChangesMeaning)
		}
		assert.Equal(t, c.want, got, c.name)
	}
}

func TestWarningsThatAreNotListedAreMarkedIfOneChangesTheMeaning(t *testing.T) {
	for last, want := range map[string]bool{"1, 2": true, "2, 1": true, "2, 2": false} {
		file := `[{"id": 1, "subject": "A", "blocks": [` + strings.Repeat("2,", fsmspec.MaxProblems+1) + last +
			`]}, {"id": 2, "subject": "B"}, {"id": 3, "subject": "C"}]`
		warnings := parsed(t, file).Warnings()
		require.Len(t, warnings, fsmspec.MaxProblems+1)
		assert.Equal(t, "and 2 more, which are not listed", warnings[fsmspec.MaxProblems].Message)
		assert.Equal(t, want, warnings[fsmspec.MaxProblems].ChangesMeaning, last)
	}
}

// A dense graph has far more cycles than tasks.
func TestWarningsOfADenseGraphAreBounded(t *testing.T) {
	var ids []string
	for i := range 300 {
		ids = append(ids, fmt.Sprint(i+1))
	}
	all := strings.Join(ids, ",")
	var entries []string
	for _, id := range ids {
		entries = append(entries, fmt.Sprintf(`{"id":%s,"subject":"A","blocks":[%s]}`, id, all))
	}
	entries = append(entries, `{"id":301,"subject":"Free"}`)
	warnings := parsed(t, "["+strings.Join(entries, ",")+"]").Warnings()
	require.Len(t, warnings, 300+100, "one for each task, which lists itself, and a hundred cycles")
}
