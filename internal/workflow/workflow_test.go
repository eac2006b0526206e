package workflow

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
)

const everything = `{"fsm": 2, "vars": {"tag": ""}, "steps": [
	{"id": 1, "subject": "Build {tag}", "ready": ["go.mod"], "do": "review", "produces": ["out/*", "log"],
		"check": {"run": "make", "timeout": 90, "env": ["CI", "PATH"], "watch": ["src/**"]}, "approval": "Ship {tag}?", "only": ["Bash(git push *)"]},
	{"id": 2, "subject": "Judge", "blockedBy": [1], "within": "2h", "outcomes": {
		"again": {"back": 1, "max": 2, "then": "stop"}, "more": {"back": 1, "max": 1}, "stop": {"stop": true, "approval": "Stop?"},
		"fine": {"produces": ["report"], "check": "test -s report"}}},
	{"id": 3, "subject": "Choose", "when": {"2": ["fine", "skipped"]}, "decides": {"run": "./choose"}, "outcomes": ["a", "b"],
		"set": {"tag": "v.*", "sum": {"run": "sum"}, "kind": ["x", "y"]}},
	{"id": 4, "subject": "Ask", "when": {"3": "a"}, "decides": "person", "outcomes": {"yes": {}, "no": {"stop": true}}},
	{"id": 5, "subject": "Each", "blockedBy": [3], "each": {"lines": "list", "inTurn": true}, "do": [{"id": 1, "subject": "Look at {item}"}]},
	{"id": 6, "subject": "Parts", "blockedBy": [5], "do": [{"id": 1, "subject": "P", "outcomes": {"ok": {}, "halt": {"stop": true}}},
		{"id": 2, "subject": "Q", "blockedBy": [1]}]}]}`

func planned(t *testing.T) []Workflow {
	spec, err := fsmspec.Parse([]byte(everything))
	require.NoError(t, err)
	p, err := spec.Plan("ship", fsmspec.Snapshot{}, fsmspec.Policy{})
	require.NoError(t, err)
	return Planned(p.Levels(), 0)
}

// TestTexts: what a step demands and how it ends, in words, and what is on record of it.
func TestTexts(t *testing.T) {
	w := planned(t)[0]
	w.Command, w.Dir = "ship", "/project"
	text, err := w.Encode()
	require.NoError(t, err)
	read, err := ParseWorkflow(text)
	require.NoError(t, err)
	again, err := read.Encode()
	require.NoError(t, err)
	assert.Equal(t, text, again)
	assert.Equal(t, "ship has replaced A and B; fsmtx undo 3 brings it back", HasReplaced("ship", []string{"A", "B"}, "fsmtx undo 3"))
	var b strings.Builder
	for _, u := range read.All() {
		fmt.Fprintf(&b, "%s; %s; %s; last %v\n", u.Title(), u.TitleIs(), u.Level(), u.Last())
		for _, s := range u.Steps {
			fmt.Fprintf(&b, "#%d %s by %v %v\n", s.ID, s.Subject, s.Decider(), s.NeedsPerson())
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

// TestTheRecord has each member by a name of its own.
func TestTheRecord(t *testing.T) {
	w := Workflow{Version: Version, Command: "release", Spec: "/skills/release/fsm.json", SHA256: "ab", Session: "s1", Dir: "/project",
		Steps: []Step{{ID: 8, Local: 1, Subject: "Build", Status: "completed", Produces: []string{"dist/*.tar.gz"}},
			{ID: 9, Local: 2, Subject: "Test", Status: "pending", BlockedBy: []int64{8}, Ready: []string{"dist/app.tar.gz"},
				Check: &Check{Run: "make test", Timeout: 0.5, Dir: "app"}, Approval: "Publish?"}}}
	line, err := w.Encode()
	require.NoError(t, err)
	require.Equal(t, `{"version":6,"command":"release","spec":"/skills/release/fsm.json","sha256":"ab","session":"s1",`+
		`"dir":"/project","steps":[{"id":8,"local":1,"subject":"Build","status":"completed","produces":["dist/*.tar.gz"]},`+
		`{"id":9,"local":2,"subject":"Test","status":"pending","blockedBy":[8],"ready":["dist/app.tar.gz"],`+
		`"check":{"run":"make test","timeout":0.5,"dir":"app"},"approval":"Publish?"}]}`, line)
	back, err := ParseWorkflow(line)
	require.NoError(t, err)
	require.NotNil(t, back.Machine)
	back.Machine = nil
	require.Equal(t, w, back)
	require.Equal(t, 500*time.Millisecond, back.Steps[1].Check.Limit())
	assert.Equal(t, []ShownGate{{Kind: ReadyFiles, When: AtStart, Text: "needs dist/app.tar.gz"}}, ShownGates(w.Steps[1].Gates()[:1]))
	assert.NotNil(t, ShownGates(nil), "a list without gates is an empty array")
}

// TestRecordsThatAreRefused: what another program has written, or damaged, is not taken for a workflow.
func TestRecordsThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(w *Workflow){
		"":                             func(*Workflow) {},
		"has no dir":                   func(w *Workflow) { w.Dir = "" },
		"parent #-1, round 0":          func(w *Workflow) { w.Parent = -1 },
		"parent #0, round -1":          func(w *Workflow) { w.Round = -1 },
		"#0: the number is out":        func(w *Workflow) { w.Steps[0].ID = 0 },
		"#1: the number is out":        func(w *Workflow) { w.Steps[1].ID = 1 },
		"#6: the number is out":        func(w *Workflow) { w.Under[0].Steps[1].ID = 6 }, // that of the step that it is under
		"#2: local id 1 is out":        func(w *Workflow) { w.Steps[1].Local = 1 },
		"#1: local id 0 is out":        func(w *Workflow) { w.Steps[0].Local = 0 },
		"blocked by #9, which is not":  func(w *Workflow) { w.Steps[1].BlockedBy = []int64{9} },
		"of nothing, or of two things": func(w *Workflow) { w.Steps[4].Each.Run = &Check{Run: "x", Timeout: 1} },
		"decides, and there is none":   func(w *Workflow) { w.Steps[2].Chooser = nil },
		"a check without a command":    func(w *Workflow) { w.Steps[0].Check.Run = " " },
		`unknown status "done"`:        func(w *Workflow) { w.Steps[0].Status = "done" },
		"timeout of 0 seconds":         func(w *Workflow) { w.Steps[1].Outcomes[3].Check.Timeout = 0 },
		"timeout of 1e-300 seconds":    func(w *Workflow) { w.Steps[0].Check.Timeout = 1e-300 },
		"timeout of 1801 seconds":      func(w *Workflow) { w.Steps[0].Check.Timeout = 1801 },
		"timeout of 1e+300 seconds":    func(w *Workflow) { w.Steps[2].Chooser.Timeout = 1e300 },
		"a time limit of -1 seconds":   func(w *Workflow) { w.Steps[1].Within = -1 },
		`only: "(": `:                  func(w *Workflow) { w.Steps[0].Only = []string{"("} },
		"the value tag: ":              func(w *Workflow) { w.Steps[2].Set[0].Pattern = "(" },
		"#1: cycle 1 -> 2 -> 1":        func(w *Workflow) { w.Steps[0].BlockedBy = []int64{2} },
	} {
		w := planned(t)[0]
		w.Dir = "/project"
		change(&w)
		text, err := w.Encode()
		if want == "" {
			require.NoError(t, err)
			_, err = ParseWorkflow(strings.Replace(text, `"version":`, `"version":1`, 1))
			require.ErrorIs(t, err, ErrVersion)
			for text, want := range map[string]string{"": "the record of a workflow: 1:1: unexpected end of file",
				`{"version":6,"dir":3}`: "1:20: dir: got a number",
				`{"version":6,"dir":"/p","steps":[{"id":1,"local":1,"status":"pending","check":"make"}]}`: "check: got a string"} {
				_, err = ParseWorkflow(text)
				require.ErrorContains(t, err, want)
			}
			continue
		}
		assert.ErrorContains(t, err, want)
	}
}

// TestACopyNamesTheNewNumbers in what this program has written into a description, and leaves what its author has written.
func TestACopyNamesTheNewNumbers(t *testing.T) {
	const ends = "Ends as: again (back to #1, 2 times at most), or drop (ends the workflow)."
	w := Workflow{Dir: "/project", Steps: []Step{
		{ID: 1, Local: 1, Status: Pending, Description: "Before #2.", Circular: []int64{2}},
		{ID: 2, Local: 2, Status: Pending, BlockedBy: []int64{1}, When: []Condition{{Step: 1, Outcomes: []string{"done"}}},
			Outcomes:    []Outcome{{Name: "again", Back: 1, Max: 2}, {Name: "drop", Stop: true}},
			Description: ends + "\n" + ends + " Complete it with metadata {}."},
	}, Under: []Workflow{{Parent: 2, After: []int64{1}, Steps: []Step{{ID: 5, Local: 1, Status: Pending,
		Outcomes: []Outcome{{Name: "fine"}, {Name: "drop", Stop: true}}, Description: "Ends as: fine, or drop (ends the parts of #2)."}}}}}
	c, err := w.Copy(40)
	require.NoError(t, err)
	assert.Equal(t, "Before #2.", c.Steps[0].Description)
	assert.Equal(t, ends+"\nEnds as: again (back to #41, 2 times at most), or drop (ends the workflow). Complete it with metadata {}.",
		c.Steps[1].Description)
	assert.Equal(t, []int64{41}, c.Steps[1].BlockedBy)
	assert.Equal(t, []int64{42}, c.Steps[0].Circular)
	assert.Equal(t, int64(41), c.Steps[1].When[0].Step)
	assert.Equal(t, "Ends as: fine, or drop (ends the parts of #42).", c.Under[0].Steps[0].Description)
	assert.Equal(t, int64(42), c.Under[0].Parent)
	assert.Equal(t, []int64{41}, c.Under[0].After)
	assert.Equal(t, int64(1), w.Steps[0].ID, "the original has changed")
}

// TestAPartBeganWithItsWorkflow, and came from the same list.
func TestAPartBeganWithItsWorkflow(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := Workflow{Before: []From{{ID: "first"}, {ID: "second"}}, Under: []Workflow{{Parent: 1}}, Beside: []Workflow{{Under: []Workflow{{}}}}}
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
	for want, w := range map[string]Workflow{"": {}, "codex": {Client: "codex"}, "the person (prompt)": {BegunBy: "person prompt"},
		"the agent (skill), in claude-code 2.1.329": {BegunBy: "agent skill", Client: "claude-code_2-1-329_harness"},
		"the agent (mcp), in My-Client 1.0":         {BegunBy: "agent mcp", Client: "My-Client_1-0_mcp"}} {
		require.Equal(t, want, w.Begun())
	}
}
