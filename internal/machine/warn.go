package machine

import (
	"slices"
	"strings"
)

// warn adds the warnings about a proven workflow.
func (b *builder) warn() {
	b.warnDead()
	b.warnStopped()
	for i := range b.m.steps {
		b.warnUseless(i)
		b.warnTaken(i)
		b.warnLeak(i)
	}
	if bound := b.m.Bound(); bound > LargeBound && len(b.m.loops) > 0 {
		b.warning(0, nil, "up to %d steps may have to be completed until this workflow ends: lower max of its loops", bound)
	}
}

// warnDead warns of steps that can never be needed, because their conditions, and those of
// the steps that they name, exclude one another.
func (b *builder) warnDead() {
	needs := make([]map[int][]string, len(b.m.steps)) // by step: in which outcomes which steps must have ended
	for _, i := range b.m.order {
		needs[i] = map[int][]string{}
		for _, c := range b.m.steps[i].When {
			on := b.m.index[c.Step]
			if slices.Contains(c.Outcomes, Skipped) {
				continue
			}
			narrow(needs[i], on, c.Outcomes)
			for k, outcomes := range needs[on] {
				narrow(needs[i], k, outcomes)
			}
		}
		for k, outcomes := range needs[i] {
			if len(outcomes) == 0 {
				b.warning(i, at("when"), "this step is never needed: its conditions want different outcomes of step %d", b.m.steps[k].ID)
				break
			}
		}
	}
}

// warnStopped warns of steps that are needed only if another one ends in an outcome that stops.
func (b *builder) warnStopped() {
	for i, s := range b.m.steps {
		for _, c := range s.When {
			on := &b.m.steps[b.m.index[c.Step]]
			if !slices.ContainsFunc(c.Outcomes, func(name string) bool { n := on.outcome(name); return n < 0 || !on.Outcomes[n].Stop }) {
				b.warning(i, at("when", id(c.Step)), "this step is never needed: when step %d ends as %s, nothing comes after it", c.Step,
					strings.Join(c.Outcomes, " or "))
				break
			}
		}
	}
}

// narrow intersects what is needed of step k with the outcomes.
func narrow(needs map[int][]string, k int, outcomes []string) {
	have, ok := needs[k]
	if !ok {
		needs[k] = outcomes
		return
	}
	needs[k] = slices.DeleteFunc(slices.Clone(have), func(o string) bool { return !slices.Contains(outcomes, o) })
}

// warnUseless warns of outcomes that change nothing: none has an effect, and no condition
// names one.
func (b *builder) warnUseless(i int) {
	s := &b.m.steps[i]
	named := slices.DeleteFunc(names(s.Outcomes), func(o string) bool { return o == Failed || o == Late })
	if len(named) < 2 { // with one that leads back, done is implied; but leading back is an effect
		return
	}
	effect := slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return o.effect() })
	used := slices.ContainsFunc(b.m.steps, func(x Step) bool {
		return slices.ContainsFunc(x.When, func(c Condition) bool { return c.Step == s.ID })
	})
	if !effect && !used && !s.Result {
		b.warning(i, at("outcomes"), `the outcomes of this step change nothing: no "when" names them, and none leads back, stops or has gates`)
	}
}

// warnTaken warns of a step that a person or a command decides, where an outcome that looks like one of
// theirs is only taken when another one is spent, so that they have to choose done.
func (b *builder) warnTaken(i int) {
	s := &b.m.steps[i]
	if s.Decides == Agent || !slices.Contains(s.Choices(), Done) || slices.Contains(names(s.Outcomes), Done) {
		return
	}
	for _, o := range s.Outcomes {
		if o.Back == 0 && o.Name != Failed && o.Name != Late { // with one that can be chosen, done would not be implied
			b.warning(i, at("outcomes"), "%s is only taken when another outcome is spent, and cannot be chosen: %s chooses among %s; "+
				"declare done if that is meant", quote(o.Name),
				map[Decider]string{Person: "the person", Command: "the command"}[s.Decides], strings.Join(s.Choices(), " and "))
			return
		}
	}
}

// effect reports whether the outcome does anything but end the step.
func (o Outcome) effect() bool { return o.Back != 0 || o.Stop || o.Gated }

// warnLeak warns of a step that comes only after the steps of one branch and has no condition
// itself: it is needed although they may not be.
func (b *builder) warnLeak(i int) {
	s := &b.m.steps[i]
	before := b.m.before[i]
	if len(before) == 0 || len(s.When) > 0 {
		return
	}
	conditions := b.m.conditions(before[0])
	for _, p := range before {
		if c := b.m.conditions(p); c == "" || c != conditions {
			b.warnNoBranch(i)
			return
		}
	}
	b.warning(i, at("blockedBy"), `it comes only after steps that are needed under one condition (%s) and has none: it is also needed when `+
		`they are not; give it the same "when", or let it depend on step %d, too, if that is meant`, conditions,
		b.m.steps[before[0]].When[0].Step)
}

// warnNoBranch warns of a step that comes only after the branches of one step, where that can end so that none
// of them is needed: the step is needed then, too.
func (b *builder) warnNoBranch(i int) {
	on, named := int64(0), []string{Skipped}
	for _, p := range b.m.before[i] {
		when := b.m.steps[p].When
		if len(when) != 1 || on != 0 && when[0].Step != on {
			return
		}
		on, named = when[0].Step, append(named, when[0].Outcomes...)
	}
	choice := &b.m.steps[b.m.index[on]]
	for _, name := range choice.endings() {
		if n := choice.outcome(name); !slices.Contains(named, name) && (n < 0 || !choice.Outcomes[n].Stop) {
			b.warning(i, at("blockedBy"), `it comes only after steps that are not needed if step %d ends as %s, and has no condition: it is needed `+
				`then, too; give it a "when", or let it depend on step %d if that is meant`, on, name, on)
			return
		}
	}
}

// conditions returns the conditions of a step as text; equal conditions have equal texts.
func (m *Machine) conditions(i int) string {
	var all []string
	for _, c := range m.steps[i].When {
		all = append(all, id(c.Step)+" as "+strings.Join(c.Outcomes, " or "))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
