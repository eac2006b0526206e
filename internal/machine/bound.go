package machine

import "math"

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

// body is the body of one or more loops.
type body struct {
	steps set
	times int // how often it is opened again at most, each time that the loop around it comes round
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
		all = append(all, body{l.body, l.max})
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
