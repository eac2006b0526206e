package crash

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/txn"
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
	_, err := hydrate.Run(context.Background(), hydrate.Request{Event: "PostToolUse", Session: "list", Command: skill,
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
