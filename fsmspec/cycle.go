package fsmspec

import (
	"fmt"
	"strings"
)

// maxCycles bounds the cycles that are warned of: a dense graph has more of
// them than anybody could read, each as long as the file.
const maxCycles = 100

// search looks for cycles depth first. Each edge back to a task of the path
// closes one; without those edges there would be none.
type search struct {
	*graph
	path  []int // indices of the tasks from the root to where the search is
	depth []int // 1 + place in path; 0 for not yet visited, left for done
	found int
}

const left = -1

func (g *graph) warnCycles() {
	s := &search{graph: g, depth: make([]int, len(g.entries))}
	for i := range g.entries {
		if s.depth[i] == 0 {
			s.visit(i)
		}
	}
}

// visit recurses at most MaxTasks deep.
func (s *search) visit(i int) {
	s.path = append(s.path, i)
	s.depth[i] = len(s.path)
	for _, e := range s.edges[i] {
		switch depth := s.depth[e.to]; {
		case depth == 0:
			s.visit(e.to)
		case depth != left:
			s.warn(s.path[depth-1:], e.ref)
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.depth[i] = left
}

func (s *search) warn(cycle []int, closing reference) {
	if s.found++; s.found > maxCycles || s.warnings.turnsAway() {
		return
	}
	var text strings.Builder
	for _, i := range cycle {
		fmt.Fprintf(&text, "%d -> ", s.entries[i].ID)
	}
	s.warnings.add(finding{closing.at, closing.pointer(),
		fmt.Sprintf("cycle: %s%d, where each task blocks the next, so none can start", text.String(), s.entries[cycle[0]].ID), nowhere})
}
