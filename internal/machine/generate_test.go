package machine

import (
	"fmt"

	"pgregory.net/rapid"
)

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
