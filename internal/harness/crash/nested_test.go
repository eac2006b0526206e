package crash

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// notes is a workflow that comes under a step of another one.
const notes = `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Collect", "do": [{"id": 1, "subject": "Read"}]},
 {"id": 2, "subject": "Draft", "blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}]}`

// calls is the hook of a call of a skill.
func (w *flow) calls(skill string) error {
	env := func(name string) (string, bool) {
		value, ok := map[string]string{"HOME": w.home, "CLAUDE_CONFIG_DIR": w.home}[name]
		return value, ok
	}
	_, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: filepath.Base(w.dir()), Command: skill,
		Cwd: filepath.Join(w.home, "project")}, env, hydrate.Options{LockTimeout: 5 * time.Second, FS: w.files})
	return err
}

// undo takes the last change of the list back.
func (w *flow) undo() error {
	history, err := txn.ReadHistory(w.dir())
	if err != nil {
		return err
	}
	_, err = w.frame().List.Undo(context.Background(), history[len(history)-1].ID, false)
	return err
}

// atReview works up to the review. The skill is there, too.
func (w *flow) atReview(t require.TestingT) {
	skill := filepath.Join(w.home, "skills/notes")
	require.NoError(t, os.MkdirAll(skill, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: notes\n---\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(skill, "fsm.json"), []byte(notes), 0o644))
	w.reviewed(t, 1)
}

// nestings are the transitions of a workflow under a step of another one.
var nestings = []transition{
	{name: "a skill within a step", atOnce: true, isList: true,
		before: func(t require.TestingT, w *flow) { w.atReview(t) },
		act:    func(w *flow) { _ = w.calls("notes") }},
	{name: "undo of a skill within a step", atOnce: true, isList: true,
		before: func(t require.TestingT, w *flow) { w.atReview(t); require.NoError(t, w.calls("notes")) },
		act:    func(w *flow) { _ = w.undo() }},
	{name: "a loop around a skill within a step", atOnce: true,
		before: func(t require.TestingT, w *flow) {
			w.atReview(t)
			require.NoError(t, w.calls("notes"))
			w.parts(t, 3)
		},
		act: func(w *flow) { w.update(3, completed, "changes") }},
}

// TestASkillReplacesNothingThatCannotBeRead: work on the workflow in the list has begun, and a skill
// that is called meanwhile comes under it or fails. It never takes its place, whichever read fails.
func TestASkillReplacesNothingThatCannotBeRead(t *testing.T) {
	x := nestings[0].prepare(t)
	tried := 0
	for n := 0; ; n++ {
		w, left := x.before.copy(t), n
		var failed *faultfs.Step
		w.files = &faultfs.Steps{FS: vfs.OS{}, Reads: true, Before: func(s faultfs.Step) error {
			if slices.Contains([]string{"lstat", "read", "readdir"}, s.Op) {
				left--
			}
			if left != -1 || failed != nil {
				return nil
			}
			failed = &s
			return &fs.PathError{Op: s.Op, Path: s.Path, Err: syscall.EIO}
		}}
		_ = w.calls("notes")
		if failed == nil {
			break
		}
		tried++
		state, _, err := w.stateOf()
		require.NoError(t, err)
		require.Contains(t, x.want, state, "read %d, %s", n, failed)
		w.remove(t)
	}
	t.Logf("%d faults", tried)
	require.NotZero(t, tried)
}
