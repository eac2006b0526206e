package hydrate_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// hydrateSkill invokes the skill with scope "skill".
func (h *home) hydrateSkill(command string) (hydrate.Result, error) {
	return h.calls(hydrate.Request{Command: command}, hydrate.Options{Policy: fsmspec.Policy{Scope: fsmspec.ScopeSkill}, Flat: true})
}

// calls hydrates a skill that the agent called in a directory of the project.
func (h *home) calls(r hydrate.Request, o hydrate.Options) (hydrate.Result, error) {
	r.Event, r.Session, r.Cwd = "PostToolUse", "list", filepath.Join(h.dir, "project/sub")
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"HOME": h.dir, "CLAUDE_PROJECT_DIR": filepath.Join(h.dir, "project")}[name]
		return v, ok
	}
	o.LockTimeout = 5 * time.Second
	return hydrate.Run(context.Background(), r, env, o)
}

// records returns the workflows in the list's history whose tasks are in the list.
func (h *home) records() []workflow.Workflow {
	history, err := txn.ReadHistory(h.list())
	require.NoError(h.t, err)
	present := h.tasks()
	var found []workflow.Workflow
	for _, e := range history {
		live := false
		for _, f := range e.Created {
			_, there := present[f.Name]
			live = live || there
		}
		if !live {
			continue
		}
		w, err := workflow.ParseWorkflow(e.Record)
		require.NoError(h.t, err)
		found = append(found, w)
	}
	return found
}

// TestARecord has what the gates need of the file, of which the tasks have nothing.
func TestARecord(t *testing.T) {
	const file = `[{"id": 3, "subject": "A", "produces": ["dist/*.tar.gz", "./a"], "ready": ["spec.md"], "approval": "Well?",
  "check": {"run": "true\n\u2028", "timeout": 0.25, "dir": "app"}},
 {"id": 4, "subject": "B", "status": "completed", "check": "make test"}, {"id": 7, "subject": "C", "blockedBy": [4, 3], "approval": true}]`
	h := newHome(t)
	h.write("project/sub/file", "")
	h.write(".claude/tasks/list/3.json", `{"id": "3", "subject": "mine"}`)
	h.write(".claude/skills/one/fsm.json", file)
	_, err := h.hydrateSkill("one")
	require.NoError(t, err)
	project := filepath.Join(h.dir, "project")
	got := h.records()
	require.Len(t, got, 1)
	want := workflow.Workflow{Version: workflow.Version, Command: "one", Spec: filepath.Join(h.dir, ".claude/skills/one/fsm.json"),
		SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(file))), Session: "list", Dir: project, Inode: state.Inode(project),
		BegunBy: "agent skill", Definition: state.Definition([]byte(file), false), FSM: file, Base: 3}
	steps := got[0].Steps
	got[0].Machine, got[0].Steps = nil, nil
	require.Equal(t, want, got[0])
	require.Equal(t, []workflow.Step{
		{ID: 6, Local: 3, Subject: "A", Produces: []string{"dist/*.tar.gz", "a"}, Ready: []string{"spec.md"},
			Approval: "Well?", Check: &fsmspec.Check{Run: "true\n\u2028", Timeout: 250 * time.Millisecond, Dir: "app"}},
		{ID: 7, Local: 4, Subject: "B", Status: fsmspec.Completed, Check: &fsmspec.Check{Run: "make test", Timeout: 5 * time.Minute}},
		{ID: 10, Local: 7, Subject: "C", BlockedBy: []int64{7, 6}, Approval: `May "C" be completed?`},
	}, steps)
	require.NotContains(t, h.tasks()["6.json"], "produces")
}

// TestARecordHasTheValuesFromTheBeginning: a later edit of fsm.json does not change them.
func TestARecordHasTheValuesFromTheBeginning(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/skill/fsm.json", `{"fsm": 2, "vars": {"goal": "release {args}"}, "steps": [{"id": 1, "subject": "For {goal}"}]}`)
	r := call
	r.Args = "1.4"
	_, err := hydrate.Run(t.Context(), r, h.env, hydrate.Options{LockTimeout: 5 * time.Second})
	require.NoError(t, err)
	records := h.records()
	require.Len(t, records, 1)
	require.Equal(t, "1.4", records[0].Args)
	require.Equal(t, map[string]string{"goal": "release 1.4"}, records[0].Vars)
}

// TestACallThatCannotBeRecorded: both errors are told.
func TestACallThatCannotBeRecorded(t *testing.T) {
	h := newHome(t)
	h.write(".claude/skills/skill/SKILL.md", "")
	h.write(".claude/skills/skill/fsm.json", `{"fsm": 2, "steps": [{"id": 1, "subject": "Call it", "do": "other"}]}`)
	_, err := h.hydrate()
	require.NoError(t, err)
	task := filepath.Join(h.list(), "1.json")
	text, err := os.ReadFile(task)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(task, []byte(strings.Replace(string(text), `"pending"`, `"in_progress"`, 1)), 0o644))
	note := func(found error, o hydrate.Options) error {
		return hydrate.NoteCall(t.Context(), hydrate.Request{Session: "list", Command: "other"}, h.env, o, found)
	}
	broken := hydrate.Options{LockTimeout: time.Millisecond,
		FS: &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error { return syscall.EIO }}}
	err = note(hydrate.ErrLookup, broken)
	require.ErrorIs(t, err, hydrate.ErrLookup)
	require.ErrorContains(t, err, "the call could not be recorded, so call it again")
	require.ErrorIs(t, note(hydrate.ErrLookup, hydrate.Options{LockTimeout: 5 * time.Second}), hydrate.ErrLookup)
	evidence, err := os.ReadFile(filepath.Join(filepath.Dir(h.list()), ".list.fsmtx/steps.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(evidence), `"verdict":"called"`)
}
