package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Fault is something that is wrong with a workflow, or a warning about it.
type Fault struct {
	Step    int      // index of the step
	Path    []string // where in the step: keys and indices of its JSON, such as outcomes, changes, back
	Text    string   // what is wrong, in one line
	Warning bool     // the workflow is valid nevertheless, but probably does not mean what its author meant
}

// New proves that a workflow ends whatever happens, and that no step in progress is opened
// again or left out. It returns what is wrong and what is suspicious, in the order of the
// steps. The machine is nil unless all of it is warnings.
func New(steps []Step) (*Machine, []Fault) {
	b := &builder{m: &Machine{steps: steps, index: make(map[int64]int, len(steps))}}
	if b.link() && b.sort() {
		b.declarations()
		b.loops()
	}
	if len(b.faults) == 0 {
		b.warn()
	}
	slices.SortStableFunc(b.faults, func(a, o Fault) int { return cmp.Compare(a.Step, o.Step) })
	if slices.ContainsFunc(b.faults, func(f Fault) bool { return !f.Warning }) {
		return nil, b.faults
	}
	return b.m, b.faults
}

type builder struct {
	m      *Machine
	faults []Fault
}

func (b *builder) fault(step int, path []string, format string, args ...any) {
	b.faults = append(b.faults, Fault{Step: step, Path: path, Text: fmt.Sprintf(format, args...)})
}

func (b *builder) warning(step int, path []string, format string, args ...any) {
	b.faults = append(b.faults, Fault{Step: step, Path: path, Text: fmt.Sprintf(format, args...), Warning: true})
}

func at(keys ...string) []string { return keys }

// link resolves the references between steps. It reports whether all of them are valid.
func (b *builder) link() bool {
	m := b.m
	for i, s := range m.steps {
		if _, again := m.index[s.ID]; again {
			b.fault(i, at("id"), "duplicate id %d", s.ID)
		}
		m.index[s.ID] = i
	}
	m.before = make([][]int, len(m.steps))
	for i := range m.steps {
		s := &m.steps[i]
		for n, id := range s.BlockedBy {
			b.before(i, id, at("blockedBy", strconv.Itoa(n)))
		}
		for _, c := range s.When {
			b.before(i, c.Step, at("when", id(c.Step)))
		}
	}
	return len(b.faults) == 0
}

func id(n int64) string { return strconv.FormatInt(n, 10) }

func (b *builder) before(i int, id int64, path []string) {
	j, ok := b.m.index[id]
	if !ok {
		b.fault(i, path, "there is no step %d", id)
		return
	}
	if !slices.Contains(b.m.before[i], j) {
		b.m.before[i] = append(b.m.before[i], j)
	}
}

// sort orders the steps, each after those before it, and collects what comes before each. It
// reports whether that is possible.
func (b *builder) sort() bool {
	m := b.m
	m.past = make([]set, len(m.steps))
	waiting, after := make([]int, len(m.steps)), make([][]int, len(m.steps))
	for i, before := range m.before {
		m.past[i] = newSet(len(m.steps))
		waiting[i] = len(before)
		for _, j := range before {
			after[j] = append(after[j], i)
		}
	}
	for i := range m.steps {
		if waiting[i] == 0 {
			m.order = append(m.order, i)
		}
	}
	for n := 0; n < len(m.order); n++ {
		i := m.order[n]
		for _, j := range after[i] {
			m.past[j].add(i)
			m.past[j].addAll(m.past[i])
			if waiting[j]--; waiting[j] == 0 {
				m.order = append(m.order, j)
			}
		}
	}
	if len(m.order) < len(m.steps) {
		b.cycle()
		return false
	}
	return true
}

// cycle notes one cycle, which exists. Walking backwards among the steps that could not be
// ordered must come to a step twice.
func (b *builder) cycle() {
	left := newSet(len(b.m.steps))
	for i := range b.m.steps {
		if !slices.Contains(b.m.order, i) {
			left.add(i)
		}
	}
	i := slices.IndexFunc(b.m.steps, func(s Step) bool { return left.has(b.m.index[s.ID]) })
	var walk []int
	for !slices.Contains(walk, i) {
		walk = append(walk, i)
		i = b.m.before[i][slices.IndexFunc(b.m.before[i], left.has)]
	}
	walk = walk[slices.Index(walk, i):]
	slices.Reverse(walk)
	first := slices.Index(walk, slices.Min(walk))
	walk = append(walk[first:], walk[:first]...)
	var names []string
	for _, i := range append(walk, walk[0]) {
		names = append(names, id(b.m.steps[i].ID))
	}
	b.fault(walk[0], nil, "cycle %s: each step comes before the next, so none can start", strings.Join(names, " -> "))
}

// declarations checks the outcomes and conditions of each step by themselves.
func (b *builder) declarations() {
	for i := range b.m.steps {
		s := &b.m.steps[i]
		choices := s.Choices()
		for n := range s.Outcomes {
			b.outcome(i, s, &s.Outcomes[n])
		}
		b.thens(i, s)
		if slices.Contains(choices, Done) && s.outcome(Done) >= 0 && !s.choosable(Done) {
			b.fault(i, at("outcomes", Done),
				"every outcome of this step that can be chosen leads back, and done is taken only when one is spent: add an outcome that goes forward")
		}
		if n := len(choices); s.Decides == Person && (n < minChoices || n > maxChoices) {
			b.fault(i, at("decides"), "a person chooses among %d to %d outcomes, and this step has %s", minChoices, maxChoices,
				choosable(choices))
		}
		if n := len(choices); s.Decides == Command && n < 2 {
			b.fault(i, at("decides"), "a command chooses among at least 2 outcomes, and this step has %s", choosable(choices))
		}
		if endings := s.endings(); s.Done && len(endings) > 1 {
			b.fault(i, at("status"), "a completed step cannot have more than one outcome that goes forward (%s)", strings.Join(endings, ", "))
		}
		for _, c := range s.When {
			for n, name := range c.Outcomes {
				b.condition(i, c, n, name)
			}
		}
	}
}

func choosable(names []string) string {
	if len(names) == 1 {
		return "only " + names[0] + " that can be chosen"
	}
	return fmt.Sprintf("%d that can be chosen (%s)", len(names), strings.Join(names, ", "))
}

func (b *builder) outcome(i int, s *Step, o *Outcome) {
	path := func(member string) []string { return at("outcomes", o.Name, member) }
	switch {
	case o.Name == Skipped:
		b.fault(i, at("outcomes", o.Name), "skipped cannot be declared: a step ends so when it is not needed, or when a person skips it")
	case o.Name == Failed && !s.Check:
		b.fault(i, at("outcomes", o.Name),
			`a step ends as failed when its check fails, and this step has none: add "check", or give the outcome another name`)
	case o.Name == Late && !s.Limit:
		b.fault(i, at("outcomes", o.Name), `a step ends as late when its time limit has passed, and this step has none: add "within"`)
	case o.Name == Late && o.Back != 0:
		b.fault(i, path("back"), "late cannot lead back: nobody would be there to go on")
	case o.Name == Late && (o.Gated || o.Approval):
		b.fault(i, at("outcomes", o.Name), "late cannot have gates: the clock decides it, and asks none")
	case o.Name == Done && o.Back != 0:
		b.fault(i, path("back"), "done cannot lead back: give the outcome another name")
	}
	if o.Back == 0 {
		b.forward(i, o, path)
		return
	}
	switch {
	case o.Max == 0:
		b.fault(i, at("outcomes", o.Name), `%s leads back and has no "max": say how often it may, 1 to %d`, o.Name, MaxTimes)
	case o.Max < 1 || o.Max > MaxTimes:
		b.fault(i, path("max"), "max must be 1 to %d, not %d", MaxTimes, o.Max)
	}
	if o.Stop {
		b.fault(i, path("stop"), "%s cannot both lead back and stop the workflow", o.Name)
	}
	if o.Approval {
		b.fault(i, path("approval"), "%s leads back, which needs no approval", o.Name)
	}
}

func (b *builder) forward(i int, o *Outcome, path func(string) []string) {
	if o.Max != 0 {
		b.fault(i, path("max"), `%s has "max" but does not lead back: add "back"`, o.Name)
	}
	if o.Then != "" {
		b.fault(i, path("then"), `%s has "then" but does not lead back: add "back"`, o.Name)
	}
}

// thens checks that each Then is an outcome, and that following them ends.
func (b *builder) thens(i int, s *Step) {
	for _, o := range s.Outcomes {
		seen := []string{o.Name}
		for then := o.Then; then != ""; {
			n := s.outcome(then)
			if n < 0 {
				if len(seen) == 1 {
					b.fault(i, at("outcomes", o.Name, "then"), "then names %s, which is not an outcome of this step%s", quote(then),
						near(then, names(s.Outcomes)))
				}
				break
			}
			if slices.Contains(seen, then) {
				if then == o.Name {
					b.fault(i, at("outcomes", o.Name, "then"), "a circle of then: %s -> %s", strings.Join(seen, " -> "), then)
				}
				break
			}
			seen, then = append(seen, then), s.Outcomes[n].Then
		}
	}
}

func names(all []Outcome) (names []string) {
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}

// condition checks one outcome that a condition names.
func (b *builder) condition(i int, c Condition, n int, name string) {
	on := &b.m.steps[b.m.index[c.Step]]
	path := at("when", id(c.Step), strconv.Itoa(n))
	switch o := on.outcome(name); {
	case on.endsIn(name):
	case o >= 0:
		b.fault(i, path, "when: %s of step %d leads back to step %d, so nothing comes after it", quote(name), c.Step, on.Outcomes[o].Back)
	default:
		hint := near(name, on.endings())
		if on.Join {
			hint = ": each of its lines ends by itself"
		}
		b.fault(i, path, "when: step %d cannot end as %s, only as %s%s", c.Step, quote(name),
			strings.Join(append(on.endings(), Skipped), ", "), hint)
	}
}

func quote(text string) string { return strconv.QuoteToGraphic(text) }

// near returns a hint that names the known word that was probably meant, or "".
func near(word string, known []string) string {
	best, least := "", 1+(len(word)+1)/3
	for _, k := range known {
		if d := message.Distance(word, k, least); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}
