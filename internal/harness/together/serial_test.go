//go:build unix

package together_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// concurrentHooks is the number of hooks that run at once.
const concurrentHooks = 8

// TestConcurrentHooksAreSerial runs eight hooks of different skills and policies on one
// list: the result is that of some serial order.
func TestConcurrentHooksAreSerial(t *testing.T) {
	for round := range uint64(25) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			w := newWorld(t)
			w.addManualTask(t, 1)
			require.Zero(t, w.run(t, call{skill: "active"}).code)
			w.addManualTask(t, 20)
			h := &history{before: w.Tasks(t)}
			h.outcomes = w.runAtOnce(t, randomCalls(rand.New(rand.NewPCG(round, 8))))
			h.after = w.Tasks(t)
			assert.Empty(t, h.violations())
			assert.Empty(t, w.locks(t))
			assert.Empty(t, w.leftovers(t))
		})
	}
}

// TestSameInvocationHydratesOnce starts several hooks for one invocation, as a plugin and the settings do when both register one.
// Without tool_use_id they cannot tell that they serve one, and each hydrates.
func TestSameInvocationHydratesOnce(t *testing.T) {
	for n := range 10 {
		use, want := fmt.Sprint("use", n), 1
		if n == 0 {
			use, want = "", 4
		}
		w := newWorld(t)
		h := &history{before: w.Tasks(t)}
		h.outcomes = w.runAtOnce(t, slices.Repeat([]call{{skill: "three", use: use}}, 4))
		h.after = w.Tasks(t)
		idle := slices.DeleteFunc(slices.Clone(h.outcomes), func(o outcome) bool { return len(o.created) > 0 })
		assert.Len(t, idle, 4-want)
		assert.Len(t, h.after, 3)
		assert.Empty(t, h.violations())
	}
}

// randomCalls returns eight calls of random skills and policies. The first always
// creates tasks.
func randomCalls(rng *rand.Rand) []call {
	calls := []call{{skill: "three"}}
	for len(calls) < concurrentHooks {
		calls = append(calls, randomCall(rng))
	}
	return calls
}

// randomCall returns a call of a random skill and policy.
func randomCall(rng *rand.Rand) call {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	return call{
		skill:  pick(worlds.Names(skills)...),
		scope:  pick("all", "skill"),
		active: pick("reset", "refuse"),
		agent:  rng.IntN(4) == 0,
	}
}
