//go:build unix

package together_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// shortTimeout is the lock timeout of a hook that is expected to give up.
const shortTimeout = 500 * time.Millisecond

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

// TestHookGivesUpWaitingForALock, after its timeout, when it reports who holds the lock since when, or at a signal, and changes nothing.
func TestHookGivesUpWaitingForALock(t *testing.T) {
	for _, lock := range heldLocks {
		for _, signal := range append(endSignals, 0) {
			t.Run(lock.name+"/"+signal.String(), func(t *testing.T) {
				w := worldWithWorkflow(t)
				message := append(lock.take(t, w), "gave up waiting after "+shortTimeout.String())
				before, locks := w.Tasks(t), w.locks(t)
				var got outcome
				if signal == 0 {
					got = w.run(t, call{skill: "five", timeout: shortTimeout})
				} else {
					h := w.startWaiting(t, lock.name == "another hook")
					require.NoError(t, h.cmd.Process.Signal(signal))
					got, message = h.wait(t), []string{signal.String() + " signal received"}
				}
				assert.Equal(t, 2, got.code, "%s", got)
				assert.NotContains(t, got.stdout, "continue")
				for _, part := range message {
					assert.Contains(t, got.stderr, part)
				}
				assert.Equal(t, before, w.Tasks(t))
				assert.Equal(t, locks, w.locks(t), "the lock is still the other's, and no other one is left")
			})
		}
	}
}

// noTimeout is a lock timeout that no test reaches.
const noTimeout = 24 * time.Hour

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

var endSignals = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}

// problemsAfter checks the result of a hook that got a signal while it hydrated the skill
// five in worldWithWorkflow: the list is the one before or the one after, the exit code
// says which, and the next hook can start.
func (w *world) problemsAfter(t *testing.T, before map[string]worlds.File, got outcome) (problems []string) {
	after := w.Tasks(t)
	hydrated := &history{before: before, after: after, outcomes: []outcome{{
		call: got.call, stdout: got.stdout, committed: true, names: worlds.Names(after),
		created: []string{"5.json", "6.json", "7.json", "8.json", "9.json"}, deleted: []string{"2.json", "3.json", "4.json"},
	}}}
	isBefore := maps.Equal(before, after)
	isAfter := len(hydrated.orderViolations())+len(hydrated.changedManualTasks()) == 0
	switch {
	case got.code == 0 && !isAfter:
		problems = append(problems, fmt.Sprintf("%s, but the list is not the one after: %v", got, worlds.Names(after)))
	case got.code == 2 && !isBefore:
		problems = append(problems, fmt.Sprintf("%s, but the list is not the one before: %v", got, worlds.Names(after)))
	case !isAfter && !isBefore:
		problems = append(problems, fmt.Sprintf("%s, and the list is neither the one before nor after: %v", got, worlds.Names(after)))
	case got.signal != 0 && isAfter:
		problems = append(problems, fmt.Sprintf("%s: the tasks exist, but there is no reply", got))
	case got.code != 0 && strings.Contains(got.stdout, "continue"):
		problems = append(problems, fmt.Sprintf("%s, and a reply to continue", got))
	}
	if locks := w.locks(t); len(locks) > 0 && got.signal == 0 {
		problems = append(problems, fmt.Sprintf("left locked: %v", locks))
	}
	problems = append(problems, w.leftovers(t)...)
	// Long enough for a busy machine, and too short to take over a lock that was left.
	if next := w.run(t, call{skill: "one", timeout: stale / 2}); next.code != 0 {
		problems = append(problems, fmt.Sprintf("the next hook fails: %s", next))
	}
	return problems
}

// TestSignalAtEveryStep sends the signal just before each step in turn.
func TestSignalAtEveryStep(t *testing.T) {
	all := worldWithWorkflow(t).run(t, call{skill: "five", script: &script{}})
	require.NotZero(t, all.steps)
	stopped, finished := 0, 0
	for n := 1; n <= all.steps; n++ {
		w := worldWithWorkflow(t)
		before := w.Tasks(t)
		got := w.run(t, call{skill: "five", script: &script{Signal: endSignals[n%2], At: n}})
		require.Empty(t, w.problemsAfter(t, before, got), "%v at step %d of %d", endSignals[n%2], n, all.steps)
		if got.code == 0 {
			finished++
		} else {
			stopped++
		}
	}
	assert.NotZero(t, stopped)
	assert.NotZero(t, finished, "after the commit a signal comes too late")
}
