package machine

import "slices"

// Ending is how a step ended.
type Ending struct {
	Step    int64
	Outcome string
}

// maxTries limits the ways through a workflow that Unset tries.
const maxTries = 20_000

// Unset reports whether a step can be worked on although none of the setters, which give a
// value when they are completed, has done so; and how the steps before it end in that case.
// A setter that is not needed, or that ends as late, is never completed and gives no value. That a person
// skips a step is considered only where a condition names that.
//
// If there are too many ways, it reports false. The workflow has been proven; see New.
func (m *Machine) Unset(id int64, setters []int64) (how []Ending, ok bool) {
	n := m.index[id]
	w := m.walk(setters, func(i int) bool { return m.past[n].has(i) })
	w.order, w.worked = m.relevant(w.setters, n), true
	if !w.from(0) || w.tries < 0 {
		return nil, false
	}
	return w.how, true
}

// UnsetAtEnd reports whether all steps can be done although none of the setters has given the
// value; see Unset. What a stop leaves out is not thought of.
func (m *Machine) UnsetAtEnd(setters []int64) bool {
	w := m.walk(setters, func(int) bool { return true })
	w.order = m.relevant(w.setters)
	return w.from(0) && w.tries >= 0
}

// walk returns the beginning of a walk that looks for a way past those of the setters that count.
func (m *Machine) walk(setters []int64, counts func(i int) bool) *unsetWalk {
	w := &unsetWalk{m: m, setters: newSet(len(m.steps)), outcomes: make([]string, len(m.steps)), tries: maxTries, known: map[int][]string{}}
	for _, s := range setters {
		if i := m.index[s]; counts(i) {
			w.setters.add(i)
		}
	}
	return w
}

// relevant returns the setters and other steps, and the steps on which it depends whether they are
// needed, each after those before it.
func (m *Machine) relevant(setters set, others ...int) (order []int) {
	in := newSet(len(m.steps))
	in.addAll(setters)
	for _, n := range others {
		in.add(n)
	}
	for _, i := range slices.Backward(m.order) {
		if in.has(i) {
			for _, c := range m.steps[i].When {
				in.add(m.index[c.Step])
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.order), func(i int) bool { return !in.has(i) })
}

// unsetWalk tries the ways in which steps can end, one after the other.
type unsetWalk struct {
	m        *Machine
	setters  set
	order    []int    // the steps
	worked   bool     // the last one is to be worked on
	outcomes []string // by index
	tries    int      // left
	how      []Ending
	known    map[int][]string // options of a step
}

// from reports whether the steps from the one with the index k in the order on can end so that no
// setter has given its value, and the last is needed if it is to be worked on.
func (w *unsetWalk) from(k int) bool {
	if k == len(w.order) {
		return true
	}
	i := w.order[k]
	needed := !slices.ContainsFunc(w.m.steps[i].When, func(c Condition) bool {
		return !slices.Contains(c.Outcomes, w.outcomes[w.m.index[c.Step]])
	})
	if w.tries--; w.tries < 0 || w.worked && k == len(w.order)-1 {
		return w.tries >= 0 && needed
	}
	options := []string{Skipped}
	if needed {
		options = w.options(i)
	}
	for _, o := range options {
		w.outcomes[i] = o
		if w.from(k + 1) {
			if w.setters.has(i) || len(options) > 1 {
				w.how = append([]Ending{{w.m.steps[i].ID, o}}, w.how...)
			}
			return true
		}
	}
	return false
}

// options returns the outcomes of a step that is needed which have to be told apart: those that
// a condition names, and one of the others. A setter has only those without a value.
func (w *unsetWalk) options(i int) (all []string) {
	if all, ok := w.known[i]; ok {
		return all
	}
	defer func() { w.known[i] = all }()
	s := &w.m.steps[i]
	named := map[string]bool{}
	for _, j := range w.order {
		for _, c := range w.m.steps[j].When {
			for _, o := range c.Outcomes {
				named[o] = named[o] || w.m.index[c.Step] == i
			}
		}
	}
	other := false
	for _, o := range s.endings() {
		n := s.outcome(o)
		switch {
		case n >= 0 && s.Outcomes[n].Stop, w.setters.has(i) && o != Late:
		case named[o]:
			all = append(all, o)
		case !other:
			all, other = append(all, o), true
		}
	}
	if named[Skipped] && !s.Done {
		all = append(all, Skipped)
	}
	return all
}
