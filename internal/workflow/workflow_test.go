package workflow

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

const everything = `{"fsm": 2, "vars": {"tag": ""}, "steps": [
	{"id": 1, "subject": "Build {tag}", "ready": ["go.mod"], "do": "review", "produces": ["out/*", "log"],
		"check": {"run": "make", "timeout": 90, "env": ["CI", "PATH"], "watch": ["src/**"]}, "approval": "Ship {tag}?",
		"only": ["Bash(git push *)"]},
	{"id": 2, "subject": "Judge", "blockedBy": [1], "within": "2h", "outcomes": {
		"again": {"back": 1, "max": 2, "then": "stop"}, "more": {"back": 1, "max": 1}, "stop": {"stop": true, "approval": "Stop?"},
		"fine": {"produces": ["report"], "check": "test -s report"}}},
	{"id": 3, "subject": "Choose", "when": {"2": ["fine", "skipped"]}, "decides": {"run": "./choose"}, "outcomes": ["a", "b"],
		"set": {"tag": "v.*", "sum": {"run": "sum"}, "kind": ["x", "y"]}},
	{"id": 4, "subject": "Ask", "when": {"3": "a"}, "decides": "person", "outcomes": {"yes": {}, "no": {"stop": true}}},
	{"id": 5, "subject": "Each", "blockedBy": [3], "each": {"lines": "list", "inTurn": true},
		"do": [{"id": 1, "subject": "Look at {item}"}]},
	{"id": 6, "subject": "Parts", "blockedBy": [5], "do": [{"id": 1, "subject": "P", "outcomes": {"ok": {}, "halt": {"stop": true}}},
		{"id": 2, "subject": "Q", "blockedBy": [1]}]}]}`

func planned(t *testing.T) Workflow {
	spec, err := fsmspec.Parse([]byte(everything))
	require.NoError(t, err)
	p, err := spec.Plan("ship", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(t, err)
	w := Planned(spec, p)
	w.Command, w.Dir = "ship", "/project"
	return w
}

// TestTexts: what a step demands and how it ends, in words, and what is on record of it.
func TestTexts(t *testing.T) {
	w := planned(t)
	text, err := w.Encode()
	require.NoError(t, err)
	read, err := ParseWorkflow(text)
	require.NoError(t, err)
	again, err := read.Encode()
	require.NoError(t, err)
	assert.Equal(t, text, again)
	assert.Equal(t, "ship has replaced A and B; fsmtx undo 3 brings them back", HasReplaced("ship", []string{"A", "B"}, "fsmtx undo 3"))
	var b strings.Builder
	for _, u := range read.All() {
		fmt.Fprintf(&b, "%s; %s; %s; last %v\n", u.Title(), u.TitleIs(), u.Level(), u.Last())
		for _, s := range u.Steps {
			fmt.Fprintf(&b, "#%d %s by %v %v\n", s.ID, s.Subject, s.Choice(), s.NeedsPerson())
			for _, line := range append(s.Demands(), s.Ends(u.Parent)...) {
				fmt.Fprintf(&b, "  %s\n", line)
			}
			gates := s.Gates()
			for _, o := range s.Outcomes {
				gates = append(gates, o.Gates()...)
			}
			for _, g := range gates {
				fmt.Fprintf(&b, "  - %s at %s: %s; looks %v; says %q\n", g.Kind, g.When, g.Label(), g.Looks(), g.Condition())
			}
		}
	}
	want, err := os.ReadFile("testdata/texts.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

// TestTheRecord is the fsm.json and what the call has added. What is read from it is what the plan has put into the list.
func TestTheRecord(t *testing.T) {
	w := planned(t)
	w.Base, w.Spec, w.SHA256, w.Session = 7, "/skills/ship/fsm.json", "ab", "s1"
	line, err := w.Encode()
	require.NoError(t, err)
	quoted, err := json.Marshal(everything)
	require.NoError(t, err)
	require.Equal(t, `{"version":7,"command":"ship","spec":"/skills/ship/fsm.json","sha256":"ab","session":"s1","dir":"/project","fsm":`+
		string(quoted)+`,"base":7}`, line)
	back, err := ParseWorkflow(line)
	require.NoError(t, err)
	spec, err := fsmspec.Parse([]byte(everything))
	require.NoError(t, err)
	plan, err := spec.Plan("ship", fsmspec.Snapshot{MaxID: 7}, fsmspec.Policy{})
	require.NoError(t, err)
	want := Planned(spec, plan)
	assert.Equal(t, want.Steps, back.Steps)
	assert.Equal(t, int64(8), back.Steps[0].ID)
	require.Len(t, back.Under, 1)
	assert.Equal(t, want.Under[0].Steps, back.Under[0].Steps)
	assert.True(t, back.Values)
	for _, u := range back.All() {
		assert.NotNil(t, u.Machine)
	}
	assert.Equal(t, []fsmspec.ShownGate{{Kind: fsmspec.ReadyFiles, When: fsmspec.AtStart, Text: "needs go.mod"}},
		fsmspec.ShownGates(back.Steps[0].Gates()[:1]))
	assert.NotNil(t, fsmspec.ShownGates(nil), "a list without gates is an empty array")
}

// TestTheRecordOfCopies has what is done for a line, and the lines.
func TestTheRecordOfCopies(t *testing.T) {
	w := Workflow{Version: Version, Dir: "/project", FSM: planned(t).Steps[4].Each.Workflow, Parent: 5, Round: 2, Base: 20,
		Items: []string{"a", "b"}, InTurn: true}
	line, err := w.Encode()
	require.NoError(t, err)
	back, err := ParseWorkflow(line)
	require.NoError(t, err)
	all := back.All()
	require.Len(t, all, 2)
	for i, item := range []string{"a", "b"} {
		assert.Equal(t, item, all[i].Item)
		assert.Equal(t, "Look at "+item, all[i].Steps[0].Subject)
		assert.Equal(t, int64(21+i), all[i].Steps[0].ID)
		assert.Equal(t, 2, all[i].Round)
	}
	assert.Empty(t, all[0].After)
	assert.Equal(t, []int64{21}, all[1].After)
}

// TestRecordsThatAreRefused: what another program has written, or damaged, is not taken for a workflow.
func TestRecordsThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(w *Workflow){
		"":                  func(*Workflow) {},
		"has no dir":        func(w *Workflow) { w.Dir = "" },
		"#0: the number is": func(w *Workflow) { w.Base = -1 },
		"malformed JSON":    func(w *Workflow) { w.FSM = "{" },
		"timeout must be":   func(w *Workflow) { w.FSM = `[{"id": 1, "subject": "A", "check": {"run": "x", "timeout": 1e300}}]` },
		"duplicate id 1":    func(w *Workflow) { w.FSM = `[{"id": 1, "subject": "A"}, {"id": 1, "subject": "B"}]` },
		"#1: cycle 1 -> 2 -> 1": func(w *Workflow) {
			w.FSM = `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "blockedBy": [2]}, {"id": 2, "subject": "B", "blockedBy": [1]}]}`
		},
	} {
		w := planned(t)
		change(&w)
		text, err := w.Encode()
		if err == nil {
			_, err = ParseWorkflow(text)
		}
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		_, err = ParseWorkflow(strings.Replace(text, `"version":`, `"version":1`, 1))
		require.ErrorIs(t, err, ErrVersion)
		for text, want := range map[string]string{"": "the record of a workflow: 1:1: unexpected end of file",
			`{"version":7,"dir":3}`: "1:20: dir: got a number"} {
			_, err = ParseWorkflow(text)
			require.ErrorContains(t, err, want)
		}
	}
}

// TestACopyNamesTheNewNumbers, also in the descriptions that the list shows, and leaves what their author has written.
func TestACopyNamesTheNewNumbers(t *testing.T) {
	w := Workflow{Dir: "/project", FSM: `{"fsm": 2, "steps": [{"id": 1, "subject": "A", "description": "Before #2."},
		{"id": 2, "subject": "B", "when": {"1": "done"}, "outcomes": {"again": {"back": 1, "max": 2}, "drop": {"stop": true}, "fine": {}},
			"do": [{"id": 1, "subject": "C", "outcomes": {"fine": {}, "drop": {"stop": true}}}]}]}`}
	c, err := w.Copy(40)
	require.NoError(t, err)
	assert.Equal(t, "Before #2.", c.Steps[0].Description)
	assert.Contains(t, c.Steps[1].Description, "Ends as: again (back to #41, 2 times at most), or drop (ends the workflow), or fine.")
	assert.Equal(t, []int64{41}, c.Steps[1].BlockedBy)
	assert.Equal(t, int64(41), c.Steps[1].When[0].Step)
	assert.Contains(t, c.Under[0].Steps[0].Description, "Ends as: fine, or drop (ends the parts of #42).")
	assert.Equal(t, int64(42), c.Under[0].Parent)
	assert.Zero(t, w.Base, "the original has changed")
}

// TestAPartBeganWithItsWorkflow, and came from the same list.
func TestAPartBeganWithItsWorkflow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := Workflow{Before: []From{{ID: "first"}, {ID: "second"}}, Under: []Workflow{{Parent: 1}},
		Beside: []Workflow{{Under: []Workflow{{}}}}}
	for _, r := range w.Records() {
		r.Began = at
		for _, u := range r.All() {
			assert.Equal(t, at, u.Began)
			assert.Equal(t, "second", u.With)
		}
	}
}

// TestBegun: who began a workflow, for people.
func TestBegun(t *testing.T) {
	for want, w := range map[string]Workflow{"": {}, "codex": {Client: "codex"},
		"the person by typing the skill":                          {BegunBy: "person prompt"},
		"the agent by calling the skill, in claude-code 2.1.329":  {BegunBy: "agent skill", Client: "claude-code_2-1-329_harness"},
		"the agent by a tool of the MCP server, in My-Client 1.0": {BegunBy: "agent mcp", Client: "My-Client_1-0_mcp"}} {
		require.Equal(t, want, w.Begun())
	}
}

// TestDirsOf: the directories alone are those that the whole record has.
func TestDirsOf(t *testing.T) {
	w := planned(t)
	w.Inode, w.Repo = 7, "/r/.git"
	for _, dir := range []string{"/a", `/b "quoted"`} {
		beside := planned(t)
		beside.Dir, beside.Inode = dir, 8
		w.Beside = append(w.Beside, beside)
	}
	text, err := w.Encode()
	require.NoError(t, err)
	read, err := ParseWorkflow(text)
	require.NoError(t, err)
	var want []Workflow
	for _, one := range read.Records() {
		want = append(want, Workflow{Dir: one.Dir, Inode: one.Inode, Repo: one.Repo})
	}
	got, err := DirsOf(text)
	require.NoError(t, err)
	require.Len(t, got, 3)
	assert.Equal(t, want, got)
	_, err = DirsOf(text[1:])
	assert.Error(t, err)
}
