package fsmspec

import "fmt"

// graph is who blocks whom in a valid file.
type graph struct {
	*parser
	index map[int64]int // of the entry with an id
	edges [][]edge      // by the index of the blocker; each task at most once, never itself
}

// edge says that a task blocks the one with the index to; ref is where the file
// says so first.
type edge struct {
	to  int
	ref reference
}

// warnGraph warns of what is odd about the dependencies of a valid file.
func (p *parser) warnGraph() {
	g := &graph{parser: p, index: make(map[int64]int, len(p.entries)), edges: make([][]edge, len(p.entries))}
	for i, e := range p.entries {
		g.index[e.ID] = i
	}
	g.connect()
	g.warnStarted()
	g.warnCycles()
}

// connect makes the edges, and warns of references that add none.
func (g *graph) connect() {
	stated := make([][]edge, len(g.entries)) // in blockedBy, by the index of the blocker
	last := make([]int, len(g.entries))      // number of the list that named a task last
	list := 0
	for i, e := range g.entries {
		list++
		for _, ref := range e.blocks {
			if g.adds(ref, last, list) {
				g.edges[i] = append(g.edges[i], edge{g.index[ref.id], ref})
			}
		}
		list++
		for _, ref := range e.blockedBy {
			if g.adds(ref, last, list) {
				blocker := g.index[ref.id]
				stated[blocker] = append(stated[blocker], edge{i, ref})
			}
		}
	}
	g.merge(stated)
}

// adds reports whether ref names another task for the first time in its list,
// and warns if not. last is 0 for a task that no list has named.
func (g *graph) adds(ref reference, last []int, list int) bool {
	named := g.index[ref.id]
	twice := last[named] == list
	last[named] = list
	switch {
	case twice:
		g.warnAt(ref, "%s names %d more than once", ref.field, ref.id)
	case named == ref.entry:
		g.warnAt(ref, "%s names the task itself, which then waits for itself", ref.field)
	default:
		return true
	}
	return false
}

// merge adds the edges that blockedBy states to those that blocks states, and
// warns of those that both state.
func (g *graph) merge(stated [][]edge) {
	known := make([]int, len(g.entries)) // 1 + index among the blocker's edges
	for i, more := range stated {
		for n, e := range g.edges[i] {
			known[e.to] = n + 1
		}
		blocks := len(g.edges[i])
		for _, e := range more {
			if n := known[e.to]; n > 0 {
				g.warnTwice(&g.edges[i][n-1], e.ref)
				continue
			}
			g.edges[i] = append(g.edges[i], e)
		}
		for _, e := range g.edges[i][:blocks] {
			known[e.to] = 0
		}
	}
}

func (g *graph) warnTwice(e *edge, other reference) {
	first, again := e.ref, other
	if again.at < first.at {
		first, again = again, first
	}
	e.ref = first
	g.warnAt(again, "%s %d says again what %s of %s says at %s",
		again.field, again.id, first.field, g.name(first.entry), g.pos.At(first.at))
}

// warnStarted warns of tasks in progress that still wait for another.
func (g *graph) warnStarted() {
	warned := make([]bool, len(g.entries))
	for i, edges := range g.edges {
		if g.entries[i].Status == Completed {
			continue
		}
		for _, e := range edges {
			blocked := g.entries[e.to]
			if blocked.Status != InProgress || warned[e.to] || g.warnings.turnsAway() {
				continue
			}
			warned[e.to] = true
			g.warnings.add(finding{blocked.statusAt, fmt.Sprintf("/%d/status", e.to),
				fmt.Sprintf("in_progress while blocked by %s, which is %s", g.name(i), g.entries[i].Status), e.to})
		}
	}
}

func (g *graph) warnAt(ref reference, format string, args ...any) {
	if !g.warnings.turnsAway() {
		g.warnings.add(finding{ref.at, ref.pointer(), fmt.Sprintf(format, args...), ref.entry})
	}
}
