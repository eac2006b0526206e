package machine

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// review is implement, test, review: tests that fail and a review that asks for changes lead
// back; a review that asked three times is disputed, and a person settles it.
func review() []Step {
	return []Step{
		{ID: 41},
		{ID: 42, BlockedBy: []int64{41}, Check: true, Outcomes: []Outcome{{Name: Failed, Back: 41, Max: 3}}},
		{ID: 43, BlockedBy: []int64{42}, Outcomes: []Outcome{{Name: "approved"}, {Name: "changes", Back: 41, Max: 3, Then: "disputed"},
			{Name: "disputed"}}},
		{ID: 44, When: []Condition{{43, []string{"disputed"}}}, Decides: Person,
			Outcomes: []Outcome{{Name: "merge"}, {Name: "drop", Stop: true}}},
		{ID: 45, BlockedBy: []int64{43, 44}},
	}
}

func TestConstructs(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []Step
		do    string // steps and outcomes; skip, reopen and end are a person's
		ready []int64
		want  string // how the steps ended, - for an open one
	}{
		"nothing happened":               {review(), "", ids(41), "- - - - -"},
		"a branch that is not taken":     {review(), "41:done 42:done 43:approved", ids(45), "done done approved skipped -"},
		"to its end":                     {review(), "41:done 42:done 43:approved 45:done", nil, "done done approved skipped done"},
		"tests that fail":                {review(), "41:done 42:failed", ids(41), "- - - - -"},
		"a review that asks for changes": {review(), "41:done 42:done 43:changes", ids(41), "- - - - -"},
		"the fourth time it is disputed": {review(), strings.Repeat("41:done 42:done 43:changes ", 4), ids(44), "done done disputed - -"},
		"a person drops it": {review(), strings.Repeat("41:done 42:done 43:changes ", 4) + "44:drop", nil,
			"done done disputed drop skipped"},
		"a person merges it": {review(), strings.Repeat("41:done 42:done 43:changes ", 4) + "44:merge", ids(45),
			"done done disputed merge -"},
		"an inner budget is new in each round": {review(), strings.Repeat("41:done 42:failed ", 3) + "41:done 42:done 43:changes " +
			strings.Repeat("41:done 42:failed ", 3), ids(41), "- - - - -"},
		"an inner budget is spent":    {review(), strings.Repeat("41:done 42:failed ", 3) + "41:done 42:failed", ids(42), "done - - - -"},
		"a person skips a step":       {review(), "41:done 42:skip 43:approved", ids(45), "done skipped approved skipped -"},
		"a person opens a step again": {review(), "41:done 42:done 43:approved 45:done 43:reopen", ids(43), "done done - - -"},
		"and a stop is undone": {review(), strings.Repeat("41:done 42:done 43:changes ", 4) + "44:drop 44:reopen", ids(44),
			"done done disputed - -"},
		"a person ends it": {review(), "41:done 0:end", nil, "done skipped skipped skipped skipped"},
		"an end is undone": {review(), "41:done 0:end 43:reopen", ids(42), "done - - - -"},
		"loops with one body keep their budgets": {[]Step{{ID: 1, Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: "c"},
			{Name: "b", Back: 1, Max: 2}, {Name: "c"}}}},
			"1:a 1:b 1:a", nil, "c"},
		"a chain of thens": {[]Step{{ID: 1, Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: "b"},
			{Name: "b", Back: 1, Max: 1, Then: "c"}, {Name: "c"}}}},
			"1:a 1:a 1:a", nil, "c"},
		"a condition on what was skipped": {[]Step{{ID: 1, Outcomes: []Outcome{{Name: "x"}, {Name: "y"}}},
			{ID: 2, When: []Condition{{1, []string{"x"}}}}, {ID: 3, When: []Condition{{2, []string{Skipped}}}}},
			"1:y", ids(3), "y skipped -"},
		"a step that is done from the beginning": {[]Step{{ID: 1, Done: true}, {ID: 2, BlockedBy: ids(1)}}, "", ids(2), "done -"},
	} {
		t.Run(name, func(t *testing.T) {
			m, faults := New(tt.steps)
			require.NotNil(t, m, "%v", faults)
			s := m.fold(events(tt.do))
			assert.Equal(t, tt.ready, s.Ready())
			var ended []string
			for _, step := range tt.steps {
				ended = append(ended, cmp.Or(s.Outcome(step.ID), "-"))
			}
			assert.Equal(t, tt.want, strings.Join(ended, " "))
		})
	}
}

func ids(all ...int64) []int64 { return all }

// events reads "1:done 2:skip 3:reopen 0:end".
func events(text string) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for word := range strings.FieldsSeq(text) {
			number, what, _ := strings.Cut(word, ":")
			step, _ := strconv.ParseInt(number, 10, 64)
			e := Event{Concluded, step, what}
			switch what {
			case "skip":
				e.Kind = Passed
			case "reopen":
				e.Kind = Reopened
			case "end":
				e.Kind = Ended
			}
			if !yield(e) {
				return
			}
		}
	}
}

// fold returns the state after the events.
func (m *Machine) fold(events iter.Seq[Event]) State {
	s := m.Start()
	for e := range events {
		s = s.After(e)
	}
	return s
}

// over reports whether no step is open.
func (s *State) over() bool {
	return !slices.ContainsFunc(s.steps, func(p progress) bool { return p.outcome == "" })
}

// TestTransition: what an agent is told of a transition.
func TestTransition(t *testing.T) {
	m, _ := New(review())
	before := m.fold(events("41:done 42:done"))

	after, tr, err := before.Conclude(43, "changes")
	require.NoError(t, err)
	assert.Equal(t, Transition{Step: 43, Outcome: "changes", Times: 1, Max: 3, Reopens: ids(41, 42, 43)}, tr)
	assert.Equal(t, []int{2, 2, 2, 1}, []int{after.Round(41), after.Round(42), after.Round(43), after.Round(44)})
	assert.Equal(t, 1, after.Times(43, "changes"))

	after, tr, err = before.Conclude(43, "approved")
	require.NoError(t, err)
	assert.Equal(t, Transition{Step: 43, Outcome: "approved", NotNeeded: ids(44)}, tr)
	assert.True(t, after.NotNeeded(44))
	assert.False(t, after.NotNeeded(43))

	spent := m.fold(events(strings.Repeat("41:done 42:done 43:changes ", 3) + "41:done 42:done"))
	after, tr, err = spent.Conclude(43, "changes")
	require.NoError(t, err)
	assert.Equal(t, Transition{Step: 43, Outcome: "disputed"}, tr, "the machine takes what comes then")

	after, tr, err = after.Conclude(44, "drop")
	require.NoError(t, err)
	assert.Equal(t, Transition{Step: 44, Outcome: "drop", NotNeeded: ids(45), Stops: true}, tr)
	assert.True(t, after.over())

	ended := before.End()
	assert.True(t, ended.over())
	for id := int64(41); id <= 45; id++ {
		assert.Equal(t, id >= 43, ended.NotNeeded(id), id)
	}

	assert.Equal(t, ids(43), before.Ready(), "no method changes its state")
}

func TestErrors(t *testing.T) {
	m, _ := New(review())
	s := m.fold(events("41:done " + strings.Repeat("42:failed 41:done ", 3)))
	for _, tt := range []struct {
		id      int64
		outcome string
		want    string
	}{
		{42, Failed, ErrSpent.Error()}, {42, "aproved", ErrNoOutcome.Error()}, {43, Done, ErrNoOutcome.Error()}, {43, Skipped, ""},
		{41, Done, "is done already"}, {7, Done, "no such step"},
	} {
		after, _, err := s.Conclude(tt.id, tt.outcome)
		if tt.want == "" {
			assert.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tt.want)
		assert.Equal(t, s, after)
	}
	_, _, err := s.Skip(41)
	require.ErrorContains(t, err, "is done already")
	_, _, err = s.Reopen(42)
	require.ErrorContains(t, err, "is open")
	_, _, err = s.Reopen(7)
	require.ErrorContains(t, err, "no such step")
}

func TestChoices(t *testing.T) {
	all := review()
	assert.Equal(t, []string{Done}, all[0].Choices())
	assert.Equal(t, []string{Done}, all[1].Choices(), "nobody chooses failed")
	assert.Equal(t, []string{"approved", "changes"}, all[2].Choices(), "disputed comes then")
	assert.Equal(t, []string{"merge", "drop"}, all[3].Choices())
}

func TestBound(t *testing.T) {
	m, _ := New(review())
	assert.Equal(t, []int{16, 16, 4, 1, 1}, []int{m.Runs(41), m.Runs(42), m.Runs(43), m.Runs(44), m.Runs(45)})
	assert.Equal(t, 38, m.Bound())
	assert.Equal(t, []Loop{{42, Failed, 41, 3, ids(41, 42)}, {43, "changes", 41, 3, ids(41, 42, 43)}}, m.Loops())
	assert.Zero(t, m.Runs(7))

	var nested []Step // each leads back to the first
	for i := range int64(12) {
		nested = append(nested, Step{ID: i + 1, Outcomes: []Outcome{{Name: "again", Back: 1, Max: MaxTimes}}})
		if i > 0 {
			nested[i].BlockedBy = ids(i)
		}
	}
	m, _ = New(nested)
	assert.Equal(t, []int{math.MaxInt32, 101}, []int{m.Runs(1), m.Runs(12)})
	assert.Equal(t, math.MaxInt32, m.Bound())
}

func TestRestartOpensEveryStepWithARoundMoreAndNewCounters(t *testing.T) {
	m, _ := New(review())
	s := m.Start()
	for _, e := range []Event{{Concluded, 41, Done}, {Concluded, 42, Failed}, {Concluded, 41, Done}, {Concluded, 42, Done},
		{Concluded, 43, "approved"}} {
		s = s.After(e)
	}
	again := s.Restart()
	assert.Equal(t, ids(41), again.Ready())
	assert.Equal(t, []int{3, 3, 2}, []int{again.Round(41), again.Round(42), again.Round(43)})
	assert.Zero(t, again.Times(42, Failed))
	assert.Equal(t, "approved", s.Outcome(43), "the state before is a value")
}
