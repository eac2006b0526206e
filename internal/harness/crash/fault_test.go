//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/tasklist"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

var faults = []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES, syscall.EROFS, syscall.EXDEV, syscall.EEXIST, syscall.EINTR,
	syscall.EMFILE}

// TestEveryFaultIsRolledBack makes every call fail once with every error. The hydration
// either succeeds anyway, or reports the error and leaves the list unchanged.
func TestEveryFaultIsRolledBack(t *testing.T) {
	for _, d := range []scenario{scenarios[1], scenarios[3], scenarios[4]} {
		for _, fault := range faults {
			t.Run(strings.ReplaceAll(d.name, " ", "-")+"/"+fault.Error(), func(t *testing.T) {
				t.Parallel()
				created := d.creations(t)
				for n := 0; d.failOnce(t, n, fault, created); n++ {
				}
			})
		}
	}
}

// failOnce makes the nth step fail and checks the result. It returns false if the
// hydration has fewer steps.
func (d scenario) failOnce(t *testing.T, n int, fault error, created map[string]string) bool {
	var failed *faultfs.Step
	files := faultfs.Fail(vfs.OS{}, n, fault, func(s faultfs.Step) { failed = &s })
	d.hydrated(t, files, func(w *world, before map[string]worlds.File, err error) {
		if failed == nil {
			require.NoError(t, err)
			return
		}
		require.Empty(t, w.contradicts(t, err, before, created), "%v at step %d, %s: %v", fault, n, failed, err)
		if err != nil && (failed.Op != "mkdir" || fault != syscall.EEXIST) { // EEXIST of mkdir is not a fault
			message, _ := hydrate.Explain(err, hydrate.Result{List: w.List(), Spec: "fsm.json"}, w.Env)
			require.Contains(t, message, fault.Error(), "at step %d, %s", n, failed)
		}
		w.requireUsable(t)
	})
	return failed != nil
}

// contradicts returns how the list differs from what a hydration reported.
func (w *world) contradicts(t *testing.T, err error, before map[string]worlds.File, created map[string]string) (problem string) {
	got := w.Tasks(t)
	switch {
	case err == nil, errors.Is(err, txn.ErrUnknown): // then nothing is undone; recovery decides
		return afterProblem(before, got, created)
	case errors.Is(err, txn.ErrRecoveryRequired):
		return "one fault is enough for recovery to be required"
	case !maps.Equal(before, got):
		return fmt.Sprintf("it failed, and the list is not as it was: there are %v", got)
	}
	return ""
}

// requireUsable fails unless the list can be recovered and the next hydration works.
func (w *world) requireUsable(t *testing.T) {
	t.Helper()
	r := tasklist.Recover(context.Background(), w.List(), 5*time.Second, tasklist.RecoverOptions{})
	require.NotEqual(t, tasklist.Refused, r.State, "%s", r)
	_, err := w.hydrate("second", nil)
	require.NoError(t, err)
}

// TestPersistentFaultsRequireRecovery makes every call fail from a step on, so that the
// rollback fails as well. Then the error says that recovery is required, and recovery
// succeeds once the calls work again.
func TestPersistentFaultsRequireRecovery(t *testing.T) {
	required := 0
	for _, d := range []scenario{scenarios[1], scenarios[3], scenarios[4]} {
		created := d.creations(t)
		for n := range d.steps(t) {
			d.hydrated(t, faultfs.Freeze(vfs.OS{}, n, nil), func(w *world, before map[string]worlds.File, err error) {
				if got := w.Tasks(t); err != nil && !errors.Is(err, txn.ErrUnknown) && !maps.Equal(before, got) {
					require.ErrorIs(t, err, txn.ErrRecoveryRequired, "step %d", n)
					message, hint := hydrate.Explain(err, hydrate.Result{List: w.List(), Spec: "fsm.json"}, w.Env)
					require.Contains(t, message, "recovery required")
					require.Contains(t, hint, "fsmtx recover")
					required++
				}
				r := tasklist.Recover(context.Background(), w.List(), 5*time.Second, tasklist.RecoverOptions{})
				require.NotEqual(t, tasklist.Refused, r.State, "%s", r)
				require.Empty(t, recoveredProblem(before, w.Tasks(t), created), "frozen at step %d: %v; recovery: %s", n, err, r)
				w.requireUsable(t)
			})
		}
	}
	require.NotZero(t, required, "no rollback ever failed: the test tests nothing")
}
