package together_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var endings = []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}

// aftermath holds what a signalled hook left against the promise: the list is what
// it was or what it should become, and the next one can begin.
func (w *world) aftermath(t *testing.T, before map[string]file, got outcome) (list []string) {
	after := w.files(t)
	done := &history{statuses: w.skills, before: before, after: after, outcomes: []outcome{{
		call: got.call, stdout: got.stdout, committed: true, names: sorted(after),
		created: []string{"5.json", "6.json", "7.json", "8.json", "9.json"}, deleted: []string{"2.json", "3.json", "4.json"},
	}}}
	unchanged := fmt.Sprint(before) == fmt.Sprint(after)
	switch changed := len(done.disorder())+len(done.untouched()) == 0; {
	case got.code == 0 && !changed:
		list = append(list, fmt.Sprintf("%s, but the list is not as it should be: %v", got, sorted(after)))
	case got.code == 2 && !unchanged:
		list = append(list, fmt.Sprintf("%s, but the list is not as it was: %v", got, sorted(after)))
	case !changed && !unchanged:
		list = append(list, fmt.Sprintf("%s, and the list is neither: %v", got, sorted(after)))
	case got.signal != 0 && changed:
		list = append(list, fmt.Sprintf("%s: the tasks are there, and the client is not told", got))
	case got.code != 0 && strings.Contains(got.stdout, "continue"):
		list = append(list, fmt.Sprintf("%s, and it says to go on", got))
	}
	if locks := w.locks(t); len(locks) > 0 && got.signal == 0 {
		list = append(list, fmt.Sprintf("left locked: %v", locks))
	}
	list = append(list, w.leftovers(t)...)
	if next := w.run(t, call{skill: "one", timeout: soon}); next.code != 0 {
		list = append(list, fmt.Sprintf("the next one fails: %s", next))
	}
	return list
}

// TestSignalAtEveryStep has the signal noticed ahead of each step in turn.
func TestSignalAtEveryStep(t *testing.T) {
	all := toReplace(t).run(t, call{skill: "five", told: &turn{}})
	require.NotZero(t, all.steps)
	stopped, finished := 0, 0
	for n := 1; n <= all.steps; n++ {
		w := toReplace(t)
		before := w.files(t)
		got := w.run(t, call{skill: "five", told: &turn{Signal: endings[n%2], At: n}})
		require.Empty(t, w.aftermath(t, before, got), "%v at step %d of %d", endings[n%2], n, all.steps)
		if got.code == 0 {
			finished++
		} else {
			stopped++
		}
	}
	assert.NotZero(t, stopped)
	assert.NotZero(t, finished, "once it is committed a signal comes too late")
}

// TestSignalAtAnyMoment sends the signal to the program as it is, at moments that
// are spread over what the last call took.
func TestSignalAtAnyMoment(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	ends := map[string]int{}
	for n := range 60 {
		start := time.Now()
		w := toReplace(t)
		span := time.Since(start)
		before := w.files(t)
		h := w.prepare(t, call{skill: "five"})
		h.begin()
		moment := time.NewTimer(time.Duration(rng.Int64N(int64(span))))
		<-moment.C
		_ = h.cmd.Process.Signal(endings[n%2])
		got := h.end(t)
		require.Empty(t, w.aftermath(t, before, got), "%s", got)
		ends[fmt.Sprintf("code %d", got.code)]++
	}
	t.Logf("%v", ends)
}

// TestSignalledHookThatCannotClean shows that the checks find what a rollback left
// undone and a lock that was not released.
func TestSignalledHookThatCannotClean(t *testing.T) {
	for _, suffix := range []string{".json", ".lock"} {
		t.Run(suffix, func(t *testing.T) {
			undisturbed := toReplace(t).run(t, call{skill: "five", told: &turn{}})
			for n := 1; n <= undisturbed.steps; n++ {
				w := toReplace(t)
				before := w.files(t)
				got := w.run(t, call{skill: "five", told: &turn{Signal: syscall.SIGTERM, At: n, Lame: suffix}})
				if len(w.aftermath(t, before, got)) > 0 {
					return
				}
			}
			t.Error("nobody noticed")
		})
	}
}
