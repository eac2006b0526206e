package together_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// heldLock is a lock that another process holds and does not release.
type heldLock struct {
	name string
	take func(t *testing.T, w *world) (message []string) // what a waiting hook must report
}

var heldLocks = []heldLock{
	{"another hook", func(t *testing.T, w *world) []string {
		h := w.start(t, call{skill: "one", script: &script{Hold: "mkdir S/txn"}})
		h.send()
		h.awaitHold(t)
		t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
		return []string{fmt.Sprintf("process %d", h.cmd.Process.Pid), w.StateDir(), "since 20"}
	}},
	{"the list's lock", func(t *testing.T, w *world) []string { return w.takeLock(t, ".lock.lock") }},
	{"a task's lock", func(t *testing.T, w *world) []string { return w.takeLock(t, "3.json.lock") }},
}

// takeLock takes a lock as a client does.
func (w *world) takeLock(t *testing.T, name string) []string {
	require.NoError(t, os.Mkdir(w.InList(name), 0o755))
	info, err := os.Stat(w.InList(name))
	require.NoError(t, err)
	return []string{w.InList(name), "since " + info.ModTime().UTC().Format(time.RFC3339)}
}

// TestHeldLockIsReported: a hook waits for its timeout, reports who holds the lock
// since when, and changes nothing.
func TestHeldLockIsReported(t *testing.T) {
	for _, lock := range heldLocks {
		t.Run(lock.name, func(t *testing.T) {
			w := worldWithWorkflow(t)
			message := lock.take(t, w)
			before, locks := w.Tasks(t), w.locks(t)
			start := time.Now()
			got := w.run(t, call{skill: "five", timeout: shortTimeout})
			assert.GreaterOrEqual(t, time.Since(start), shortTimeout, "it did not wait")
			assert.Equal(t, 2, got.code)
			assert.Empty(t, got.stdout)
			for _, part := range append(message, "gave up waiting after "+shortTimeout.String()) {
				assert.Contains(t, got.stderr, part)
			}
			assert.Equal(t, before, w.Tasks(t))
			assert.Equal(t, locks, w.locks(t), "the lock is still the other's, and no other one is left")
		})
	}
}

func TestHookContinuesWhenTheLockIsReleased(t *testing.T) {
	for _, name := range []string{".lock.lock", "3.json.lock"} {
		t.Run(name, func(t *testing.T) {
			w := worldWithWorkflow(t)
			w.takeLock(t, name)
			h := w.start(t, call{skill: "five"})
			h.send()
			h.awaitLockAttempt(t)
			require.NoError(t, os.Remove(w.InList(name)))
			got := h.wait(t)
			assert.Zero(t, got.code, "%s", got)
			assert.Len(t, w.Tasks(t), 1+5)
			assert.Empty(t, w.locks(t))
		})
	}
}

// TestHookWithoutLocksIgnoresHeldLocks shows that the tests above can fail: a hook
// that ignores locks hydrates.
func TestHookWithoutLocksIgnoresHeldLocks(t *testing.T) {
	for _, lock := range heldLocks {
		t.Run(lock.name, func(t *testing.T) {
			w := worldWithWorkflow(t)
			lock.take(t, w)
			before := w.Tasks(t)
			got := w.run(t, call{skill: "five", script: &script{IgnoreLocks: true}})
			assert.Zero(t, got.code, "%s", got)
			assert.NotEqual(t, before, w.Tasks(t))
		})
	}
}

// noTimeout is a lock timeout that no test reaches.
const noTimeout = 24 * time.Hour

func TestSignalEndsTheWaitForALock(t *testing.T) {
	for _, lock := range heldLocks {
		for _, signal := range endSignals {
			t.Run(lock.name+"/"+signal.String(), func(t *testing.T) {
				w := worldWithWorkflow(t)
				lock.take(t, w)
				before, locks := w.Tasks(t), w.locks(t)
				h := w.startWaiting(t, lock.name == "another hook")
				require.NoError(t, h.cmd.Process.Signal(signal))
				got := h.wait(t)
				assert.Equal(t, 2, got.code, "%s", got)
				assert.Contains(t, got.stderr, signal.String()+" signal received")
				assert.Equal(t, before, w.Tasks(t))
				assert.Equal(t, locks, w.locks(t))
			})
		}
	}
}

// startWaiting starts a hook that waits for a lock. The wait for a client's lock shows
// on the disk. The wait for another hook's lock does not, so that hook holds just
// before it.
func (w *world) startWaiting(t *testing.T, forHook bool) *hook {
	c := call{skill: "five", timeout: noTimeout}
	if forHook {
		c.script = &script{Hold: "mkdir S"}
	}
	h := w.start(t, c)
	h.send()
	if !forHook {
		h.awaitLockAttempt(t)
		return h
	}
	h.awaitHold(t)
	require.NoError(t, h.resume.Close())
	return h
}
