package machine

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// BenchmarkNew proves a workflow of 1,000 steps with 30 loops.
func BenchmarkNew(b *testing.B) {
	steps := make([]Step, 1000)
	for i := range steps {
		steps[i].ID = int64(i + 1)
		for j := max(0, i-5); j < i; j++ {
			steps[i].BlockedBy = append(steps[i].BlockedBy, int64(j+1))
		}
		if i%33 == 32 {
			steps[i].Outcomes = []Outcome{{Name: "again", Back: int64(i - 20), Max: 1}}
			for j := i + 1; j < min(1000, i+6); j++ {
				steps[j].BlockedBy = nil
			}
		}
	}
	for i := 33; i < 1000; i++ { // what comes after a loop depends on its end
		end := int64(i/33*33 + 0)
		steps[i].BlockedBy = slices.DeleteFunc(steps[i].BlockedBy, func(id int64) bool { return id < end })
		if len(steps[i].BlockedBy) == 0 || i%33 < 6 {
			steps[i].BlockedBy = append(steps[i].BlockedBy, end)
		}
	}
	if _, faults := New(steps); slices.ContainsFunc(faults, func(f Fault) bool { return !f.Warning }) {
		require.Empty(b, faults)
	}
	for b.Loop() {
		New(steps)
	}
}

// A step comes after the branches of a choice: the outcome without a branch ends the workflow, so there is nothing to warn of.
func TestNothingComesAfterAStop(t *testing.T) {
	_, faults := New([]Step{{ID: 1, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}, {Name: "quit", Stop: true}}},
		{ID: 2, When: []Condition{{1, []string{"a"}}}}, {ID: 3, When: []Condition{{1, []string{"b"}}}}, {ID: 4, BlockedBy: ids(2, 3)}})
	assert.Empty(t, faults)
}
