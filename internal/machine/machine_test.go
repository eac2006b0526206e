package machine

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
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

func TestFaults(t *testing.T) {
	back := func(to int64, limit int) []Outcome {
		return []Outcome{{Name: "again", Back: to, Max: limit}, {Name: "fine"}}
	}
	for want, steps := range map[string][]Step{
		`1 when/1/0: when: step 1 cannot end as "aproved", only as approved, rejected, skipped (did you mean approved?)`: {
			{ID: 1, Outcomes: []Outcome{{Name: "approved"}, {Name: "rejected"}}}, {ID: 2, When: []Condition{{1, []string{"aproved"}}}}},
		`1 when/1/0: when: "again" of step 1 leads back to step 1, so nothing comes after it`: {
			{ID: 1, Outcomes: back(1, 2)}, {ID: 2, When: []Condition{{1, []string{"again"}}}}},
		`1 when/7: there is no step 7`:      {{ID: 1}, {ID: 2, When: []Condition{{7, []string{Done}}}}},
		`0 blockedBy/0: there is no step 7`: {{ID: 1, BlockedBy: ids(7)}},
		`0 : cycle 1 -> 3 -> 2 -> 1: each step comes before the next, so none can start`: {
			{ID: 1, BlockedBy: ids(2)}, {ID: 2, BlockedBy: ids(3)}, {ID: 3, BlockedBy: ids(1)}, {ID: 4, BlockedBy: ids(1)}},
		`1 id: duplicate id 1`: {{ID: 1}, {ID: 1}},
		`0 outcomes/a/then: then names "x", which is not an outcome of this step`: {{ID: 1,
			Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: "x"}}}},
		`0 outcomes/a/then: then names "feild", which is not an outcome of this step (did you mean field?)`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: "feild"}, {Name: "field"}}}},
		`0 outcomes/a/then: a circle of then: a -> b -> a|0 outcomes/b/then: a circle of then: b -> a -> b`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: "b"}, {Name: "b", Back: 1, Max: 1, Then: "a"}, {Name: "c"}}}},
		`0 decides: a person chooses among 2 to 4 outcomes, and this step has only done that can be chosen`: {{ID: 1, Decides: Person}},
		`0 decides: a person chooses among 2 to 4 outcomes, and this step has 5 that can be chosen (a, b, c, d, e)`: {
			{ID: 1, Decides: Person, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}}},
		`0 decides: a command chooses among at least 2 outcomes, and this step has only done that can be chosen`: {{ID: 1, Decides: Command}},
		`0 outcomes/again/approval: again leads back, which needs no approval`: {{ID: 1,
			Outcomes: []Outcome{{Name: "again", Back: 1, Max: 1, Approval: true}}}},
		`0 outcomes/again/stop: again cannot both lead back and stop the workflow`: {{ID: 1,
			Outcomes: []Outcome{{Name: "again", Back: 1, Max: 1, Stop: true}}}},
		`0 outcomes/again/back: again leads back to step 2, which does not come before this one`: {{ID: 1, Outcomes: back(2, 1)},
			{ID: 2, BlockedBy: ids(1)}},
		`0 outcomes/again/back: again leads back to step 9, which is not in the same array`:   {{ID: 1, Outcomes: back(9, 1)}},
		`0 outcomes/again: again leads back and has no "max": say how often it may, 1 to 100`: {{ID: 1, Outcomes: back(1, 0)}},
		`0 outcomes/again/max: max must be 1 to 100, not 101`:                                 {{ID: 1, Outcomes: back(1, 101)}},
		`0 outcomes/again/max: max must be 1 to 100, not -1`:                                  {{ID: 1, Outcomes: back(1, -1)}},
		`0 outcomes/a/max: a has "max" but does not lead back: add "back"`: {{ID: 1,
			Outcomes: []Outcome{{Name: "a", Max: 3}}}},
		`0 outcomes/a/then: a has "then" but does not lead back: add "back"`: {{ID: 1,
			Outcomes: []Outcome{{Name: "a", Then: "b"}, {Name: "b"}}}},
		`0 outcomes/done/back: done cannot lead back: give the outcome another name`: {{ID: 1,
			Outcomes: []Outcome{{Name: Done, Back: 1, Max: 1}, {Name: "a"}}}},
		`0 outcomes/done: every outcome of this step that can be chosen leads back, and done is taken only when one is spent: add ` +
			`an outcome that goes forward`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a", Back: 1, Max: 1, Then: Done}, {Name: Done}}}},
		`0 outcomes/skipped: skipped cannot be declared: a step ends so when it is not needed, or when a person skips it`: {{ID: 1,
			Outcomes: []Outcome{{Name: Skipped}, {Name: "a", Stop: true}}}},
		`0 outcomes/failed: a step ends as failed when its check fails, and this step has none: ` +
			`add "check", or give the outcome another name`: {{ID: 1,
			Outcomes: []Outcome{{Name: Failed}}}},
		`0 outcomes/late: a step ends as late when its time limit has passed, and this step has none: add "within"`: {{ID: 1,
			Outcomes: []Outcome{{Name: Late}, {Name: "a", Stop: true}}}},
		`0 outcomes/late/back: late cannot lead back: nobody would be there to go on`: {{ID: 1, Limit: true,
			Outcomes: []Outcome{{Name: Late, Back: 1, Max: 1}, {Name: "a"}}}},
		`0 outcomes/late: late cannot have gates: the clock decides it, and asks none`: {{ID: 1, Limit: true,
			Outcomes: []Outcome{{Name: Late, Gated: true}, {Name: "a"}}}, {ID: 2, Limit: true}},
		`0 outcomes/late: late cannot have gates: the clock decides it, and asks none|1 outcomes/late: a step ends as late when its time ` +
			`limit has passed, and this step has none: add "within"`: {
			{ID: 1, Limit: true, Outcomes: []Outcome{{Name: Late, Approval: true}, {Name: "a"}}}, {ID: 2, Outcomes: []Outcome{{Name: Late}}}},
		`1 when/1/0: when: step 1 cannot end as "x", only as done, skipped: each of its lines ends by itself`: {{ID: 1, Join: true},
			{ID: 2, When: []Condition{{1, []string{"x"}}}}},
		`2 blockedBy/0: it depends on step 1, which is inside the loop 1–2: let it depend on step 2, too`: {
			{ID: 1}, {ID: 2, BlockedBy: ids(1), Outcomes: back(1, 1)}, {ID: 3, BlockedBy: ids(1)}},
		`2 outcomes/again/back: the loop 1–2 and the loop 1–3 overlap, and neither contains the other: let one step that comes after steps ` +
			`2 and 3 lead back instead`: {
			{ID: 1}, {ID: 2, BlockedBy: ids(1), Outcomes: back(1, 1)}, {ID: 3, BlockedBy: ids(1), Outcomes: back(1, 1)}},
		`3 outcomes/again/back: the loop 1–3 and the loop 2–4 overlap, and neither contains the other: let step 4 lead back to step 1, ` +
			`or to one after step 3`: {
			{ID: 1}, {ID: 2, BlockedBy: ids(1)}, {ID: 3, BlockedBy: ids(2), Outcomes: back(1, 1)}, {ID: 4, BlockedBy: ids(3), Outcomes: back(2, 1)}},
		`0 : cycle 1 -> 2 -> 1: each step comes before the next, so none can start`: {
			{ID: 1, When: []Condition{{2, []string{Done}}}}, {ID: 2, BlockedBy: ids(1)}},
		`0 : cycle 1 -> 3 -> 1: each step comes before the next, so none can start`: {
			{ID: 1, BlockedBy: ids(3)}, {ID: 2}, {ID: 3, BlockedBy: ids(1)}},
		`1 : cycle 2 -> 2: each step comes before the next, so none can start`: {{ID: 1, Outcomes: back(1, 1)},
			{ID: 2, BlockedBy: ids(2, 1)}},
		`0 status: a completed step cannot have more than one outcome that goes forward (a, b)`: {{ID: 1, Done: true,
			Outcomes: []Outcome{{Name: "a"}, {Name: "b", Stop: true}}}},
		`warning 1 when: this step is never needed: its conditions want different outcomes of step 1`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}, {ID: 2, When: []Condition{{1, []string{"a"}}, {1, []string{"b"}}}}},
		`warning 2 when: this step is never needed: its conditions want different outcomes of step 1`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, When: []Condition{{2, []string{Done}}, {1, []string{"b"}}}}},
		`warning 1 when/1: this step is never needed: when step 1 ends as quit, nothing comes after it`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "quit", Stop: true}}}, {ID: 2, When: []Condition{{1, []string{"quit"}}}},
			{ID: 3, When: []Condition{{1, []string{"quit", Skipped}}}}, {ID: 4, When: []Condition{{1, []string{"quit", "a"}}}}},
		`warning 0 outcomes: the outcomes of this step change nothing: no "when" names them, and none leads back, stops or has gates`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}},
		`warning 2 blockedBy: it comes only after steps that are needed under one condition (1 as a) and has none: it is also needed when they ` +
			`are not; give it the same "when", or let it depend on step 1, too, if that is meant`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}, {ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, BlockedBy: ids(2)}},
		`warning 3 blockedBy: it comes only after steps that are not needed if step 1 ends as c, and has no condition: it is needed then, ` +
			`too; give it a "when", or let it depend on step 1 if that is meant`: {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d", Stop: true}}},
			{ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}},
		`warning 0 outcomes: "enough" is only taken when another outcome is spent, and cannot be chosen: the command chooses among more and ` +
			`done; declare done if that is meant`: {
			{ID: 1, Decides: Command, Outcomes: []Outcome{{Name: "more", Back: 1, Max: 2, Then: "enough"}, {Name: "enough"}}}},
		`warning 0 outcomes: "enough" is only taken when another outcome is spent, and cannot be chosen: the person chooses among more and ` +
			`done; declare done if that is meant`: {
			{ID: 1, Decides: Person, Outcomes: []Outcome{{Name: "more", Back: 1, Max: 2, Then: "enough"}, {Name: "enough"}}}},
		`warning 0 : up to 10201 steps may have to be completed until this workflow ends: lower max of its loops`: {
			{ID: 1, Outcomes: back(1, 100)}, {ID: 2, BlockedBy: ids(1), Outcomes: back(1, 99)}, {ID: 3, BlockedBy: ids(2)}},
	} {
		m, faults := New(steps)
		var texts []string
		for _, f := range faults {
			text := id(int64(f.Step)) + " " + strings.Join(f.Path, "/") + ": " + f.Text
			if f.Warning {
				text = "warning " + text
			}
			texts = append(texts, text)
		}
		assert.Equal(t, want, strings.Join(texts, "|"))
		assert.Equal(t, strings.HasPrefix(want, "warning"), m != nil, want)
	}
}

// TestSoundWorkflows: workflows of which there is nothing to say.
func TestSoundWorkflows(t *testing.T) {
	for name, steps := range map[string][]Step{
		"none":                         nil,
		"a plain list":                 {{ID: 1}, {ID: 2, BlockedBy: ids(1)}},
		"a review":                     review(),
		"a spent outcome of the agent": {{ID: 1, Outcomes: []Outcome{{Name: "more", Back: 1, Max: 2, Then: "enough"}, {Name: "enough"}}}},
		"a spent outcome of a command, with done": {{ID: 1, Decides: Command,
			Outcomes: []Outcome{{Name: "more", Back: 1, Max: 2, Then: "enough"}, {Name: "enough"}, {Name: Done}}}},
		"a command that says more or done": {{ID: 1, Decides: Command, Outcomes: []Outcome{{Name: "more", Back: 1, Max: 2}}}},
		"an optional step":                 {{ID: 1, Outcomes: []Outcome{{Name: Done, Gated: true}, {Name: "no-need"}}}},
		"a step that comes after two branches": {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}},
		"a step that comes after two branches, of which the third ends all": {
			{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}, {Name: "quit", Stop: true}}}, {ID: 2, When: []Condition{{1, []string{"a"}}}},
			{ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}},
		"a command chooses among two": {{ID: 1, Decides: Command, Outcomes: []Outcome{{Name: "a"}, {Name: "b", Stop: true}}}},
		"a person chooses among two":  {{ID: 1, Decides: Person, Outcomes: []Outcome{{Name: "a"}, {Name: "b", Stop: true}}}},
		"a person chooses among four": {{ID: 1, Decides: Person,
			Outcomes: []Outcome{{Name: "a"}, {Name: "b", Stop: true}, {Name: "c"}, {Name: "d"}}}},
		"an inner loop behind its outer one": {{ID: 1}, {ID: 3, BlockedBy: ids(2), Outcomes: []Outcome{{Name: "again", Back: 1, Max: 1}}},
			{ID: 2, BlockedBy: ids(1), Outcomes: []Outcome{{Name: "again", Back: 2, Max: 1}}}},
		"a long plain list": many(LargeBound + 1),
		"a loop beside other steps": {{ID: 1}, {ID: 2, BlockedBy: ids(1)}, {ID: 3, Outcomes: []Outcome{{Name: "again", Back: 3, Max: 1}}},
			{ID: 4, BlockedBy: ids(1, 3)}},
		"loops beside each other": {{ID: 1, Outcomes: []Outcome{{Name: "again", Back: 1, Max: 1}}},
			{ID: 2, Outcomes: []Outcome{{Name: "again", Back: 2, Max: 1}}}},
	} {
		m, faults := New(steps)
		assert.Empty(t, faults, name)
		assert.NotNil(t, m, name)
	}
}

func many(n int) (steps []Step) {
	for i := range n {
		steps = append(steps, Step{ID: int64(i + 1)})
	}
	return steps
}

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
