package machine

import "slices"

// Circular returns, by the id of a step, those of its blockers that wait for it themselves, directly or not. before has
// the blockers of each step.
func Circular(before map[int64][]int64) map[int64][]int64 {
	number, ring, path := map[int64]int{}, map[int64]int64{}, []int64{}
	var visit func(id int64) int
	visit = func(id int64) int { // Tarjan's strongly connected components
		own := len(number) + 1
		lowest := own
		number[id], path = own, append(path, id)
		for _, b := range before[id] {
			if _, closed := ring[b]; closed {
				continue
			}
			n, seen := number[b]
			if !seen {
				n = visit(b)
			}
			lowest = min(lowest, n)
		}
		if lowest == own {
			at := slices.Index(path, id)
			for _, member := range path[at:] {
				ring[member] = id
			}
			path = path[:at]
		}
		return lowest
	}
	circular := map[int64][]int64{}
	for id := range before {
		if number[id] == 0 {
			visit(id)
		}
	}
	for id, blockers := range before {
		for _, b := range blockers {
			if ring[b] == ring[id] {
				circular[id] = append(circular[id], b)
			}
		}
	}
	return circular
}
