package hydrate_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// TestBegin: by the name of a skill, by directories, and what is said if there is no workflow.
func TestBegin(t *testing.T) {
	h := newHome(t)
	for name, text := range map[string]string{
		".claude/skills/release/SKILL.md":  "",
		".claude/skills/release/fsm.json":  `[{"id": 1, "subject": "one"}, {"id": 2, "subject": "two", "blockedBy": [1]}]`,
		".claude/skills/released/SKILL.md": "", ".claude/skills/released/fsm.json": `[]`,
		".claude/skills/empty/SKILL.md": "", ".claude/skills/empty/fsm.json": `[]`,
		".claude/skills/bad/SKILL.md": "", ".claude/skills/bad/fsm.json": `[{"id": 1}]`,
		".claude/skills/plain/SKILL.md": "",
		".codex/skills/asked/SKILL.md":  "", ".codex/skills/asked/fsm.json": `[{"id": 1, "subject": "one"}]`,
		".codex/skills/bare/SKILL.md": "",
		"project/release/fsm.json":    `[{"id": 1, "subject": "of the project"}]`,
		"project/dir/fsm.json":        `[{"id": 7, "subject": "of a directory"}]`,
		"project/none/x":              "",
		"project/file":                "",
	} {
		h.write(name, text)
	}
	here := filepath.Join(h.dir, "project")
	var all []string
	begin := func(b hydrate.Beginning) hydrate.Result {
		b.Here, b.List = here, tasklist.Found{Dir: h.list(), Session: "list"}
		var logged []string
		begun, result, err := hydrate.Begin(t.Context(), b, h.env, hydrate.Options{
			Log: func(r decisions.Record) { logged = append(logged, r.Decision, r.Workflow, r.Project) }})
		text := fmt.Sprint(b.Skill, " ", b.Program, ": ")
		var not *hydrate.NotBegun
		if errors.As(err, &not) {
			text += fmt.Sprintf("%s; hint: %s; refused %t", not.Error(), not.Hint, not.Refused)
		} else {
			require.NoError(t, err)
			subjects := ""
			for _, s := range result.Steps {
				subjects += " " + s.Subject
			}
			text += fmt.Sprint(begun.Created, begun.Deleted, subjects, " ", strings.SplitN(begun.Text, "\n", 2)[0])
		}
		all = append(all, strings.ReplaceAll(text+" "+fmt.Sprint(logged), h.dir, "HOME"))
		return result
	}
	for _, skill := range []string{"release", "./release", "dir", here + "/dir", "dir/../dir", "empty", "released", "none", "./none", "file",
		"./file",
		"./missing", "missing", "releas", "bad", "plain", ".", ".."} {
		begin(hydrate.Beginning{Skill: skill})
	}
	for _, skill := range []string{"asked", "bare", "askd", "p:askd", "empty", "dir"} { // "empty" is only Claude Code's
		begin(hydrate.Beginning{Skill: skill, Program: "codex"})
	}
	h.write(".claude/settings.json", `{"skillOverrides": {"release": "off"}}`)
	begin(hydrate.Beginning{Skill: "release"})
	assert.Equal(t, `
release : [1 2] [] one two The skill release has put its workflow into the task list: 2 tasks #1, #2. [hydrated release HOME/project]
./release : [3] [1 2] of the project The skill release has put its workflow into the task list: 1 task #3, replaced #1, #2. [hydrated release HOME/project]
dir : [10] [3] of a directory The skill dir has put its workflow into the task list: 1 task #10, replaced #3. [hydrated dir HOME/project]
HOME/project/dir : [17] [10] of a directory The skill dir has put its workflow into the task list: 1 task #17, replaced #10. [hydrated dir HOME/project]
dir/../dir : [24] [17] of a directory The skill dir has put its workflow into the task list: 1 task #24, replaced #17. [hydrated dir HOME/project]
empty : [] [24] The workflow of the skill empty has no steps now. Change of the task list: no tasks, removed #24. [hydrated empty HOME/project]
released : [] [] The workflow of released has no steps, so the task list was not changed. [nothing to do released HOME/project]
none : none has no fsm.json; hint: name a skill, or a directory with an fsm.json; refused true []
./none : ./none has no fsm.json; hint: name a skill, or a directory with an fsm.json; refused true []
file : there is no skill with a workflow and no directory called "file"; hint: these skills have one: bad, empty, release, released; refused true [nothing to do file HOME/project]
./file : ./file is not a directory; hint: name a skill, or a directory with an fsm.json; refused true []
./missing : ./missing is not a directory; hint: name a skill, or a directory with an fsm.json; refused true []
missing : there is no skill with a workflow and no directory called "missing"; hint: these skills have one: bad, empty, release, released; refused true [nothing to do missing HOME/project]
releas : there is no skill with a workflow and no directory called "releas"; hint: did you mean release, released?; refused true [nothing to do releas HOME/project]
bad : HOME/.claude/skills/bad/fsm.json is not valid (1 problem); no task was changed. Correct the file, then begin it again:
HOME/.claude/skills/bad/fsm.json:1:2: task 1: missing "subject"; hint: ; refused true [failed bad HOME/project]
plain : there is no skill with a workflow and no directory called "plain"; hint: these skills have one: bad, empty, release, released; refused true [nothing to do plain HOME/project]
. : . has no fsm.json; hint: name a skill, or a directory with an fsm.json; refused true []
.. : .. has no fsm.json; hint: name a skill, or a directory with an fsm.json; refused true []
asked codex: [25] [] one The skill asked has put its workflow into the task list: 1 task #25. [hydrated asked HOME/project]
bare codex: bare has no fsm.json; hint: name a skill, or a directory with an fsm.json; refused true []
askd codex: there is no skill with a workflow and no directory called "askd"; hint: did you mean asked?; refused true []
p:askd codex: there is no skill with a workflow and no directory called "p:askd"; hint: fsmtx locate lists the workflows that are visible from here; refused true []
empty codex: [] [25] The workflow of the skill empty has no steps now. Change of the task list: no tasks, removed #25. [hydrated empty HOME/project]
dir codex: [32] [] of a directory The skill dir has put its workflow into the task list: 1 task #32. [hydrated dir HOME/project]
release : the skill release is switched off in HOME/.claude/settings.json:1: "skillOverrides" for "release" is "off"; hint: remove that entry to use the skill; refused true []`, "\n"+strings.Join(all, "\n"))

	for path, want := range map[string]bool{"a": false, "a/b": true, "a/b:c": false, "a/b:c/d": true, "/a:b": true,
		"../a:b": true, ".": true, "..": true, "...": false, "": false} {
		assert.Equal(t, want, hydrate.IsPath(path), path)
	}
	assert.True(t, hydrate.IsSkill(h.env, "empty", here))
	assert.False(t, hydrate.IsSkill(h.env, "plain", here))
	assert.False(t, hydrate.IsSkill(env(), "empty", here))
}

// TestArgumentsThatNothingUses: a beginning says so, and a call of the skill does not, whose text has
// them too.
func TestArgumentsThatNothingUses(t *testing.T) {
	const unused = "The arguments 1.4 were not used: the workflow of w does not name {args}.\n"
	h := newHome(t)
	for text, want := range map[string]bool{
		`[{"id": 1, "subject": "one"}]`:                                                                  true,
		`[{"id": 1, "subject": "{args}", "check": "echo $FSM_ARGS"}]`:                                    true, // nothing is replaced there
		`{"fsm": 2, "steps": [{"id": 1, "subject": "one"}]}`:                                             true,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "{args}"}]}`:                                          false,
		`{"fsm": 2, "vars": {"version": "{args}"}, "steps": [{"id": 1, "subject": "one"}]}`:              false,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "one", "check": "sh check.sh"}]}`:                     false,
		`{"fsm": 2, "steps": [{"id": 1, "subject": "one", "do": [{"id": 1, "subject": "two {args}"}]}]}`: false,
	} {
		h.write("project/w/fsm.json", text)
		for _, args := range []string{"1.4", ""} {
			got, _, err := hydrate.Begin(t.Context(), hydrate.Beginning{Skill: "./w", Args: args, Here: filepath.Join(h.dir, "project"),
				List: tasklist.Found{Dir: h.list(), Session: "list"}}, h.env, hydrate.Options{})
			require.NoError(t, err)
			assert.Equal(t, want && args != "", strings.HasSuffix(got.Text, "\n"+unused), text+got.Text)
		}
	}
}

// TestTheProjectOfABeginning: that of the client if the list is a session's.
func TestTheProjectOfABeginning(t *testing.T) {
	h := newHome(t)
	h.write("p/.git/HEAD", "")
	h.write("p/sub/w/fsm.json", `[{"id": 1, "subject": "one"}]`)
	for _, c := range []struct{ variable, list, want string }{
		{"/set", "", "/set"}, {"", "", "p"}, {"/set", "p", "p"},
	} {
		e := func(name string) (string, bool) {
			if name == "CLAUDE_PROJECT_DIR" {
				return c.variable, c.variable != ""
			}
			return h.env(name)
		}
		project := ""
		_, _, err := hydrate.Begin(t.Context(), hydrate.Beginning{Skill: "./w", Here: filepath.Join(h.dir, "p/sub"),
			List: tasklist.Found{Dir: h.list(), Session: "list", Project: c.list}}, e,
			hydrate.Options{Log: func(r decisions.Record) { project = r.Project }})
		require.NoError(t, err)
		assert.Equal(t, c.want, strings.TrimPrefix(project, h.dir+"/"), "%+v", c)
	}
}

// TestDecisions: what a preview says of a workflow under a step, and of parts.
func TestDecisions(t *testing.T) {
	h := begun(t)
	h.write(".claude/skills/inner/fsm.json",
		`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "do": [{"id": 1, "subject": "B"}]}, {"id": 2, "subject": "C", "blockedBy": [1]}]}`)
	r := hydrate.Request{Event: client.PostToolUse, Session: "list", Command: "inner"}
	found, _, err := hydrate.Find(r, h.env, hydrate.Options{})
	require.NoError(t, err)
	preview, err := found.Preview(t.Context())
	require.NoError(t, err)
	preview.Torn = []string{"a.json", "b.json"}
	assert.Equal(t, `the largest number in the list is 2 (2.json), its high-water mark is 2: new tasks start at #3
tasks with the tag of a workflow: 2; work on another workflow has begun, so the steps come under #1 "one" of outer; 0 are deleted
not JSON now, and read again under its lock: a.json, b.json
task 1 of the file becomes #3, after #5
task 2 of the file becomes #4, after #3
task 1 of the do of #3 becomes #5`, strings.Join(preview.Decisions(fsmspec.Policy{Scope: fsmspec.ScopeAll}), "\n"))
	preview.Parent, preview.PartOf = nil, nil
	assert.Equal(t, `the largest number in the list is 2 (2.json), its high-water mark is 2: new tasks start at #3
tasks with the tag of a workflow: 2; scope all deletes 0
not JSON now, and read again under its lock: a.json, b.json
task 1 of the file becomes #3, after #5
task 2 of the file becomes #4, after #3
task 1 of the file becomes #5`, strings.Join(preview.Decisions(fsmspec.Policy{Scope: fsmspec.ScopeAll}), "\n"))

	spec, err := fsmspec.Parse([]byte(`[]`))
	require.NoError(t, err)
	for snap, want := range map[*fsmspec.Snapshot]string{
		{}: "0, its high-water mark is 0: new tasks start at #1",
		{MaxID: 7, MaxName: "7.json", HighWater: 9}: "7 (7.json), its high-water mark is 9: new tasks start at #10",
	} {
		plan, err := spec.Plan("s", *snap, fsmspec.Policy{})
		require.NoError(t, err)
		assert.Equal(t, []string{"the largest number in the list is " + want, "tasks with the tag of a workflow: 0; scope all deletes 0"},
			hydrate.Preview{Plan: plan, Snapshot: *snap}.Decisions(fsmspec.Policy{}))
	}
}

// TestWhatElseIsSaid: of an interrupted change and locks.
func TestWhatElseIsSaid(t *testing.T) {
	result := hydrate.Result{List: "/l", Outcome: tasks.Outcome{Duplicate: true, Unreleased: errors.New("busy")}}
	result.Recovered = txn.Report{Outcome: txn.RolledBack, Conflicts: []txn.Conflict{{Name: "1.json", Why: "it was changed"},
		{Name: "2.json", Why: "it was there", MovedTo: "/m"}}}
	assert.Equal(t, `an interrupted change of /l was rolled back first
1.json: it was changed
2.json: it was there; moved to /m
a lock on the task list could not be released: busy; the next call releases it, and others wait ten seconds at most
nothing to do: this call was taken up before`, strings.Join(hydrate.Notes(result), "\n"))
	assert.Equal(t, "s: an interrupted change was rolled back "+
		"first; 1.json: it was changed; 2.json: it was there; moved to /m; a lock on the task list could not be released: busy; "+
		"the next call releases it, and others wait ten seconds at most", hydrate.Notice(request, result))
	assert.Empty(t, hydrate.Notes(hydrate.Result{}))
	message, hint := hydrate.Explain(errors.New("x"), result, env())
	assert.Equal(t, "x; a lock on the task list could not be released: busy; the next call releases it, and others wait ten seconds at most|",
		message+"|"+hint)
	for err, want := range map[error]string{state.ErrOpenAbove: "fsmtx step end N",
		state.ErrCircle: "take do out of one of the two fsm.json files"} {
		message, hint := hydrate.Explain(err, result, env())
		assert.Equal(t, err.Error()+"; no task was changed", message)
		assert.Contains(t, hint, want)
	}
}

// TestTheRequestOfACheck: who called the skill, and with what.
func TestTheRequestOfACheck(t *testing.T) {
	h := newHome(t)
	h.write("elsewhere/far/SKILL.md", "")
	h.write("elsewhere/far/fsm.json", `[{"id": 1, "subject": "a"}]`)
	for text, typed := range map[string]bool{h.called("t1", "far", "elsewhere/far"): false, h.runsFar("far"): true} {
		h.write("transcript.jsonl", said+text)
		e := &client.Event{Name: client.Stop, SessionID: "list", Cwd: h.dir, PromptID: "p1", TranscriptPath: filepath.Join(h.dir,
			"transcript.jsonl"), StopHookActive: true}
		r, found, _, err := hydrate.Check(t.Context(), e, h.env, hydrate.Options{})
		require.NoError(t, err)
		require.NotNil(t, found)
		assert.Equal(t, []any{"far", typed, true, "list"}, []any{r.Command, r.Typed, r.Stopped, r.Session})
		for _, change := range []func(*client.Event){func(e *client.Event) { e.AgentID = "a" }, func(e *client.Event) { e.SessionID = "" }} {
			other := *e
			change(&other)
			_, found, _, err := hydrate.Check(t.Context(), &other, h.env, hydrate.Options{})
			require.NoError(t, err)
			assert.Nil(t, found)
		}
	}
}

// TestIsCheck: before a task tool, and when the agent is about to stop.
func TestIsCheck(t *testing.T) {
	for _, c := range []struct {
		name, tool string
		want       bool
	}{
		{client.Stop, "", true},
		{client.PreToolUse, "TaskUpdate", true},
		{client.PreToolUse, "Task", true},
		{client.PreToolUse, "Bash", false},
		{client.PostToolUse, "TaskUpdate", false},
		{client.UserPromptExpansion, "Task", false},
	} {
		assert.Equal(t, c.want, hydrate.IsCheck(&client.Event{Name: c.name, ToolName: c.tool}), "%+v", c)
	}
}

// TestAFailedCheck does not stop what the agent is about to do, and tells it once.
func TestAFailedCheck(t *testing.T) {
	for name, r := range map[string]hydrate.Request{
		"tool": {Event: client.PreToolUse, Command: "s"}, "stop": {Event: client.Stop, Command: "s"},
		"stopped": {Event: client.Stop, Command: "s", Stopped: true}, "stopped before": {Event: client.PreToolUse, Command: "s", Stopped: true},
	} {
		a := hydrate.Failed(r, hydrate.Result{Spec: "/fsm.json"}, "m", "h")
		assert.Equal(t, client.ExitOK, a.Exit, name)
		assert.Equal(t, "fsmtx: m\n", a.ErrorText, name)
		assert.Equal(t, name != "stopped", strings.Contains(a.Output, "could not correct the tasks of the skill s: m"), "%s: %s", name, a.Output)
		assert.Contains(t, a.Output, "fsmtx: m", name)
	}
}
