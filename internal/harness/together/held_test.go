package together_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// holding is a lock that somebody has and does not let go.
type holding struct {
	name string
	take func(t *testing.T, w *world) (says []string) // what a hook must say of it
}

var holdings = []holding{
	{"another hook", func(t *testing.T, w *world) []string {
		h := w.prepare(t, call{skill: "one", told: &turn{Hold: "mkdir S/txn"}})
		h.begin()
		h.awaitHold(t)
		t.Cleanup(func() { _ = h.cmd.Process.Kill(); _ = h.cmd.Wait() })
		return []string{fmt.Sprintf("process %d", h.cmd.Process.Pid), w.sibling(), "since 20"}
	}},
	{"the list's lock", func(t *testing.T, w *world) []string { return w.takeLock(t, ".lock.lock") }},
	{"a task's lock", func(t *testing.T, w *world) []string { return w.takeLock(t, "3.json.lock") }},
}

// takeLock takes a lock as a client does that is at work.
func (w *world) takeLock(t *testing.T, name string) []string {
	require.NoError(t, os.Mkdir(w.at(name), 0o755))
	info, err := os.Stat(w.at(name))
	require.NoError(t, err)
	return []string{w.at(name), "since " + info.ModTime().UTC().Format(time.RFC3339)}
}

// toReplace is a list with a task of the user and three of a skill.
func toReplace(t *testing.T) *world {
	w := newWorld(t)
	w.manual(t, 1)
	require.Len(t, w.run(t, call{skill: "three"}).created, 3)
	return w
}

// TestHeldLock waits for a held lock as long as it may, says whose it is and since
// when, and leaves the list as it is.
func TestHeldLock(t *testing.T) {
	for _, held := range holdings {
		t.Run(held.name, func(t *testing.T) {
			w := toReplace(t)
			says := held.take(t, w)
			before, locks := w.files(t), w.locks(t)
			start := time.Now()
			got := w.run(t, call{skill: "five", timeout: soon})
			assert.GreaterOrEqual(t, time.Since(start), soon, "it did not wait")
			assert.Equal(t, 2, got.code)
			assert.Empty(t, got.stdout)
			for _, words := range append(says, "gave up waiting after "+soon.String()) {
				assert.Contains(t, got.stderr, words)
			}
			assert.Equal(t, before, w.files(t))
			assert.Equal(t, locks, w.locks(t), "the lock is still the other's, and no other one is left")
		})
	}
}

// TestHeldLockIsWaitedFor hydrates once the lock is free.
func TestHeldLockIsWaitedFor(t *testing.T) {
	for _, name := range []string{".lock.lock", "3.json.lock"} {
		t.Run(name, func(t *testing.T) {
			w := toReplace(t)
			w.takeLock(t, name)
			h := w.prepare(t, call{skill: "five"})
			h.begin()
			h.awaitTry(t)
			require.NoError(t, os.Remove(w.at(name)))
			got := h.end(t)
			assert.Zero(t, got.code, "%s", got)
			assert.Len(t, w.files(t), 1+5)
			assert.Empty(t, w.locks(t))
		})
	}
}

// awaitTry waits until the hook has made ready to take a client's lock.
func (h *hook) awaitTry(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := os.ReadDir(h.world.sibling() + "/locks")
		return err == nil && len(found) > 0
	}, patient, time.Millisecond)
}

// TestHeldLockIsNotSeen shows that a hook which sees no locks would pass for one
// that was let through: it hydrates, so that the tests above can fail.
func TestHeldLockIsNotSeen(t *testing.T) {
	for _, held := range holdings {
		t.Run(held.name, func(t *testing.T) {
			w := toReplace(t)
			held.take(t, w)
			before := w.files(t)
			got := w.run(t, call{skill: "five", told: &turn{Blind: true}})
			assert.Zero(t, got.code, "%s", got)
			assert.NotEqual(t, before, w.files(t))
		})
	}
}

// forever is a lock timeout that the test program does not live to see.
const forever = 24 * time.Hour

// TestSignalWhileWaiting ends a hook that waits for a lock.
func TestSignalWhileWaiting(t *testing.T) {
	for _, held := range holdings {
		for _, signal := range endings {
			t.Run(held.name+"/"+signal.String(), func(t *testing.T) {
				w := toReplace(t)
				held.take(t, w)
				before, locks := w.files(t), w.locks(t)
				h := w.waiting(t, held.name == "another hook")
				require.NoError(t, h.cmd.Process.Signal(signal))
				got := h.end(t)
				assert.Equal(t, 2, got.code, "%s", got)
				assert.Contains(t, got.stderr, signal.String()+" signal received", "why it gave up")
				assert.Equal(t, before, w.files(t))
				assert.Equal(t, locks, w.locks(t))
			})
		}
	}
}

// waiting starts a hook that waits for a lock, or is about to. That it waits for a
// client's lock shows on the disk; that it waits for another hook's does not, and
// so it says when it begins.
func (w *world) waiting(t *testing.T, hooks bool) *hook {
	c := call{skill: "five", timeout: forever}
	if hooks {
		c.told = &turn{Hold: "mkdir S"}
	}
	h := w.prepare(t, c)
	h.begin()
	if !hooks {
		h.awaitTry(t)
		return h
	}
	h.awaitHold(t)
	require.NoError(t, h.resume.Close())
	return h
}
