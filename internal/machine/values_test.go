package machine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestUnset: ways to a step on which no setter gives its value.
func TestUnset(t *testing.T) {
	two := []Outcome{{Name: "a"}, {Name: "b"}}
	for name, c := range map[string]struct {
		steps   []Step
		id      int64
		setters []int64
		want    string // how the steps before it end, or none
	}{
		"it is always given":      {[]Step{{ID: 1}, {ID: 2, BlockedBy: ids(1)}}, 2, ids(1), "none"},
		"nothing gives it":        {[]Step{{ID: 1}, {ID: 2, BlockedBy: ids(1)}}, 2, nil, "[]"},
		"its setter comes after":  {[]Step{{ID: 1}, {ID: 2, BlockedBy: ids(1)}}, 1, ids(2), "[]"},
		"its setter is beside it": {[]Step{{ID: 1}, {ID: 2}}, 2, ids(1), "[]"},
		"its setter may end as late": {[]Step{{ID: 1, Limit: true, Outcomes: []Outcome{{Name: "a"}, {Name: Late}}}, {ID: 2, BlockedBy: ids(1)}},
			2, ids(1), "[{1 late}]"},
		"its setter may be left out": {[]Step{{ID: 1, Outcomes: two}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, BlockedBy: ids(2)}}, 3, ids(2), "[{1 b} {2 skipped}]"},
		"it is needed only with it": {[]Step{{ID: 1, Outcomes: two}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, BlockedBy: ids(2), When: []Condition{{1, []string{"a"}}}}}, 3, ids(2), "none"},
		"a setter on each branch": {[]Step{{ID: 1, Outcomes: two}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}}, 4, ids(2, 3), "none"},
		"on one of them": {[]Step{{ID: 1, Outcomes: two}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}}, 4, ids(3), "[{1 a} {3 skipped}]"},
		"a stop ends the other way": {[]Step{{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b", Stop: true}}},
			{ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, BlockedBy: ids(2)}}, 3, ids(2), "none"},
		"a loop leads back": {[]Step{{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b", Back: 1, Max: 2}}},
			{ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, BlockedBy: ids(2)}}, 3, ids(2), "none"},
		"a person skips it":  {[]Step{{ID: 1}, {ID: 2, When: []Condition{{1, []string{Skipped}}}}}, 2, ids(1), "[{1 skipped}]"},
		"it was done before": {[]Step{{ID: 1, Done: true}, {ID: 2, When: []Condition{{1, []string{Skipped}}}}}, 2, ids(1), "none"},
		"another outcome than named": {[]Step{{ID: 1, Outcomes: append(two, Outcome{Name: "c"})}, {ID: 2, When: []Condition{{1, []string{"a",
			"b"}}}}, {ID: 3, BlockedBy: ids(2)}}, 3, ids(2), "[{1 c} {2 skipped}]"},
		"a condition on what was done": {[]Step{{ID: 1, Done: true, Outcomes: []Outcome{{Name: "a"}}},
			{ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, BlockedBy: ids(2)}}, 3, ids(2), "none"},
	} {
		m, faults := New(c.steps)
		require.NotNil(t, m, "%s: %v", name, faults)
		how, ok := m.Unset(c.id, c.setters)
		got := "none"
		if ok {
			got = fmt.Sprint(how)
		}
		assert.Equal(t, c.want, got, name)
	}
}

// TestUnsetGivesUp: a way that is the last of very many is not found.
func TestUnsetGivesUp(t *testing.T) {
	for n, want := range map[int]bool{5: true, 16: false} {
		var all []Step
		last := Step{ID: 100, BlockedBy: ids(99)}
		for i := range int64(n) {
			all = append(all, Step{ID: i + 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}})
			last.When = append(last.When, Condition{i + 1, []string{"b"}})
		}
		m, faults := New(append(all, Step{ID: 99, When: []Condition{{1, []string{"a"}}}}, last))
		require.NotNil(t, m, faults)
		how, ok := m.Unset(100, ids(99))
		assert.Equal(t, want, ok)
		if want {
			assert.Len(t, how, n+1)
		}
	}
}

// TestUnsetIsTrue: a way that is found leads to the step, and no setter gives its value on it; and
// no walk at random finds one where there is none.
func TestUnsetIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := acyclic.Draw(t, "steps")
		m, _ := New(steps)
		if m == nil {
			t.Skip("not sound")
		}
		id := rapid.SampledFrom(steps).Draw(t, "id").ID
		var setters []int64
		for _, s := range steps {
			if s.ID != id && rapid.IntRange(0, 3).Draw(t, "sets") == 0 {
				setters = append(setters, s.ID)
			}
		}
		how, ok := m.Unset(id, setters)
		wanted := map[int64]string{}
		for _, e := range how {
			wanted[e.Step] = e.Outcome
		}
		s := m.Start()
		for range 3 * len(steps) {
			ready := s.Ready()
			if len(ready) == 0 || slices.Contains(ready, id) {
				break
			}
			next := ready[0]
			outcome, named := wanted[next]
			if !named {
				for _, o := range m.steps[m.index[next]].endings() {
					if !ok || !slices.ContainsFunc(m.steps[m.index[next]].Outcomes, func(x Outcome) bool { return x.Name == o && x.Stop }) {
						outcome = o
					}
				}
				if !ok {
					outcome = rapid.SampledFrom(m.steps[m.index[next]].endings()).Draw(t, "outcome")
				}
			}
			if outcome == Skipped {
				s, _, _ = s.Skip(next)
			} else {
				s, _, _ = s.Conclude(next, outcome)
			}
		}
		given := slices.ContainsFunc(setters, func(n int64) bool {
			o := s.Outcome(n)
			return m.past[m.index[id]].has(m.index[n]) && o != "" && o != Skipped && o != Late
		})
		reached := slices.Contains(s.Ready(), id)
		if ok {
			require.True(t, reached, "%v", how)
			require.False(t, given, "%v", how)
		} else if reached {
			require.True(t, given, "a way without a value was not found")
		}
	})
}

// acyclic generates steps with conditions: references go to earlier steps, and each step can end
// without ending the workflow.
var acyclic = rapid.Custom(func(t *rapid.T) []Step {
	all := make([]Step, rapid.IntRange(1, 6).Draw(t, "steps"))
	for i := range all {
		s := &all[i]
		s.ID = int64(i + 1)
		for _, name := range []string{"a", "b"}[:rapid.IntRange(0, 2).Draw(t, "outcomes")] {
			s.Outcomes = append(s.Outcomes, Outcome{Name: name, Stop: name == "b" && rapid.IntRange(0, 3).Draw(t, "stop") == 0})
		}
		for b := range i {
			switch rapid.IntRange(0, 3).Draw(t, "before") {
			case 0:
				s.BlockedBy = append(s.BlockedBy, int64(b+1))
			case 1:
				s.When = append(s.When, Condition{int64(b + 1), []string{rapid.SampledFrom(all[b].endings()).Draw(t, "when")}})
			}
		}
	}
	return all
})

// TestStretches: loops with the same body are one, the larger ones come first.
func TestStretches(t *testing.T) {
	m, faults := New([]Step{
		{ID: 1}, {ID: 2, BlockedBy: ids(1), Outcomes: []Outcome{{Name: "x", Back: 2, Max: 2}, {Name: "y", Back: 2, Max: 3}, {Name: "ok"}}},
		{ID: 3, BlockedBy: ids(2), Outcomes: []Outcome{{Name: "again", Back: 1, Max: 4}, {Name: "ok"}}}})
	require.NotNil(t, m, faults)
	assert.Equal(t, []Stretch{{1, 3, 5, ids(1, 2, 3)}, {2, 2, 6, ids(2)}}, m.Stretches())
	assert.Equal(t, []int{5, 30, 5}, []int{m.Runs(1), m.Runs(2), m.Runs(3)})
	s := m.fold(events("1:done 2:x"))
	assert.Equal(t, []int{1, 0, 0}, []int{s.Times(2, "x"), s.Times(2, "y"), s.Times(9, "x")})
	m, _ = New([]Step{{ID: 1, Outcomes: []Outcome{{Name: "x", Back: 1, Max: 2}, {Name: "ok"}}}})
	s = m.fold(events("1:x"))
	assert.Equal(t, []int{1, 0}, []int{s.Times(1, "x"), s.Times(9, "x")})
	assert.Equal(t, []string{"agent", "person", "command"}, []string{Agent.String(), Person.String(), Command.String()})
}

// TestStartSettles: what was done before the workflow came decides which steps are needed.
func TestStartSettles(t *testing.T) {
	m, faults := New([]Step{{ID: 1, Done: true, Outcomes: []Outcome{{Name: "a"}}}, {ID: 2, Outcomes: []Outcome{{Name: "x"}, {Name: "y"}}},
		{ID: 3, When: []Condition{{1, []string{Skipped}}}}, {ID: 4, BlockedBy: ids(3)}})
	require.NotNil(t, m, faults)
	s := m.Start()
	assert.True(t, s.NotNeeded(3))
	assert.Equal(t, "a", s.Outcome(1))
	assert.Equal(t, ids(2, 4), s.Ready())
	assert.Equal(t, []any{"", 0, 0, false}, []any{s.Outcome(9), s.Round(9), s.Times(9, "a"), s.NotNeeded(9)})
}
