package machine

import (
	"fmt"
	"slices"
	"strconv"
)

// loops collects the loops and checks them: what each opens again, what depends on it, and
// that any two of them are apart or one inside the other.
func (b *builder) loops() {
	m := b.m
	for i := range m.steps {
		for n, o := range m.steps[i].Outcomes {
			if o.Back != 0 {
				b.loop(i, n, o)
			}
		}
	}
	for n, l := range m.loops {
		b.inside(l)
		for _, o := range m.loops[:n] {
			if l.overlaps(o) {
				b.fault(l.step, b.path(l), "the loop %s and the loop %s overlap, and neither contains the other: %s", m.span(o), m.span(l),
					m.apart(o, l))
			}
		}
	}
}

// overlaps reports whether two loops share steps, and neither contains the other.
func (l loop) overlaps(o loop) bool {
	return l.body.meets(o.body) && !l.body.within(o.body) && !o.body.within(l.body)
}

// apart says what to do about two loops that overlap.
func (m *Machine) apart(a, b loop) string {
	if m.past[a.step].has(b.step) {
		a, b = b, a
	}
	if !m.past[b.step].has(a.step) {
		return fmt.Sprintf("let one step that comes after steps %d and %d lead back instead", m.steps[a.step].ID, m.steps[b.step].ID)
	}
	return fmt.Sprintf("let step %d lead back to step %d, or to one after step %d", m.steps[b.step].ID, m.steps[a.back].ID, m.steps[a.step].ID)
}

// loop adds the loop of an outcome that leads back.
func (b *builder) loop(i, n int, o Outcome) {
	m := b.m
	back, ok := m.index[o.Back]
	if !ok || back != i && !m.past[i].has(back) {
		what := "does not come before this one"
		if !ok {
			what = "is not in the same array"
		}
		b.fault(i, at("outcomes", o.Name, "back"), "%s leads back to step %d, which %s", o.Name, o.Back, what)
		return
	}
	body := newSet(len(m.steps))
	for x := range m.steps {
		if (x == back || m.past[x].has(back)) && (x == i || m.past[i].has(x)) {
			body.add(x)
		}
	}
	m.loops = append(m.loops, loop{i, n, back, o.Max, body})
}

// inside notes the steps outside a loop that depend on a step inside it without depending on
// its end: they could be in progress or done when the loop comes round. Of those of a loop that
// overlaps it, that alone is said.
func (b *builder) inside(l loop) {
	m := b.m
	for x := range m.steps {
		if l.body.has(x) || m.past[x].has(l.step) ||
			slices.ContainsFunc(m.loops, func(o loop) bool { return o.body.has(x) && o.overlaps(l) }) {
			continue
		}
		for _, p := range m.before[x] {
			if p != l.step && l.body.has(p) {
				b.fault(x, m.reference(x, p), "it depends on step %d, which is inside the loop %s: let it depend on step %d, too", m.steps[p].ID,
					m.span(l), m.steps[l.step].ID)
			}
		}
	}
}

// reference returns where step x names step p.
func (m *Machine) reference(x, p int) []string {
	for n, id := range m.steps[x].BlockedBy {
		if id == m.steps[p].ID {
			return at("blockedBy", strconv.Itoa(n))
		}
	}
	return at("when", id(m.steps[p].ID))
}

func (b *builder) path(l loop) []string {
	return at("outcomes", b.m.steps[l.step].Outcomes[l.outcome].Name, "back")
}

// span returns a loop for messages, such as 1–3: the step to which it leads back, and its
// end.
func (m *Machine) span(l loop) string {
	return id(m.steps[l.back].ID) + "–" + id(m.steps[l.step].ID)
}
