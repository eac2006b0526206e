package hydrate_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/progress"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// hydrated is the result of hydrating a list whose largest number is base.
func hydrated(t require.TestingT, base int64, text string, deleted ...fsmspec.Deletion) hydrate.Result {
	spec, err := fsmspec.Parse([]byte(text))
	require.NoError(t, err)
	plan, err := spec.Plan("s", fsmspec.Snapshot{MaxID: base}, fsmspec.Policy{})
	require.NoError(t, err)
	result := hydrate.Result{List: list, Spec: "/skills/s/fsm.json", Steps: plan.Tasks(), PartOf: plan.PartOf()}
	result.Created = plan.Creations()
	result.Deleted = deleted
	return result
}

var (
	request   = hydrate.Request{Command: "s", Way: progress.Way{Program: "/bin/fsmtx"}}
	withTools = hydrate.Request{Command: "s", Way: progress.Way{Kind: progress.TaskTools}}
	served    = hydrate.Request{Command: "s", Way: progress.Way{Kind: progress.Tools, Prefix: "mcp__fsmtx__"}}
)

const (
	toolsHint = "\nUse TaskList to see the steps, TaskGet for the description of a later one, and TaskUpdate to keep their status up to " +
		"date as you work; if these tools are not at hand, load them with ToolSearch.\n"
	inOrder  = " Do the steps in order, and do not end your turn while one is ready, unless you need the person.\n"
	commands = "\nWork on the steps with these commands, each as a call of its own: /bin/fsmtx start N before you begin with step N, " +
		"and /bin/fsmtx complete N when its work is done: a refusal says what is missing. /bin/fsmtx next shows what is ready, in full." + inOrder
	server = "\nWork on the steps with mcp__fsmtx__step_start, before you begin with one, and mcp__fsmtx__step_complete, " +
		"when its work is done: a refusal says what is missing. mcp__fsmtx__workflow_status shows what is ready, in full." + inOrder
)

func TestAnnouncement(t *testing.T) {
	const steps = `[
		{"id": 1, "subject": "Set\nup", "description": "First.\r\nThen \u001b.\n", "status": "completed"},
		{"id": 2, "subject": "Build", "description": "make\n  all", "blockedBy": [1]},
		{"id": 3, "subject": "Lint", "status": "in_progress"},
		{"id": 4, "subject": "Ship", "description": "push", "blockedBy": [3, 2]},
		{"id": 5, "subject": "Tell", "blockedBy": [1, 2, 3, 4]}]`
	const head = "The skill s has put its workflow into the task list: 5 tasks #11–#15"
	const body = ".\n\n#11 Set up (done)\n#12 Build, after #11\n#13 Lint (in progress)\n#14 Ship, after #12, " +
		"#13\n#15 Tell, after #11–#14\n" +
		"\nReady now: #12, #13\n\n#12: make\n      all\n"
	deletion := fsmspec.Deletion{ID: "3", Status: "in_progress"}
	for name, test := range map[string]struct {
		request hydrate.Request
		result  hydrate.Result
		want    string
	}{
		"tools": {withTools, hydrated(t, 10, steps), head + body + toolsHint},
		"replaced": {withTools, hydrated(t, 10, steps, deletion, fsmspec.Deletion{ID: "9", Status: "pending"}),
			head + ", replaced #3, #9 (1 was under way)" + body + toolsHint},
		"commands": {request, hydrated(t, 10, steps), head + body + commands},
		"server":   {served, hydrated(t, 10, steps), head + body + server},
		"one step": {hydrate.Request{Command: "my\nskill\x1b", Way: request.Way},
			hydrated(t, 0, `[{"id": 1, "subject": "a", "description": "A"}]`),
			"The skill my skill\\x1b has put its workflow into the task list: 1 task #1.\n\n#1 a\n\nReady now: #1\n\n#1: A\n" + commands},
		"all completed": {withTools, hydrated(t, 0, `[{"id": 1, "subject": "a", "description": "A", "status": "completed"}]`),
			"The skill s has put its workflow into the task list: 1 task #1.\n\n#1 a (done)\n\nEvery step is done.\n" + toolsHint},
		"emptied": {withTools, hydrated(t, 0, `[]`, deletion),
			"The workflow of the skill s has no steps now. Change of the task list: no tasks, removed #3 (1 was under way).\n"},
		"nothing changed": {withTools, hydrated(t, 0, `[]`), ""},
		"another folder": {withTools, late(hydrated(t, 0, `[{"id": 1, "subject": "a"}]`, deletion), "/b/s/fsm.json"),
			"You are running the skill s from /a/s, but the tasks were those of /b/s/fsm.json. " +
				"The skill s has put its workflow into the task list: 1 task #1, replaced #3 (1 was under way).\n\n#1 a\n\n" +
				"Ready now: #1\n" + toolsHint},
		"another folder without a workflow": {withTools, restoring(late(hydrated(t, 0, `[]`, deletion), "/b/s/fsm.json"), "2"),
			"You are running the skill s from /a/s, but the tasks were those of /b/s/fsm.json. It has no workflow. " +
				"Change of the task list: no tasks, removed #3 (1 was under way), restored #2.\n"},
		"a folder that was not found": {withTools, late(hydrated(t, 0, `[]`, deletion), ""),
			"You are running the skill s from /a/s, a folder that could not be found when you invoked it. It has no workflow. " +
				"Change of the task list: no tasks, removed #3 (1 was under way).\n"},
		"warned": {withTools, warned(hydrated(t, 0, `[{"id": 1, "subject": "a"}]`), false),
			"The skill s has put its workflow into the task list: 1 task #1.\n\n#1 a\n\nReady now: #1\n" +
				"\nwarning: fsm.json:2:3: cycle 1 -> 2 -> 1\n" + toolsHint},
		"warned, which is for the author": {withTools, warned(hydrated(t, 0, `[{"id": 1, "subject": "a"}]`), true),
			"The skill s has put its workflow into the task list: 1 task #1.\n\n#1 a\n\nReady now: #1\n" + toolsHint},
		"under a step": {withTools, under(hydrated(t, 2, `[{"id": 1, "subject": "a"}]`)),
			"The skill s has put its workflow into the task list: 1 task #3, under #1 \"one\" of outer.\n\n" +
				"This is part of the work of #1 \"one\" of outer. When its steps are done, go on with #1 \"one\", " +
				"which cannot be completed before.\n\n#3 a\n\nReady now: #3\n" + toolsHint},
		"another folder, nothing changed": {withTools, late(hydrated(t, 0, `[]`), ""), ""},
	} {
		assert.Equal(t, test.want, hydrate.Announcement(test.request, test.result), name)
	}
}

// late makes r the result of a check, which found that the client runs the skill from
// /a/s.
func late(r hydrate.Result, taken string) hydrate.Result {
	r.Mistake = &hydrate.Mistake{Dir: "/a/s", Taken: taken}
	return r
}

// warned adds a warning to r, the result of a workflow with outcomes if flows is true.
func warned(r hydrate.Result, flows bool) hydrate.Result {
	r.Warnings, r.Flows = []fsmspec.Problem{{Line: 2, Column: 3, Message: "cycle 1 -> 2 -> 1"}}, flows
	return r
}

// under makes r the result of a call in a step of another workflow.
func under(r hydrate.Result) hydrate.Result {
	r.Nested = &hydrate.Nested{ID: 1, Step: `#1 "one"`, Skill: "outer", EndOuter: "END"}
	r.Undo = "fsmtx undo"
	return r
}

func restoring(r hydrate.Result, names ...string) hydrate.Result {
	r.Restored = names
	return r
}

// TestReplacedTasksAreListed: they are listed as ranges, and those under way are counted.
func TestReplacedTasksAreListed(t *testing.T) {
	replaced := func(status string, names ...string) string {
		var deleted []fsmspec.Deletion
		for _, name := range names {
			deleted = append(deleted, fsmspec.Deletion{ID: name, Status: status})
		}
		_, text, _ := strings.Cut(hydrate.Announcement(request, hydrated(t, 0, `[]`, deleted...)), "removed ")
		return strings.TrimSuffix(text, ".\n")
	}
	assert.Equal(t, "#1", replaced("pending", "1"))
	assert.Equal(t, "#1, #2", replaced("pending", "2", "1"))
	assert.Equal(t, "#1–#3, #5", replaced("completed", "1", "2", "3", "5"))
	assert.Equal(t, "#9–#11 (3 were under way)", replaced("in_progress", "9", "10", "11"))
	assert.Equal(t, "#1, #3, #5, #7, #9, #11, #13, #15, #17, #19 and 3 more",
		replaced("", "1", "3", "5", "7", "9", "11", "13", "15", "17", "19", "21", "22", "23"))
	assert.Equal(t, "#7 and 1 task without a number", replaced("", "7", "abc"))
	assert.Equal(t, "2 tasks without a number", replaced("", "abc", "x"))
}

// workflowOf returns an fsm.json with n steps. Each is blocked by the one before it, unless
// ready is true.
func workflowOf(n int, subject, description string, ready bool) string {
	var steps []map[string]any
	for i := range n {
		step := map[string]any{"id": i + 1, "subject": subject, "description": description}
		if i > 0 && !ready {
			step["blockedBy"] = []int{i}
		}
		steps = append(steps, step)
	}
	text, err := json.Marshal(steps)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func units(text string) int { return len(utf16.Encode([]rune(text))) }

// TestLongAnnouncementsAreShortened: first the descriptions of later ready steps are
// left out, then the last steps. Half of the room is reserved for the first description.
func TestLongAnnouncementsAreShortened(t *testing.T) {
	text := hydrate.Announcement(withTools, hydrated(t, 2, workflowOf(5, "a", strings.Repeat("d", 3000), true)))
	assert.LessOrEqual(t, units(text), 9000)
	assert.Contains(t, text, "#7 a\n\nReady now: #3–#7\n\n#3: ddd")
	assert.Contains(t, text, "\n#4: "+strings.Repeat("d", 3000)+
		"\n\nLeft out here for length: the descriptions of #5–#7. TaskList shows all steps, TaskGet one with its description.\n")

	text = hydrate.Announcement(request, hydrated(t, 0, workflowOf(2, "a", strings.Repeat("𝄞", 5000), true)))
	assert.LessOrEqual(t, units(text), 9000)
	assert.Greater(t, units(text), 7000)
	assert.Contains(t, text, "𝄞…\n\nLeft out here for length: the end of the description of #1; the descriptions of #2. /bin/fsmtx next "+
		"shows what is ready, in full.\n")
	assert.NotContains(t, text, "TaskGet")

	text = hydrate.Announcement(request, hydrated(t, 0, workflowOf(1000, strings.Repeat("ä", 201), strings.Repeat("d", 3000), false)))
	assert.LessOrEqual(t, units(text), 9000)
	assert.Contains(t, text, "\n#2 "+strings.Repeat("ä", 199)+"…, after #1\n")
	assert.Contains(t, text, "\nReady now: #1\n\n#1: "+strings.Repeat("d", 3000)+"\n")
	assert.Regexp(t, `Left out here for length: the steps #\d+–#1000\. \S+ next shows`, text)
	assert.NotContains(t, text, "TaskGet")

	text = hydrate.Announcement(request, hydrated(t, 0, workflowOf(1, strings.Repeat("ä", 200), "", true)))
	assert.Contains(t, text, "\n#1 "+strings.Repeat("ä", 200)+"\n")

	r := request
	r.Way.Program = "/my opt/fsm\x1btx"
	text = hydrate.Announcement(r, hydrated(t, 0, workflowOf(5, "a", strings.Repeat("d", 3000), true)))
	assert.Contains(t, text, "the descriptions of #3–#5. '/my opt/fsm\\x1btx' next shows")
}

// TestAnnouncementsFit: for any file, the text is short enough for the client to show all
// of it, and each step is listed or named as left out.
func TestAnnouncementsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"a", "ä", "𝄞", "\x1b", "\n", " ", "\u2028"})
		words := func(label string, most int) string {
			return strings.Repeat(text.Draw(t, label), rapid.OneOf(rapid.IntRange(0, most), rapid.Just(most)).Draw(t, label+" length"))
		}
		n := rapid.IntRange(1, 100).Draw(t, "steps")
		base := rapid.Int64Range(0, 1<<52).Draw(t, "base")
		result := hydrated(t, base, workflowOf(n, "x"+words("subject", 300), words("description", 5000), rapid.Bool().Draw(t, "ready")))
		result.Spec = "/" + words("path", 1100)
		for i := range rapid.Int64Range(0, 50).Draw(t, "deleted") {
			result.Deleted = append(result.Deleted, fsmspec.Deletion{ID: fmt.Sprint(base + 3*i), Status: "in_progress"})
		}
		if rapid.Bool().Draw(t, "late, with a warning") {
			result = late(result, "/"+words("taken", 200))
			result.Warnings = []fsmspec.Problem{{Line: 1, Column: 1, Message: "w" + words("warning", 200)}}
		}
		r := hydrate.Request{Command: "c" + words("command", 300), Way: rapid.SampledFrom([]progress.Way{request.Way, withTools.Way,
			served.Way, {Program: "/" + strings.Repeat("p", 299)}}).Draw(t, "way")}
		got := hydrate.Announcement(r, result)
		require.LessOrEqual(t, units(got), 9000)
		if last := fmt.Sprintf("\n#%d x", result.Created[n-1].ID); !strings.Contains(got, last) {
			require.Contains(t, got, "the steps #")
		}
	})
}

// TestAnnouncementsUseTheirRoom: a text is complete if it leaves the room that is reserved
// for listing what is left out. A longer text is cut to that length.
func TestAnnouncementsUseTheirRoom(t *testing.T) {
	const rest = "TaskList shows all steps, TaskGet one with its description."
	const most = 9000 - 1000 - len(rest)
	of := func(subjects, description int) string {
		text := fmt.Sprintf(`[{"id": 1, "subject": "a", "description": %q}`, strings.Repeat("d", description))
		for i := range subjects / 100 {
			text += fmt.Sprintf(`, {"id": %d, "subject": %q}`, i+2, strings.Repeat("s", 100))
		}
		text += fmt.Sprintf(`, {"id": 1000, "subject": %q}]`, strings.Repeat("s", 1+subjects%100))
		return hydrate.Announcement(withTools, hydrated(t, 0, text))
	}
	short := units(of(0, 1))
	text := of(0, 1+most-short)
	assert.Equal(t, most, units(text))
	assert.NotContains(t, text, "Left out")
	text, after, _ := strings.Cut(of(0, 2+most-short), "\nLeft out here for length: ")
	assert.Equal(t, "the end of the description of #1. "+rest+"\n"+toolsHint, after)
	assert.Equal(t, most, units(text+toolsHint), "one character and the ellipsis instead of two")

	for subjects := 7000; ; subjects++ {
		text, n := of(subjects, 0), units(of(subjects, 0))
		assert.Equal(t, n > most, strings.Contains(text, "Left out here for length: the steps #"), "%d characters", n)
		if n >= most || t.Failed() {
			assert.Equal(t, most, n)
			assert.Contains(t, of(subjects+1, 0), "Left out here for length: the steps #")
			break
		}
	}
}

// TestNotice: the text for the person is one line, also if parts have line breaks.
func TestNotice(t *testing.T) {
	created := hydrated(t, 12, workflowOf(12, "a", "", true))
	replaced := created
	for i := range 12 {
		replaced.Deleted = append(replaced.Deleted, fsmspec.Deletion{ID: fmt.Sprint(i + 1), Status: "pending"})
	}
	replaced.Deleted[3].Status = "in_progress"
	emptied := hydrate.Result{Outcome: tasks.Outcome{Deleted: replaced.Deleted[:2]}}
	once := warned(hydrated(t, 0, `[{"id": 1, "subject": "a"}]`), true)
	often := once
	often.Warnings = append(often.Warnings, once.Warnings[0], once.Warnings[0])
	recovered := hydrated(t, 0, `[{"id": 1, "subject": "a"}]`)
	recovered.Recovered = txn.Report{Outcome: txn.RolledBack, Conflicts: []txn.Conflict{{Name: "9\n.json", Why: "modified",
		MovedTo: "/c/9\x1b.json"}, {Name: "8.json", Why: "created"}}}
	duplicate := hydrate.Result{Outcome: tasks.Outcome{Duplicate: true, Recovered: txn.Report{Outcome: txn.RolledBack}}}
	committed := hydrate.Result{Outcome: tasks.Outcome{Recovered: txn.Report{Outcome: txn.Committed}}}
	for name, test := range map[string]struct {
		result hydrate.Result
		want   string
	}{
		"created":  {created, "s: 12 tasks #13–#24"},
		"replaced": {replaced, "s: 12 tasks #13–#24, replaced #1–#12 (1 was under way)"},
		"emptied":  {emptied, "s: no tasks, removed #1, #2"},
		"warned":   {once, "s: 1 task #1; warning: fsm.json:2:3: cycle 1 -> 2 -> 1"},
		"warned often": {often,
			"s: 1 task #1; warning: fsm.json:2:3: cycle 1 -> 2 -> 1 … and 2 more warnings; fsmtx validate shows all"},
		"recovered": {recovered,
			`s: 1 task #1; an interrupted change was rolled back first; 9 .json: modified; moved to /c/9\x1b.json; 8.json: created`},
		"duplicate":                 {duplicate, "s: an interrupted change was rolled back first"},
		"committed":                 {committed, ""},
		"nothing":                   {hydrate.Result{}, ""},
		"late":                      {late(created, ""), "s: 12 tasks #13–#24 (late: the client runs it from /a/s)"},
		"retracted":                 {restoring(hydrated(t, 0, `[]`, replaced.Deleted[0]), "7"), "s: no tasks, removed #1, restored #7"},
		"late, but nothing changed": {late(hydrate.Result{}, ""), ""},
		"under a step": {under(created), `s: 12 tasks #13–#24, under #1 "one" of outer; in a terminal, not with !: fsmtx undo takes ` +
			`them out again`},
	} {
		assert.Equal(t, test.want, hydrate.Notice(request, test.result), name)
	}
	assert.Equal(t, `s: 12 tasks #13–#24, under #1 "one" of outer; outer goes on afterwards; in a terminal, not with !: `+
		`END ends it, and fsmtx undo takes the new tasks out again`, hydrate.Notice(hydrate.Request{Command: "s", Typed: true}, under(created)))
	created.Lost, created.Undo = []string{"old"}, "fsmtx undo"
	assert.Equal(t, "s: 12 tasks #13–#24; s has replaced old; in a terminal, not with !: fsmtx undo brings it back",
		hydrate.Notice(request, created))
	created.Lost = nil
	assert.Equal(t, `a b\x1b: 12 tasks #13–#24`, hydrate.Notice(hydrate.Request{Command: "a\nb\x1b"}, created))

	reason := &recovered.Recovered.Conflicts[1].Why
	*reason += strings.Repeat("!", 1000-units(hydrate.Notice(request, recovered)))
	text := hydrate.Notice(request, recovered)
	assert.Equal(t, 1000, units(text))
	assert.True(t, strings.HasSuffix(text, "!"), "it just fits")
	for range 100 {
		recovered.Recovered.Conflicts = append(recovered.Recovered.Conflicts, txn.Conflict{Name: "8.json", Why: "created"})
	}
	text = hydrate.Notice(request, recovered)
	assert.Equal(t, 1000, units(text))
	assert.True(t, strings.HasSuffix(text, "…"), text)
}

// TestAnnouncementSaysHowAStepEnds: the agent reads what the description in the list says.
func TestAnnouncementSaysHowAStepEnds(t *testing.T) {
	text := hydrate.Announcement(request, hydrated(t, 10, `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Review", "description": "Read it.", "outcomes": ["approved", "dropped"], "only": ["Bash(git diff *)"]},
		{"id": 2, "subject": "Merge", "when": {"1": "approved"}}]}`))
	assert.Equal(t, 1, strings.Count(text, "Ends as: approved, or dropped"), text)
	assert.Equal(t, 1, strings.Count(text, "git diff"), text)
}
