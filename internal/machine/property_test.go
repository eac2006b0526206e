package machine

import (
	"flag"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestEveryRunEnds: a workflow is refused, or each run of it ends within its bound, is never
// stuck, and never opens again or leaves out a step in progress.
func TestEveryRunEnds(t *testing.T) {
	manyChecks(t, 20_000)
	refused, run, loops := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m, _ := New(workflows.Draw(t, "workflow"))
		if m == nil {
			refused++
			return
		}
		run++
		loops += min(1, len(m.loops))
		walk(t, m)
	})
	t.Logf("%d refused, %d run, %d of them with loops", refused, run, loops)
	require.Greater(t, run, 5_000, "the generator makes too few valid workflows")
	require.Greater(t, loops, 2_000, "the generator makes too few loops")
}

// manyChecks sets the number of checks of rapid for one test.
func manyChecks(t *testing.T, n int) {
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	require.NoError(t, f.Value.Set(strconv.Itoa(n)))
	t.Cleanup(func() { require.NoError(t, f.Value.Set(before)) })
}

// walk runs a workflow to its end by random choices. It keeps which steps are in progress.
func walk(t *rapid.T, m *Machine) {
	s, completed, times, started := m.Start(), 0, map[int64]int{}, map[int64]bool{}
	for !s.over() {
		ready := s.Ready()
		require.NotEmpty(t, ready, "stuck")
		for _, id := range ready {
			started[id] = started[id] || !chance(t, 3)
		}
		id := rapid.SampledFrom(preferStarted(started, ready)).Draw(t, "step")
		after, tr, err := s.Conclude(id, choose(t, m, &s, id))
		require.NoError(t, err)
		delete(started, id)
		completed, times[id] = completed+1, times[id]+1
		require.LessOrEqual(t, completed, m.Bound())
		require.LessOrEqual(t, times[id], m.Runs(id))
		for other := range started {
			if tr.Stops || !started[other] {
				continue
			}
			require.NotContains(t, tr.Reopens, other, "a step in progress was opened again")
			require.NotContains(t, tr.NotNeeded, other, "a step in progress was left out")
		}
		s = after
	}
}

func preferStarted(started map[int64]bool, ready []int64) []int64 {
	all := slices.DeleteFunc(slices.Clone(ready), func(id int64) bool { return !started[id] })
	if len(all) > 0 {
		return all
	}
	return ready
}

// choose returns an outcome that can be had: one that an agent can choose, or that the
// machine takes by itself, and that is not spent.
func choose(t *rapid.T, m *Machine, s *State, id int64) string {
	step := m.steps[m.index[id]]
	var can []string
	for _, o := range append(step.Choices(), Failed) {
		if _, _, err := s.Conclude(id, o); err == nil && (o != Failed || step.outcome(Failed) >= 0) {
			can = append(can, o)
		}
	}
	require.NotEmpty(t, can, "no outcome can be chosen")
	return rapid.SampledFrom(can).Draw(t, "outcome")
}
