package crash_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/crash"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/recovery"
	"github.com/fsmtx/fsmtx/txn"
)

var faults = []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES, syscall.EROFS, syscall.EXDEV, syscall.EEXIST, syscall.EINTR, syscall.EMFILE}

// TestFaultOnce makes every call fail once with every error. The hydration either
// succeeds all the same, or says why not and leaves the list as it was.
func TestFaultOnce(t *testing.T) {
	for _, d := range []death{deaths[1], deaths[3], deaths[4]} {
		for _, fault := range faults {
			t.Run(strings.ReplaceAll(d.name, " ", "-")+"/"+fault.Error(), func(t *testing.T) {
				t.Parallel()
				for n := 0; d.failOnce(t, n, fault); n++ {
				}
			})
		}
	}
}

// failOnce reports whether there was an nth step to fail.
func (d death) failOnce(t *testing.T, n int, fault error) bool {
	w := d.world(t)
	defer os.RemoveAll(w.home)
	before := w.tasks(t)
	var failed *crash.Step
	_, err := w.hydrate("first", crash.Fail(txn.OS{}, n, fault, func(s crash.Step) { failed = &s }))
	if failed == nil {
		require.NoError(t, err)
		return false
	}
	got := w.tasks(t)
	after := names(before)
	if err == nil || errors.Is(err, txn.ErrUnknown) {
		after = append(slices.DeleteFunc(after, func(n string) bool { return strings.Contains(before[n].text, `"fsm"`) }), d.created(before)...)
		slices.Sort(after)
		require.Equal(t, after, names(got), "%v at step %d, %s: %v", fault, n, failed, err)
	} else {
		require.Equal(t, before, got, "%v at step %d, %s: %v", fault, n, failed, err)
		require.NotErrorIs(t, err, txn.ErrRecoveryRequired, "%v at step %d, %s", fault, n, failed)
		message, _ := hydrate.Explain(err, hydrate.Result{List: w.list(), Spec: "fsm.json"}, w.env)
		require.NotEmpty(t, message)
	}
	w.usable(t)
	return true
}

// usable holds that a list is left with nothing to recover that recovery cannot
// do, and that the next hydration works.
func (w *world) usable(t *testing.T) {
	t.Helper()
	r := recovery.List(context.Background(), w.list(), 5*time.Second, recovery.Options{})
	require.NotEqual(t, recovery.Refused, r.State, "%s", r)
	_, err := w.hydrate("second", nil)
	require.NoError(t, err)
}

// TestFaultPersists lets every call fail from a step on, as on a disk that has
// gone: the rollback fails as well. Then the error says that recovery is
// required, and recovery on a disk that is back does it.
func TestFaultPersists(t *testing.T) {
	required := 0
	for _, d := range []death{deaths[1], deaths[3], deaths[4]} {
		for n := range d.steps(t) {
			w := d.world(t)
			before := w.tasks(t)
			_, err := w.hydrate("first", crash.Freeze(txn.OS{}, n, nil))
			if got := w.tasks(t); err != nil && !errors.Is(err, txn.ErrUnknown) && !sameTasks(before, got) {
				require.ErrorIs(t, err, txn.ErrRecoveryRequired, "step %d", n)
				message, hint := hydrate.Explain(err, hydrate.Result{List: w.list(), Spec: "fsm.json"}, w.env)
				require.Contains(t, message, "recovery required")
				require.Contains(t, hint, "fsmtx recover")
				required++
			}
			r := recovery.List(context.Background(), w.list(), 5*time.Second, recovery.Options{})
			require.NotEqual(t, recovery.Refused, r.State, "%s", r)
			settled(t, before, w.tasks(t), d.created(before))
			require.False(t, t.Failed(), "frozen at step %d: %v; recovery: %s", n, err, r)
			w.usable(t)
			require.NoError(t, os.RemoveAll(w.home))
		}
	}
	require.NotZero(t, required, "no rollback ever failed: the test tests nothing")
}

func sameTasks(a, b map[string]file) bool {
	return slices.Equal(names(a), names(b))
}
