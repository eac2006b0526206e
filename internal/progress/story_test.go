package progress

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

var update = flag.Bool("update", false, "write what the agent is told into testdata")

// golden compares a text with that of a file in testdata, or writes it there with -update.
func golden(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}

// hydrated returns the frame of a list into which an fsm.json was hydrated. The steps are
// numbered from 1.
func hydrated(t *testing.T, file string) *gates.Frame {
	t.Helper()
	root := t.TempDir()
	project := filepath.Join(root, "project")
	require.NoError(t, os.Mkdir(project, 0o755))
	list := tasks.List{Dir: filepath.Join(root, "tasks", "s1"), Wait: 5 * time.Second}
	spec, err := fsmspec.Parse([]byte(file))
	require.NoError(t, err)
	list.Record = func(p *fsmspec.Plan) (tasks.Record, error) {
		w := workflow.Planned(spec, p)
		w.Command, w.Spec, w.Session, w.Dir = "release", "/skills/release/fsm.json", "s1", project
		text, err := w.Encode()
		return tasks.Record{Text: text}, err
	}
	_, err = list.Replace(context.Background(), tasks.Label{Command: "release"}, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		return spec.Plan("release", snap, fsmspec.Policy{})
	})
	require.NoError(t, err)
	list.Record = nil
	return &gates.Frame{Store: state.Store{List: list, Session: "s1"}, Env: os.Environ(), Apply: true, Via: state.By{How: state.ByShell}}
}

const story = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Choose", "description": "Which one?", "outcomes": {"major": {}, "minor": {}}},
 {"id": 2, "subject": "Write", "blockedBy": [1], "ready": ["in"], "produces": ["out"], "check": "test ! -e bad", "within": "1h",
  "set": {"version": "^[0-9]+$"},
  "outcomes": {"again": {"back": 1, "max": 2}, "written": {}}},
 {"id": 3, "subject": "Migrate", "blockedBy": [2], "each": {"lines": "lines"}, "do": [{"id": 1, "subject": "Change {item}"}]},
 {"id": 4, "subject": "Publish {version}", "blockedBy": [3], "approval": "Is {version} out?"},
 {"id": 5, "subject": "Decide", "blockedBy": [2], "decides": "person", "outcomes": {"yes": {}, "no": {}}}
]}`

// TestTheWayThroughAWorkflow by commands and by tools: what the agent is told at each step.
func TestTheWayThroughAWorkflow(t *testing.T) {
	for kind, file := range map[Kind]string{Commands: "commands.txt", Tools: "tools.txt"} {
		t.Run(file, func(t *testing.T) {
			f := hydrated(t, story)
			w := Way{Kind: kind, Program: "/bin/fsmtx", Prefix: "mcp__fsmtx__"}
			f.Via.How = w.How()
			project := filepath.Join(filepath.Dir(filepath.Dir(f.List.Dir)), "project")
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o644))
			}
			var said []string
			note := func(what, text string) {
				said = append(said, "== "+what+"\n"+strings.ReplaceAll(text, project, "PROJECT"))
			}
			next := func() {
				s, err := state.Load(t.Context(), f.List.Dir)
				require.NoError(t, err)
				note("next", w.Next(s))
			}
			end := func(id int64, u gates.Update) {
				what := fmt.Sprint(id, " ", u.Status, " ", u.Outcome, " ", string(u.Values))
				o, err := w.On(t.Context(), f, id)
				if err != nil {
					require.ErrorIs(t, err, ErrRefused)
					note(what+" (no step)", err.Error())
					return
				}
				r := o.Update(t.Context(), u)
				note(fmt.Sprintf("%s (%s, back %t, undecided %t)", what, r.Decision, r.Back, o.Undecided), r.Text)
			}
			next()
			end(9, gates.Update{Status: workflow.InProgress})
			end(2, gates.Update{Status: workflow.InProgress})
			end(1, gates.Update{Status: workflow.InProgress})
			next()
			end(1, gates.Update{Status: workflow.Completed, Outcome: "major"})
			write("in", "x")
			end(2, gates.Update{Status: workflow.InProgress})
			end(2, gates.Update{Status: workflow.Completed, Outcome: "again"})
			next()
			end(1, gates.Update{Status: workflow.Completed, Outcome: "major"})
			end(2, gates.Update{Status: workflow.Completed, Outcome: "written", Values: jsontext.Value(`{"version": "1"}`)})
			write("out", "x")
			end(2, gates.Update{Status: workflow.Completed, Outcome: "written", Values: jsontext.Value(`{"version": "1"}`)})
			write("lines", "a\nb")
			end(3, gates.Update{Status: workflow.InProgress})
			next()
			end(6, gates.Update{Status: workflow.Completed})
			end(7, gates.Update{Status: workflow.Completed})
			end(3, gates.Update{Status: workflow.Completed})
			end(4, gates.Update{Status: workflow.Completed})
			end(5, gates.Update{Status: workflow.Completed, Outcome: "yes"})
			next()
			require.NoError(t, os.Remove(filepath.Join(f.List.Dir, "7.json")))
			end(7, gates.Update{Status: workflow.InProgress})
			for _, id := range []int64{4, 5} {
				_, err := f.GoPast(t.Context(), gates.Past{Step: id, Because: "x"}, state.By{})
				require.NoError(t, err)
			}
			next()
			golden(t, file, strings.Join(said, "\n")+"\n")
		})
	}
}

// TestStatusForPrograms: the answer of workflow_status, in the middle of the same workflow.
func TestStatusForPrograms(t *testing.T) {
	f := hydrated(t, story)
	w := Way{Kind: Tools}
	said := ""
	status := func(change func(*state.State)) {
		s, err := state.Load(t.Context(), f.List.Dir)
		require.NoError(t, err)
		change(s)
		text, err := json.Marshal(w.Of(s, "Note."), jsontext.Multiline(true), jsonx.Tolerant)
		require.NoError(t, err)
		parts := ""
		for _, p := range Line(s) {
			parts += fmt.Sprintf("[%s %d]", p.Text, p.Mood)
		}
		said += parts + fmt.Sprint(" ", waitsForPerson(s)) + strings.Join(Waiting(s), "; ") + "\n" + string(text) + "\n"
	}
	_, err := f.GoPast(t.Context(), gates.Past{Step: 1, Done: true, Outcome: "major", Because: "x"}, state.By{})
	require.NoError(t, err)
	f.Update(t.Context(), gates.Update{Task: "2", Status: workflow.Completed, Outcome: "again"})
	f.Update(t.Context(), gates.Update{Task: "1", Status: workflow.Completed, Outcome: "major"})
	project := filepath.Join(filepath.Dir(filepath.Dir(f.List.Dir)), "project")
	for name, text := range map[string]string{"in": "x", "out": "x", "lines": "a\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(project, name), []byte(text), 0o644))
	}
	require.True(t, f.Update(t.Context(), gates.Update{Task: "2", Status: workflow.InProgress}).Allowed())
	status(func(s *state.State) {
		s.Time = s.Time.Add(90 * time.Minute)
		s.Troubles = []error{errors.New("bad")}
	})
	f.Update(t.Context(), gates.Update{Task: "2", Status: workflow.Completed, Outcome: "written",
		Values: jsontext.Value(`{"version": "1"}`)})
	f.Update(t.Context(), gates.Update{Task: "3", Status: workflow.InProgress})
	require.True(t, f.Update(t.Context(), gates.Update{Task: "5", Status: workflow.InProgress}).Allowed())
	status(func(s *state.State) {
		s.Pending = []state.Pending{{Step: 6}}
		s.Calls = append(s.Calls, state.Evidence{Time: s.Time.Add(time.Second), Step: 5, Rule: "Bash(x)", Verdict: state.Deny,
			Why: "only: x"})
	})
	golden(t, "status.txt", said)
	s, err := state.LoadNow(t.Context(), f.List.Dir)
	require.NoError(t, err)
	s.Pending = []state.Pending{{Step: 5}, {Step: 6}}
	assert.Contains(t, w.message(s), "Another call is completing it, and its check is running: wait until it ends.")
}

// TestWays: what each way is called, and what it says of itself.
func TestWays(t *testing.T) {
	long := "/" + strings.Repeat("x", maxProgram)
	all := ""
	for _, c := range []struct {
		way Way
		how state.How
	}{
		{Way{Kind: Commands, Program: "/a b/fsmtx"}, state.ByShell},
		{Way{Kind: Commands, Program: long, Named: "p q"}, state.ByShell},
		{Way{Kind: Commands, Program: long[:maxProgram]}, state.ByShell},
		{Way{Kind: Tools, Prefix: "mcp__fsmtx__"}, state.ByMCP},
		{Way{Kind: TaskTools}, state.ByUpdate},
	} {
		assert.Equal(t, c.how, c.way.How())
		spoken := c.way.Spoken(`Do it. Complete it with metadata {"outcome": "a"}. Then. Complete it with metadata {"outcome": "yes", ` +
			`"b": "…", "a": "…"}. Go.`)
		all += strings.Join([]string{c.way.Manual(), c.way.Rest(), c.way.NoWorkflow(), spoken, ""}, "\n")
	}
	golden(t, "ways.txt", strings.ReplaceAll(all, long[:maxProgram], "LONG"))
	for _, text := range []string{"", "Complete it with metadata {", `Complete it with metadata {"a"}.`, "Complete it with metadata x}."} {
		assert.Equal(t, text, Way{}.Spoken(text))
	}
}

// TestCommandsInPowerShell: a path that is quoted is called; one without what has to be quoted is as everywhere.
func TestCommandsInPowerShell(t *testing.T) {
	w := Way{Program: "C:/Users/J Doe/fsmtx.exe", PowerShell: true}
	assert.Equal(t, "& 'C:/Users/J Doe/fsmtx.exe' start 1", w.Command("start", "1"))
	w.Named = "it's"
	assert.Equal(t, "& 'C:/Users/J Doe/fsmtx.exe' start 1 --list 'it''s'", w.Command("start", "1"))
	assert.Equal(t, "C:/bin/fsmtx.exe next", Way{Program: "C:/bin/fsmtx.exe", PowerShell: true}.Command("next"))
	assert.Equal(t, "'C:/Users/J Doe/fsmtx.exe' next", Way{Program: "C:/Users/J Doe/fsmtx.exe"}.Command("next"), "the Bash of Git")
	assert.Equal(t, "fsmtx next", Way{PowerShell: true}.Command("next"))
}

// TestOffered: what the transcript says, then the environment, and the commands for everybody.
func TestOffered(t *testing.T) {
	listing := func(names ...string) string {
		text, err := json.Marshal(map[string]any{"type": "attachment", "attachment": map[string]any{"type": "deferred_tools_delta",
			"addedNames": names}})
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "t.jsonl")
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
		return path
	}
	for _, c := range []struct {
		path     string
		variable string
		subagent bool
		want     Kind
	}{
		{"", "", false, Commands},
		{"", "1", false, TaskTools},
		{"", "1", true, Commands},
		{"", "0", false, Commands},
		{listing("TaskUpdate"), "", false, TaskTools},
		{listing("TaskUpdate"), "", true, Commands},
	} {
		lookup := func(string) (string, bool) { return c.variable, true }
		way := Offered(lookup, c.path, "", c.subagent, "/bin/fsmtx")
		assert.Equal(t, c.want, way.Kind, "%+v", c)
		assert.Equal(t, map[Kind]string{Commands: "/bin/fsmtx"}[c.want], way.Program)
	}
}

// TestBeforeTheClientListsTheTools: a skill that is typed as the first prompt comes before, so the agent
// is told of every way that it may have.
func TestBeforeTheClientListsTheTools(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	transcript := filepath.Join(t.TempDir(), "s.jsonl")
	early := Offered(none, transcript, "", false, "/bin/fsmtx")
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx", Unlisted: true}, early)
	for _, way := range []string{"TaskUpdate", "step_complete", "/bin/fsmtx complete N"} {
		assert.Contains(t, early.Manual(), way)
	}
	listing := `{"type": "attachment", "attachment": {"type": "deferred_tools_delta", "addedNames": ["Bash"], ` +
		`"removedNames": [], "readdedNames": []}}` + "\n"
	require.NoError(t, os.WriteFile(transcript, []byte(listing), 0o644))
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx"}, Offered(none, transcript, "", false, "/bin/fsmtx"))
	assert.Equal(t, Way{Kind: Commands, Program: "/bin/fsmtx"}, Offered(none, "", "", false, "/bin/fsmtx"), "no client")
}
