package machine

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCircular(t *testing.T) {
	assert.Equal(t, map[int64][]int64{1: {2}, 2: {1}, 4: {4}},
		Circular(map[int64][]int64{1: {2, 5}, 2: {1}, 3: {1}, 4: {4, 1}, 5: nil}))
}

// A blocker is circular if a walk over blockers leads from it to the step, and without those every step has its turn.
func TestCircularBlockers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := map[int64][]int64{}
		n := rapid.Int64Range(1, 8).Draw(t, "steps")
		for id := int64(1); id <= n; id++ {
			before[id] = rapid.SliceOfDistinct(rapid.Int64Range(1, n), rapid.ID[int64]).Draw(t, "blockers")
		}
		var leads func(from, to int64, seen map[int64]bool) bool
		leads = func(from, to int64, seen map[int64]bool) bool {
			if from == to {
				return true
			}
			if seen[from] {
				return false
			}
			seen[from] = true
			return slices.ContainsFunc(before[from], func(b int64) bool { return leads(b, to, seen) })
		}
		circular, done := Circular(before), map[int64]bool{}
		for id, blockers := range before {
			for _, b := range blockers {
				require.Equal(t, leads(b, id, map[int64]bool{}), slices.Contains(circular[id], b), "%v: %d of %d", before, b, id)
			}
		}
		for range before {
			for id, blockers := range before {
				if !slices.ContainsFunc(blockers, func(b int64) bool { return !done[b] && !slices.Contains(circular[id], b) }) {
					done[id] = true
				}
			}
		}
		require.Len(t, done, len(before), "%v", before)
	})
}
