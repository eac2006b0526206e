package machine

import (
	"flag"
	"fmt"
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

// workflows generates workflows, most of them valid: references go to earlier steps, and
// loops lead to steps before.
var workflows = rapid.Custom(func(t *rapid.T) []Step {
	n := rapid.IntRange(1, 9).Draw(t, "steps")
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = step(t, steps[:i], int64(i+1))
	}
	return steps
})

func step(t *rapid.T, before []Step, id int64) Step {
	s := Step{ID: id, Check: rapid.Bool().Draw(t, "check")}
	for _, b := range before {
		if chance(t, 2) {
			s.BlockedBy = append(s.BlockedBy, b.ID)
		}
	}
	if len(before) > 0 && chance(t, 3) {
		// A wide condition or two; now and then one that cannot be.
		for _, on := range before {
			if chance(t, 2) {
				if c := condition(t, on); len(c.Outcomes) > 0 {
					s.When = append(s.When, c)
				}
			}
		}
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(t, "outcomes") {
		s.Outcomes = append(s.Outcomes, outcome(t, s, before))
	}
	s.Outcomes = slicesDistinct(s.Outcomes)
	for i := range s.Outcomes {
		o := &s.Outcomes[i]
		if o.Back != 0 && chance(t, 2) {
			o.Then = s.Outcomes[rapid.IntRange(0, len(s.Outcomes)-1).Draw(t, "then")].Name
		}
	}
	if chance(t, 8) {
		s.Decides = Person
	}
	return s
}

func condition(t *rapid.T, on Step) Condition {
	c := Condition{Step: on.ID}
	for _, name := range append(on.endings(), Skipped) {
		if chance(t, 2) {
			c.Outcomes = append(c.Outcomes, name)
		}
	}
	if chance(t, 40) {
		c.Outcomes = append(c.Outcomes, "nowhere")
	}
	return c
}

func outcome(t *rapid.T, s Step, before []Step) Outcome {
	names := []string{"a", "b", "c", "d", Done}
	if s.Check {
		names = append(names, Failed)
	}
	o := Outcome{Name: rapid.SampledFrom(names).Draw(t, "name")}
	switch {
	case o.Name != Done && chance(t, 2):
		back := []int64{s.ID}
		for _, b := range before {
			if !chance(t, 4) {
				back = append(back, b.ID)
			}
		}
		o.Back, o.Max = rapid.SampledFrom(back).Draw(t, "back"), rapid.IntRange(1, 3).Draw(t, "max")
	case chance(t, 6):
		o.Stop = true
	}
	return o
}

func slicesDistinct(all []Outcome) (kept []Outcome) {
	seen := map[string]bool{}
	for _, o := range all {
		if !seen[o.Name] {
			seen[o.Name] = true
			kept = append(kept, o)
		}
	}
	return kept
}

// chance is true once in n times.
func chance(t *rapid.T, n int) bool {
	return rapid.IntRange(1, n).Draw(t, fmt.Sprintf("1 in %d", n)) == 1
}
