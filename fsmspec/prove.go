package fsmspec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/machine"
)

// mark records the offset of a value of the entry, for the problems that are found only when
// the whole file is known.
func (e *entry) mark(at int, path ...string) {
	if e.places == nil {
		e.places = map[string]int{}
	}
	e.places[strings.Join(path, "/")] = at
}

// pointer returns the pointer of a value of the entry.
func (e *entry) pointer(path ...string) string {
	p := jsontext.Pointer(fmt.Sprintf("%s/%d", e.root, e.index))
	for _, token := range path {
		p = p.AppendToken(token)
	}
	return string(p)
}

// prove adds what the machine finds wrong or suspicious about the steps of a level, and returns
// the machine, nil if something is wrong.
func (p *parser) prove(entries []*entry, steps []machine.Step) *machine.Machine {
	m, faults := machine.New(steps)
	for _, f := range faults {
		e := entries[f.Step]
		at, path := e.place(f.Path, steps[f.Step])
		r, effect := &p.problems, keepsMeaning
		if f.Warning {
			r, effect = &p.warnings, changesMeaning
		}
		about := e
		if len(f.Path) == 0 {
			about = nil // about the workflow as a whole
		}
		r.note(at, about, effect, func() (pointer, text string) { return e.pointer(path...), f.Text })
		if f.Warning && len(path) > 0 && path[0] == "when" {
			p.unreachedOnly(e, "is never needed")
		}
	}
	for _, e := range entries {
		if e.task.Status == Completed {
			p.unreachedOnly(e, "is completed from the start")
		}
	}
	return m
}

// ForMachine returns the task for the machine.
func (t Task) ForMachine() machine.Step {
	s := machine.Step{ID: t.ID, BlockedBy: t.BlockedBy, When: t.When, Decides: t.Decides, Check: t.Check != nil, Limit: t.Within > 0,
		Done: t.Status == Completed}
	for _, o := range t.Outcomes {
		s.Outcomes = append(s.Outcomes, machine.Outcome{
			Name: o.Name, Back: o.Back, Max: o.Max, Then: o.Then, Stop: o.Stop, Approval: o.Approval != "", Gated: len(o.Gates()) > 0,
		})
	}
	return s
}

// place returns the offset and the path of the value of the entry that a fault is about, or
// of the nearest one around it whose offset is known.
func (e *entry) place(path []string, s machine.Step) (at int, known []string) {
	if len(path) == 2 && path[0] == "blockedBy" {
		if n, err := strconv.Atoi(path[1]); err == nil && n < len(s.BlockedBy) {
			if i := slices.IndexFunc(e.blockedBy, func(r reference) bool { return r.id == s.BlockedBy[n] }); i >= 0 {
				return e.blockedBy[i].at, []string{"blockedBy", strconv.Itoa(e.blockedBy[i].index)}
			}
		}
	}
	for n := len(path); n > 0; n-- {
		if at, ok := e.places[strings.Join(path[:n], "/")]; ok {
			return at, path[:n]
		}
	}
	return e.at, nil
}

// promote turns the warnings about cycles into problems: in a workflow with outcomes every
// step must be able to start.
func (p *parser) promote() {
	for _, f := range p.warnings.findings {
		if f.effect {
			p.problems.findings = append(p.problems.findings, f)
		}
	}
	p.warnings.findings = slices.DeleteFunc(p.warnings.findings, func(f finding) bool { return f.effect })
}

// Bound is the largest number of steps that are completed until a workflow ends, and the
// loops that it comes from.
type Bound struct {
	Steps int         // with the parts of steps, without what is done for each line
	Items []ItemBound // what is done for each line
	Loops []LoopBound // the outer ones first
}

// ItemBound is how many steps are completed at most for each line of a step with Each.
type ItemBound struct {
	Step  []int64 // local ids: of the step, after those of the steps that it is a part of
	Steps int
}

// LoopBound is a stretch of a workflow that can be opened again.
type LoopBound struct {
	In       []int64 // local ids of the steps that it is a part of, the outermost first
	From, To int64   // local ids of its first and its last step
	Times    int     // how often it is worked on at most, each time that the loop around it comes round
	Inside   int     // index in Bound.Loops of the loop around it, the smallest one; -1 if there is none
}

// span returns what is repeated, with the word loop and without.
func (l LoopBound) span() (what, span string) {
	at := func(id int64) string { return dotted(append(l.In[:len(l.In):len(l.In)], id)...) }
	if l.From == l.To {
		return "step " + at(l.From), "step " + at(l.From)
	}
	span = at(l.From) + "–" + at(l.To)
	return "the loop " + span, span
}

// bound returns the bound of the level, which is a part of the steps in path.
func (l level) bound(path []int64) Bound {
	if l.machine == nil {
		return Bound{Steps: len(l.steps)}
	}
	b := Bound{Steps: l.machine.Bound()}
	stretches := l.machine.Stretches()
	around := func(id int64, among []machine.Stretch) int { // the smaller ones come last
		for i, s := range slices.Backward(among) {
			if slices.Contains(s.Steps, id) {
				return i
			}
		}
		return -1
	}
	for i, s := range stretches {
		b.Loops = append(b.Loops, LoopBound{path, s.From, s.To, s.Times, around(s.From, stretches[:i])})
	}
	for _, s := range l.steps {
		if s.parts.machine == nil {
			continue
		}
		at := append(path[:len(path):len(path)], s.task.ID)
		inner, runs := s.parts.bound(at), l.machine.Runs(s.task.ID)
		if s.task.Each != nil {
			b.Items = append(b.Items, ItemBound{at, min(runs*inner.Steps, math.MaxInt32)})
		} else {
			b.Steps = min(b.Steps+runs*inner.Steps, math.MaxInt32)
		}
		outer, before := around(s.task.ID, stretches), len(b.Loops)
		for _, i := range inner.Loops {
			if i.Inside += before; i.Inside < before {
				i.Inside = outer
			}
			b.Loops = append(b.Loops, i)
		}
		for _, i := range inner.Items {
			b.Items = append(b.Items, ItemBound{i.Step, min(runs*i.Steps, math.MaxInt32)})
		}
	}
	return b
}

// warnBound warns if the levels together have a large bound, and none of them by itself.
func (p *parser) warnBound(s *Spec) {
	bound := s.Bound()
	if bound.Steps <= machine.LargeBound || len(bound.Loops) == 0 || s.steps.hasLargeBound() {
		return
	}
	p.warnings.note(p.entries[0].at, nil, changesMeaning, func() (pointer, text string) {
		return p.entries[0].pointer(), fmt.Sprintf("up to %d steps may have to be completed until this workflow ends: lower max of its loops",
			bound.Steps)
	})
}

// hasLargeBound reports whether a level has a large bound by itself, of which its machine warns.
func (l level) hasLargeBound() bool {
	return l.machine != nil && l.machine.Bound() > machine.LargeBound ||
		slices.ContainsFunc(l.steps, func(s step) bool { return s.parts.hasLargeBound() })
}

// String returns, for example, "at most 38 steps are completed: the loop 1–2 up to 4 times,
// inside 1–3 up to 4 times", or "at most 5 steps are completed, and 8 for each item: the loop
// 2.1–2.2 up to 4 times".
func (b Bound) String() string {
	text := fmt.Sprintf("at most %d steps are completed", b.Steps)
	if b.Steps == 1 {
		text = "at most 1 step is completed"
	}
	for _, i := range b.Items {
		text += fmt.Sprintf(", and %d for each item", i.Steps)
		if len(b.Items) > 1 {
			text += " of step " + dotted(i.Step...)
		}
	}
	if loops, _ := b.inside(-1); len(loops) > 0 {
		text += ": " + strings.Join(loops, ", ")
	}
	return text
}

// inside describes the loops inside another one, -1 for all, each after those that are inside it.
// direct is how many are not inside another one in between.
func (b Bound) inside(outer int) (all []string, direct int) {
	for i, l := range b.Loops {
		if l.Inside != outer {
			continue
		}
		what, span := l.span()
		inner, n := b.inside(i)
		if n > 0 {
			what = [...]string{"inside ", "both inside ", "all inside "}[min(n, 3)-1] + span
		}
		all, direct = append(all, append(inner, fmt.Sprintf("%s up to %d times", what, l.Times))...), direct+1
	}
	return all, direct
}

// dotted returns the ids of a step and of those that it is a part of, such as 2.1.
func dotted(ids ...int64) string {
	var words []string
	for _, id := range ids {
		words = append(words, strconv.FormatInt(id, 10))
	}
	return strings.Join(words, ".")
}
