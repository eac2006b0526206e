package together_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// eight is how many hooks run at once.
const eight = 8

// TestEightAtOnce lets eight hooks of different skills and policies hydrate one
// list: what comes out is what one after the other would have left.
func TestEightAtOnce(t *testing.T) {
	for round := range uint64(25) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t)
			h := w.eightAtOnce(t, someCalls(rand.New(rand.NewPCG(round, 8))))
			assert.Empty(t, h.violations())
			assert.Empty(t, w.locks(t))
			assert.Empty(t, w.leftovers(t))
		})
	}
}

// someCalls are eight calls of skills and policies by chance, of which the first
// is sure to create something.
func someCalls(rng *rand.Rand) []call {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	calls := []call{{skill: "three"}}
	for len(calls) < eight {
		calls = append(calls, call{
			skill:  pick(sorted(plain)...),
			scope:  pick("all", "skill"),
			active: pick("reset", "refuse"),
			agent:  rng.IntN(4) == 0,
		})
	}
	return calls
}

// eightAtOnce begins with tasks of the user around the tasks of a skill.
func (w *world) eightAtOnce(t *testing.T, calls []call) *history {
	t.Helper()
	w.manual(t, 1)
	require.Zero(t, w.run(t, call{skill: "active"}).code)
	w.manual(t, 20)
	h := &history{statuses: w.skills, before: w.files(t)}
	h.outcomes = w.atOnce(t, calls)
	h.after = w.files(t)
	return h
}

// TestEightWithoutLocks is the same with hooks that take no lock, each of which
// has read the list before any of them changes it.
func TestEightWithoutLocks(t *testing.T) {
	w := newWorld(t)
	w.manual(t, 1)
	h := &history{statuses: w.skills, before: w.files(t)}
	var hooks []*hook
	for range eight {
		hook := w.prepare(t, call{skill: "three", told: &turn{Blind: true, Hold: "mkdir S/txn"}})
		hook.begin()
		hook.awaitHold(t)
		hooks = append(hooks, hook)
	}
	for _, hook := range hooks {
		require.NoError(t, hook.resume.Close())
	}
	for _, hook := range hooks {
		h.outcomes = append(h.outcomes, hook.end(t))
	}
	h.after = w.files(t)
	assert.NotEmpty(t, h.violations(), "eight hooks had the same plan, and nobody noticed")
}
