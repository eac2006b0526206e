package show_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/show"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

type list struct {
	tasks.List
	t     *testing.T
	calls int
}

func (l *list) hydrate(text string) {
	l.t.Helper()
	spec, err := fsmspec.Parse([]byte(text))
	require.NoError(l.t, err)
	l.calls++
	label := tasks.Label{Invocation: strconv.Itoa(l.calls), Command: "ship", Spec: "/s/fsm.json", Session: "s"}
	_, err = l.Replace(l.t.Context(), label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		return spec.Plan("ship", snap, fsmspec.Policy{})
	})
	require.NoError(l.t, err)
}

func (l *list) read() []show.Hydration {
	all, err := show.ReadHistory(l.Dir)
	require.NoError(l.t, err)
	return all
}

// states returns the state of each hydration with By or Undoes.
func (l *list) states() (states []string) {
	for _, h := range l.read() {
		states = append(states, string(h.State)+" "+strconv.FormatInt(cmp.Or(h.By, h.Undoes), 10))
	}
	return states
}

func TestStates(t *testing.T) {
	l := &list{List: tasks.List{Dir: filepath.Join(t.TempDir(), "list")}, t: t}
	assert.Empty(t, l.read())
	l.hydrate(`[{"id": 1, "subject": "a", "status": "in_progress"}, {"id": 2, "subject": "b", "status": "completed"}]`)
	assert.Equal(t, []string{"in the list 0"}, l.states())
	h := l.read()[0]
	assert.Equal(t, []show.ChangedTask{{ID: "1", Subject: "a", Status: "in_progress"},
		{ID: "2", Subject: "b", Status: "completed"}}, h.Created)
	assert.Empty(t, h.Deleted)
	assert.Equal(t, 1, h.Done())
	assert.Equal(t, []string{"ship", "/s/fsm.json", "s"}, []string{h.Skill, h.Spec, h.Session})

	l.hydrate(`[{"id": 1, "subject": "c"}]`)
	assert.Equal(t, []string{"replaced 2", "in the list 0"}, l.states())
	h = l.read()[0]
	assert.Equal(t, []show.ChangedTask{{ID: "1", Subject: "a", Status: "in_progress", Gone: true},
		{ID: "2", Subject: "b", Status: "completed", Gone: true}},
		h.Created, "as they were when they were deleted")
	assert.Equal(t, h.Created, l.read()[1].Deleted)

	_, err := l.Undo(t.Context(), l.read()[1].ID, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"in the list 0", "undone 3", "undoing 2"}, l.states())
	_, err = l.Undo(t.Context(), l.read()[2].ID, false)
	require.NoError(t, err)
	assert.Equal(t, []string{"replaced 2", "in the list 0", "undone 4", "undoing 3"}, l.states())

	require.NoError(t, os.Remove(filepath.Join(l.Dir, "3.json")))
	assert.Equal(t, "gone 0", l.states()[1])
	l.hydrate(`[{"id": 1, "subject": "d"}]`)
	l.hydrate(`[]`)
	assert.Equal(t, []string{"replaced 6", "empty 0"}, l.states()[4:])
}

// TestTaskThatCannotBeReadIsInTheList: the client does not write task files atomically
// (fact 16), so a task may be torn at the moment.
func TestTaskThatCannotBeReadIsInTheList(t *testing.T) {
	l := &list{List: tasks.List{Dir: filepath.Join(t.TempDir(), "list")}, t: t}
	l.hydrate(`[{"id": 1, "subject": "a"}]`)
	require.NoError(t, os.WriteFile(filepath.Join(l.Dir, "1.json"), []byte(`{"id": "1", "subj`), 0o644))
	assert.Equal(t, []string{"in the list 0"}, l.states())
	assert.Equal(t, []show.ChangedTask{{ID: "1"}}, l.read()[0].Created)
}

// TestATrialOfAnUndoIsNotLogged: --dry-run decides nothing.
func TestATrialOfAnUndoIsNotLogged(t *testing.T) {
	home := t.TempDir()
	log := filepath.Join(home, "log")
	l := &list{List: tasks.List{Dir: filepath.Join(home, ".claude/tasks/s")}, t: t}
	l.hydrate(`[{"id": 1, "subject": "a"}]`)
	env := map[string]string{"HOME": home, "FSMTX_LOG": log}
	s := terminal.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Caller: callers.Script,
		Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
	for _, trial := range []bool{true, false} {
		c := show.NewUndo(s)
		c.SetArgs([]string{"s", fmt.Sprintf("--dry-run=%v", trial)})
		require.NoError(t, c.ExecuteContext(t.Context()))
		_, err := os.Stat(log)
		assert.Equal(t, trial, errors.Is(err, fs.ErrNotExist), "%v", err)
	}
}
