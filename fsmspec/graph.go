package fsmspec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
)

// maxCycles is the largest number of cycles in the warnings: a dense graph can have far more
// than a person can read, each as long as the file.
const maxCycles = 100

// mirror completes BlockedBy of the tasks of a valid file from Blocks of the others, because
// a task list may order tasks by blockedBy alone (fact 36), and from When. Each blocker is listed once: first those in the entry itself,
// then the others in the order of the file, then the steps of conditions.
func mirror(entries []*entry) {
	blockers := make(map[int64][]int64, len(entries)) // by blocked task
	for _, e := range entries {
		for _, id := range e.task.Blocks {
			blockers[id] = append(blockers[id], e.task.ID)
		}
	}
	for _, e := range entries {
		e.task.BlockedBy = append(e.task.BlockedBy, blockers[e.task.ID]...)
		for _, c := range e.task.When {
			e.task.BlockedBy = append(e.task.BlockedBy, c.Step)
		}
		e.task.BlockedBy = distinct(e.task.BlockedBy)
	}
}

// loosen says which blockers wait for their task themselves: they do not hold it up, so that every task of a list can start.
func loosen(entries []*entry) {
	before := make(map[int64][]int64, len(entries))
	for _, e := range entries {
		before[e.task.ID] = e.task.BlockedBy
	}
	circular := machine.Circular(before)
	for _, e := range entries {
		e.task.Circular = circular[e.task.ID]
	}
}

// distinct removes repeated ids.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	return slices.DeleteFunc(ids, func(id int64) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}

// graph holds the dependencies of a valid file.
type graph struct {
	entries  []*entry
	index    map[int64]int // in entries, by id
	edges    [][]edge      // by the index of the blocker; each blocked task at most once, never the blocker itself
	warnings *report
	plain    bool // a cycle is allowed
}

// edge is a dependency of one task on another.
type edge struct {
	to  int       // index of the blocked task
	ref reference // the first reference in the file that states the dependency
}

// warnGraph adds the warnings about the dependencies of a valid file.
func warnGraph(entries []*entry, warnings *report, plain bool) {
	g := &graph{
		entries:  entries,
		index:    make(map[int64]int, len(entries)),
		edges:    make([][]edge, len(entries)),
		warnings: warnings,
		plain:    plain,
	}
	for i, e := range entries {
		g.index[e.task.ID] = i
	}
	g.connect()
	g.warnStarted()
	s := &search{graph: g, visited: make([]bool, len(entries)), position: make([]int, len(entries))}
	for i := range entries {
		if !s.visited[i] {
			s.visit(i)
		}
	}
}

// connect makes the edges and warns of references that add none.
func (g *graph) connect() {
	stated := make([][]edge, len(g.entries)) // in blockedBy, by the index of the blocker
	for i, e := range g.entries {
		g.edges[i] = g.edgesTo(e.blocks)
		for _, blocker := range g.edgesTo(e.blockedBy) {
			stated[blocker.to] = append(stated[blocker.to], edge{i, blocker.ref})
		}
	}
	for i, edges := range stated {
		g.merge(i, edges)
	}
}

// edgesTo returns an edge to each task that a list names, and warns of references to
// the task itself or to one that the list has named before.
func (g *graph) edgesTo(list []reference) []edge {
	var edges []edge
	seen := make(map[int64]bool)
	for _, ref := range list {
		switch {
		case seen[ref.id]:
			g.warn(ref, keepsMeaning, "%s lists %d more than once", ref.field, ref.id)
		case ref.id == ref.entry.task.ID:
			g.warn(ref, changesMeaning, "%s lists the task itself, which would then wait for itself", ref.field)
		default:
			edges = append(edges, edge{g.index[ref.id], ref})
		}
		seen[ref.id] = true
	}
	return edges
}

// merge adds the edges from blockedBy of other tasks to those from blocks of the blocker. An
// edge that is in both keeps the reference that comes first in the file. There is no
// warning for it, because task lists have both (fact 36).
func (g *graph) merge(blocker int, stated []edge) {
	known := make(map[int]int, len(g.edges[blocker])) // indices of edges, by blocked task
	for n, e := range g.edges[blocker] {
		known[e.to] = n
	}
	for _, e := range stated {
		if n, both := known[e.to]; both {
			if e.ref.at < g.edges[blocker][n].ref.at {
				g.edges[blocker][n].ref = e.ref
			}
			continue
		}
		g.edges[blocker] = append(g.edges[blocker], e)
	}
}

// warnStarted warns of tasks in progress that another task blocks.
func (g *graph) warnStarted() {
	warned := make([]bool, len(g.entries))
	for i, blocker := range g.entries {
		for _, e := range g.edges[i] {
			g.warnIfStarted(e.to, blocker, warned)
		}
	}
	for k, e := range g.entries {
		for _, c := range e.task.When {
			if i, ok := g.index[c.Step]; ok {
				g.warnIfStarted(k, g.entries[i], warned)
			}
		}
	}
}

func (g *graph) warnIfStarted(k int, blocker *entry, warned []bool) {
	blocked := g.entries[k]
	if blocked.task.Status != InProgress || blocker.task.Status == Completed || warned[k] {
		return
	}
	warned[k] = true
	g.warnings.note(blocked.statusAt, blocked, keepsMeaning, func() (pointer, text string) {
		return blocked.pointer("status"), fmt.Sprintf("in_progress while blocked by %s, which is %s", blocker.name(), blocker.task.Status)
	})
}

// warnEmpty warns of a file without steps. It is valid: it empties the task list.
func (p *parser) warnEmpty() {
	if len(p.entries) == 0 && len(p.problems.findings) == 0 {
		p.warn(0, "the file has no steps: calling the skill only removes the steps of other workflows from the task list")
	}
}

func (g *graph) warn(ref reference, effect bool, format string, args ...any) {
	g.warnings.note(ref.at, ref.entry, effect, func() (pointer, text string) {
		return ref.pointer(), fmt.Sprintf(format, args...)
	})
}

// search is a depth-first search for cycles: an edge to a task on the path closes one.
type search struct {
	graph    *graph
	path     []int  // indices of the tasks from the root to the current one
	visited  []bool // by index
	position []int  // by index: 1 + place on the path, or 0
	found    int
}

// visit recurses at most MaxTasks deep.
func (s *search) visit(i int) {
	s.path = append(s.path, i)
	s.position[i] = len(s.path)
	s.visited[i] = true
	for _, e := range s.graph.edges[i] {
		if n := s.position[e.to]; n > 0 {
			s.warn(s.path[n-1:], e.ref)
		} else if !s.visited[e.to] {
			s.visit(e.to)
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.position[i] = 0
}

func (s *search) warn(cycle []int, closing reference) {
	if s.found++; s.found > maxCycles {
		return
	}
	s.graph.warnings.note(closing.at, nil, changesMeaning, func() (pointer, text string) {
		var ids strings.Builder
		for _, i := range cycle {
			fmt.Fprintf(&ids, "%d -> ", s.graph.entries[i].task.ID)
		}
		first := s.graph.entries[cycle[0]].task.ID
		so := "none can start"
		if s.graph.plain {
			so = "none of them holds up another"
		}
		return closing.pointer(), fmt.Sprintf("cycle %s%d: each task blocks the next, so %s", ids.String(), first, so)
	})
}
