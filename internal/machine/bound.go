package machine

import (
	"cmp"
	"math"
	"slices"
)

// Runs returns how often a step can be completed at most: the product, over the bodies of
// loops that contain it, of 1 and the sum of their Max. It is at most math.MaxInt32.
func (m *Machine) Runs(id int64) int {
	i, ok := m.index[id]
	if !ok {
		return 0
	}
	return runs(m.bodies(), i)
}

// Bound returns how many steps are completed at most until the workflow ends. It is at most
// math.MaxInt32.
func (m *Machine) Bound() int {
	bodies, sum := m.bodies(), 0
	for i := range m.steps {
		sum = saturated(sum + runs(bodies, i))
	}
	return sum
}

// Stretch is what one or more loops open again.
type Stretch struct {
	From, To int64   // its first and its last step
	Times    int     // how often it is worked on at most, each time that the stretch around it is
	Steps    []int64 // in the order of the workflow
}

// Stretches returns the stretches, the larger ones first.
func (m *Machine) Stretches() (all []Stretch) {
	bodies := m.bodies()
	slices.SortStableFunc(bodies, func(a, b body) int { return cmp.Compare(b.steps.len(), a.steps.len()) })
	for _, b := range bodies {
		all = append(all, Stretch{m.steps[b.from].ID, m.steps[b.to].ID, 1 + b.times, m.ids(b.steps)})
	}
	return all
}

// body is the body of one or more loops.
type body struct {
	steps set
	times int // how often it is opened again at most, each time that the loop around it comes round

	from, to int // its first and its last step
}

// bodies returns the different bodies of loops.
func (m *Machine) bodies() (all []body) {
next:
	for _, l := range m.loops {
		for i := range all {
			if all[i].steps.equal(l.body) {
				all[i].times += l.max
				continue next
			}
		}
		all = append(all, body{l.body, l.max, l.back, l.step})
	}
	return all
}

func runs(bodies []body, i int) int {
	product := 1
	for _, b := range bodies {
		if b.steps.has(i) {
			product = saturated(product * (1 + b.times))
		}
	}
	return product
}

func saturated(n int) int { return min(n, math.MaxInt32) }
