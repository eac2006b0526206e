package show_test

import (
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

// TestTaskThatCannotBeReadIsInTheList: the client does not write task files atomically
// (fact 16), so a task may be torn at the moment.
func TestTaskThatCannotBeReadIsInTheList(t *testing.T) {
	l := &list{List: tasks.List{Dir: filepath.Join(t.TempDir(), "list")}, t: t}
	l.hydrate(`[{"id": 1, "subject": "a"}]`)
	require.NoError(t, os.WriteFile(filepath.Join(l.Dir, "1.json"), []byte(`{"id": "1", "subj`), 0o644))
	all, err := show.ReadHistory(l.Dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.EqualValues(t, "in the list", all[0].State)
	assert.Equal(t, []show.ChangedTask{{ID: "1"}}, all[0].Created)
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
		c.SetArgs([]string{"--list", "s", fmt.Sprintf("--dry-run=%v", trial)})
		require.NoError(t, c.ExecuteContext(t.Context()))
		_, err := os.Stat(log)
		assert.Equal(t, trial, errors.Is(err, fs.ErrNotExist), "%v", err)
	}
}
