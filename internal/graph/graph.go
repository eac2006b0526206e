// Package graph draws the steps of a workflow with their dependencies: as text, for
// Mermaid and Graphviz, and as a page that needs nothing else.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// State is how far a step is.
type State string

// The states of a step.
const (
	Done       State = "done"
	InProgress State = "in progress"
	Ready      State = "ready"   // every step before it is done
	Blocked    State = "blocked" // one is not
)

// Step is a step of a workflow.
type Step struct {
	ID          int64    `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitzero"`
	State       State    `json:"state"`
	BlockedBy   []int64  `json:"blockedBy"`      // only steps of this graph
	Gates       []string `json:"gates,omitzero"` // in words
	Layer       int      `json:"layer"`          // from 1: one more than the highest one before it
	Critical    bool     `json:"critical"`       // on the critical path
}

// Graph is a workflow and what its dependencies come to.
type Graph struct {
	Title    string     `json:"title"`
	Steps    []Step     `json:"steps"`
	Layers   int        `json:"layers"`
	Width    int        `json:"width"`    // the most steps of which none has to wait for another
	Critical []int64    `json:"critical"` // the longest chain, the first if there are several
	Cyclic   [][2]int64 `json:"cyclic"`   // dependencies, blocker first, that close a cycle

	after   [][]int // by index: the steps that wait for it, without cyclic dependencies
	before  [][]int
	reduced [][]int // after, without what follows from other dependencies
}

// New returns the graph of steps. Their states are Done, InProgress or anything else;
// it sets Ready and Blocked, Layer and Critical. Blockers that are not among the steps
// are left out: they count as done.
func New(title string, steps []Step) *Graph {
	g := &Graph{Title: title, Steps: slices.Clone(steps), Critical: []int64{}, Cyclic: [][2]int64{}}
	g.connect()
	g.layer()
	g.reduce()
	g.findCritical()
	g.Width = g.antichain()
	g.setStates()
	return g
}

// connect fills after and before, and takes out what closes a cycle.
func (g *Graph) connect() {
	index := map[int64]int{}
	for i, s := range g.Steps {
		index[s.ID] = i
	}
	g.after, g.before = make([][]int, len(g.Steps)), make([][]int, len(g.Steps))
	for i := range g.Steps {
		s := &g.Steps[i]
		s.BlockedBy = slices.DeleteFunc(slices.Clone(s.BlockedBy), func(id int64) bool { _, known := index[id]; return !known })
		slices.Sort(s.BlockedBy)
		s.BlockedBy = slices.Compact(s.BlockedBy)
		for _, id := range s.BlockedBy {
			g.after[index[id]] = append(g.after[index[id]], i)
		}
	}
	g.cut()
	for i, after := range g.after {
		for _, j := range after {
			g.before[j] = append(g.before[j], i)
		}
	}
}

// cut removes the dependencies that lead back to a step on the way, depth first.
func (g *Graph) cut() {
	const unseen, open, finished = 0, 1, 2
	mark := make([]int, len(g.Steps))
	var visit func(i int)
	visit = func(i int) {
		mark[i] = open
		g.after[i] = slices.DeleteFunc(g.after[i], func(j int) bool {
			if mark[j] == open {
				g.Cyclic = append(g.Cyclic, [2]int64{g.Steps[i].ID, g.Steps[j].ID})
				return true
			}
			if mark[j] == unseen {
				visit(j)
			}
			return false
		})
		mark[i] = finished
	}
	for i := range g.Steps {
		if mark[i] == unseen {
			visit(i)
		}
	}
}

// layer puts each step one layer below the lowest one that it waits for.
func (g *Graph) layer() {
	var depth func(i int) int
	depth = func(i int) int {
		if g.Steps[i].Layer == 0 {
			layer := 0
			for _, j := range g.before[i] {
				layer = max(layer, depth(j))
			}
			g.Steps[i].Layer = layer + 1
		}
		return g.Steps[i].Layer
	}
	for i := range g.Steps {
		g.Layers = max(g.Layers, depth(i))
	}
}

// order returns the steps by layer, and within a layer as they were given.
func (g *Graph) order() []int {
	order := make([]int, len(g.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Steps[a].Layer, g.Steps[b].Layer) })
	return order
}

// reachable returns which steps come after each one, directly or not.
func (g *Graph) reachable() [][]bool {
	reach := make([][]bool, len(g.Steps))
	order := g.order()
	for _, i := range slices.Backward(order) {
		reach[i] = make([]bool, len(g.Steps))
		for _, j := range g.after[i] {
			reach[i][j] = true
			for k, yes := range reach[j] {
				reach[i][k] = reach[i][k] || yes
			}
		}
	}
	return reach
}

// reduce fills reduced: a dependency that follows from others is not in it.
func (g *Graph) reduce() {
	reach := g.reachable()
	g.reduced = make([][]int, len(g.Steps))
	for i, after := range g.after {
		for _, j := range after {
			implied := slices.ContainsFunc(after, func(k int) bool { return k != j && reach[k][j] })
			if !implied {
				g.reduced[i] = append(g.reduced[i], j)
			}
		}
	}
}

// hidden returns how many dependencies reduced leaves out.
func (g *Graph) hidden() int {
	n := 0
	for i := range g.after {
		n += len(g.after[i]) - len(g.reduced[i])
	}
	return n
}

// findCritical follows the longest chain back from its last step.
func (g *Graph) findCritical() {
	last := slices.IndexFunc(g.Steps, func(s Step) bool { return s.Layer == g.Layers })
	for last >= 0 {
		g.Steps[last].Critical = true
		g.Critical = append([]int64{g.Steps[last].ID}, g.Critical...)
		i := slices.IndexFunc(g.before[last], func(j int) bool { return g.Steps[j].Layer == g.Steps[last].Layer-1 })
		if i < 0 {
			return
		}
		last = g.before[last][i]
	}
}

// antichain returns the largest number of steps of which none comes after another: as
// many as there are steps, less a largest matching of steps with ones after them
// (Dilworth).
func (g *Graph) antichain() int {
	reach := g.reachable()
	matched := make([]int, len(g.Steps)) // by the later step: 1 + the earlier one
	var seen []bool
	var augment func(i int) bool
	augment = func(i int) bool {
		for j, yes := range reach[i] {
			if !yes || seen[j] {
				continue
			}
			seen[j] = true
			if matched[j] == 0 || augment(matched[j]-1) {
				matched[j] = i + 1
				return true
			}
		}
		return false
	}
	width := len(g.Steps)
	for i := range g.Steps {
		seen = make([]bool, len(g.Steps))
		if augment(i) {
			width--
		}
	}
	return width
}

func (g *Graph) setStates() {
	done := map[int64]bool{}
	for _, s := range g.Steps {
		done[s.ID] = s.State == Done
	}
	for i := range g.Steps {
		s := &g.Steps[i]
		if s.State == Done || s.State == InProgress {
			continue
		}
		s.State = Ready
		if slices.ContainsFunc(s.BlockedBy, func(id int64) bool { return !done[id] }) {
			s.State = Blocked
		}
	}
}

// Summary says in one line how large the workflow is and how it can proceed.
func (g *Graph) Summary() string {
	if len(g.Steps) == 0 {
		return "no steps"
	}
	done := 0
	for _, s := range g.Steps {
		if s.State == Done {
			done++
		}
	}
	text := fmt.Sprintf("%s in %s, width %d", plural(len(g.Steps), "step"), plural(g.Layers, "layer"), g.Width)
	if done > 0 {
		text += fmt.Sprintf(", %d done", done)
	}
	return text
}

// Path returns the critical path in words: its length and its steps.
func (g *Graph) Path() string {
	ids := make([]string, len(g.Critical))
	for i, id := range g.Critical {
		ids[i] = fmt.Sprint(id)
	}
	return fmt.Sprintf("critical path of %s: %s", plural(len(g.Critical), "step"), strings.Join(ids, " → "))
}

// notes are what the drawing leaves out.
func (g *Graph) notes() (notes []string) {
	switch n := g.hidden(); n {
	case 0:
	case 1:
		notes = append(notes, "not drawn: 1 dependency that follows from others")
	default:
		notes = append(notes, fmt.Sprintf("not drawn: %d dependencies that follow from others", n))
	}
	for _, e := range g.Cyclic {
		notes = append(notes, fmt.Sprintf("not drawn: %d → %d, which closes a cycle: these steps wait for each other", e[0], e[1]))
	}
	return notes
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
