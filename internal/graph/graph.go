// Package graph draws the steps of a workflow and their dependencies: as text, for Mermaid,
// and as a self-contained HTML page.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// State is the state of a step: one of these, or another that a step of a list has, in the word that state.Word is for it.
type State string

// The states that are drawn, each in a way of its own.
const (
	Done       State = "done"
	InProgress State = "in progress"
	Ready      State = "ready"   // every step before it is done
	Blocked    State = "blocked" // a step before it, or under it, is not done
	NotNeeded  State = "not needed"
	Skipped    State = "skipped"
)

// The others.
const (
	gone      State = "gone"
	checking  State = "checking"
	unchecked State = "unchecked"
	awaits    State = "waiting for a person"
	offRecord State = "not on record"
)

// Step is a step of a workflow.
type Step struct {
	ID          int64    `json:"id"`
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitzero"`
	State       State    `json:"state"`
	BlockedBy   []int64  `json:"blockedBy"`      // ids of steps of this graph
	Gates       []string `json:"gates,omitzero"` // in words
	Layer       int      `json:"layer"`          // 1, or one more than the highest layer of its blockers
	Critical    bool     `json:"critical"`       // on the critical path

	// Empty unless the step declares outcomes or conditions.
	Outcomes []Outcome   `json:"outcomes,omitzero"`
	Decides  string      `json:"decides,omitzero"` // who says which outcome, if that is not the agent: person or command
	When     []Condition `json:"when,omitzero"`
	Outcome  string      `json:"outcome,omitzero"` // in which it ended
	Round    int         `json:"round,omitzero"`   // from 1
	Rounds   int         `json:"rounds,omitzero"`  // the largest number of rounds; 0 if it is in several loops or in none

	// Of a step that consists of others, and of these.
	Number string `json:"number,omitzero"` // what the drawing calls it, such as 2.1; empty is the ID
	Parent int64  `json:"parent,omitzero"` // id of the step that it is a part of; 0 if it is of none
	Each   string `json:"each,omitzero"`   // for what its parts, or the step itself, are done one by one: a line of packages.txt
	Items  *Items `json:"items,omitzero"`  // what it is done for in this round; nil while that is not known

}

// Items counts what a step is done for.
type Items struct {
	Count int `json:"count"`
	Done  int `json:"done"`

	Others string `json:"-"` // what became of others of them, such as ", 2 not needed"
}

// Outcome is a way in which a step can end.
type Outcome struct {
	Name string `json:"name"`
	Back int64  `json:"back,omitzero"` // id of the step to which it leads back
	Max  int    `json:"max,omitzero"`  // how often it may
	Used int    `json:"used,omitzero"` // how often it has
	Then string `json:"then,omitzero"` // the outcome that is taken when Max is spent
	Stop bool   `json:"stop,omitzero"` // it ends the workflow
}

// Condition holds if a step ended in one of the outcomes.
type Condition struct {
	Step     int64    `json:"step"`
	Outcomes []string `json:"outcomes"`
}

// Graph is a workflow with figures that follow from its dependencies.
type Graph struct {
	Title    string     `json:"title"`
	Steps    []Step     `json:"steps"`
	Layers   int        `json:"layers"`
	Width    int        `json:"width"`    // the size of the largest set of steps of which none has to wait for another
	Critical []int64    `json:"critical"` // ids of the longest chain of steps, the first one if there are several
	Cyclic   [][2]int64 `json:"cyclic"`   // dependencies, blocker first, that close a cycle

	Count string `json:"-"` // how many steps are in which state, of a list; empty for a file

	// By index of a step, without dependencies that close a cycle:
	after   [][]int // the steps that it blocks
	before  [][]int // its blockers
	reduced [][]int // after, without dependencies that follow from others
}

// New returns the graph of the steps. An empty State becomes Ready or Blocked; Layer and Critical
// are set. Blockers that are not among the steps count as done and are removed.
func New(title string, steps []Step) *Graph {
	g := &Graph{Title: title, Steps: slices.Clone(steps), Critical: []int64{}, Cyclic: [][2]int64{}}
	g.connect()
	g.layer()
	reach := g.reachable()
	g.reduce(reach)
	g.findCritical()
	g.Width = antichain(reach)
	g.setStates()
	return g
}

// connect sets after and before, without dependencies that close a cycle.
func (g *Graph) connect() {
	index := g.indexes()
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
	g.cutCycles()
	for i, after := range g.after {
		for _, j := range after {
			g.before[j] = append(g.before[j], i)
		}
	}
}

// indexes returns the index of each step by its id.
func (g *Graph) indexes() map[int64]int {
	index := map[int64]int{}
	for i, s := range g.Steps {
		index[s.ID] = i
	}
	return index
}

// cutCycles moves the dependencies that close a cycle from after to Cyclic: the back edges of
// a depth-first search.
func (g *Graph) cutCycles() {
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

// layer sets the layer of each step.
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

// order returns the indexes of the steps by layer, and within a layer in the order of Steps.
func (g *Graph) order() []int {
	order := make([]int, len(g.Steps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(g.Steps[a].Layer, g.Steps[b].Layer) })
	return order
}

// reachable returns by index which steps come after each step, directly or not.
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

// reduce sets reduced.
func (g *Graph) reduce(reach [][]bool) {
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

// findCritical sets Critical, following the longest chain back from its last step. A step that is not
// needed takes no time: it counts nothing and is not marked.
func (g *Graph) findCritical() {
	lengths := make([]int, len(g.Steps)) // of the longest chain up to and with each step
	for _, i := range g.order() {
		for _, j := range g.before[i] {
			lengths[i] = max(lengths[i], lengths[j])
		}
		if g.Steps[i].State != NotNeeded {
			lengths[i]++
		}
	}
	if len(lengths) == 0 {
		return
	}
	for at := slices.Index(lengths, slices.Max(lengths)); ; {
		left := lengths[at]
		if g.Steps[at].State != NotNeeded {
			g.Steps[at].Critical = true
			g.Critical = append([]int64{g.Steps[at].ID}, g.Critical...)
			left--
		}
		i := slices.IndexFunc(g.before[at], func(j int) bool { return lengths[j] == left })
		if i < 0 || left == 0 {
			return
		}
		at = g.before[at][i]
	}
}

// antichain returns the size of a largest set of steps of which none comes after another. By
// Dilworth's theorem it is the number of steps minus the size of a maximum matching between
// steps and steps that come after them.
func antichain(reach [][]bool) int {
	matched := make([]int, len(reach)) // by index of the later step: 1 + index of the earlier one
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
	width := len(reach)
	for i := range reach {
		seen = make([]bool, len(reach))
		if augment(i) {
			width--
		}
	}
	return width
}

// hasEnded reports whether the steps after a step in this state may start.
func (s State) hasEnded() bool {
	return s.look() == Done || s.look() == NotNeeded || s.look() == Skipped
}

// look returns the state as which it is drawn: not all have a colour and a frame of their own.
func (s State) look() State {
	switch s {
	case gone:
		return Skipped
	case checking, unchecked, awaits, offRecord:
		return InProgress
	}
	return s
}

// setStates sets the states that are not known.
func (g *Graph) setStates() {
	done := map[int64]bool{}
	for _, s := range g.Steps {
		done[s.ID] = s.State.hasEnded()
	}
	for i := range g.Steps {
		s := &g.Steps[i]
		if s.State != "" {
			continue
		}
		s.State = Ready
		if slices.ContainsFunc(s.BlockedBy, func(id int64) bool { return !done[id] }) {
			s.State = Blocked
		}
	}
}

// isChain reports whether the steps come one after another. The critical path is all of them
// then, so a drawing does not mark it.
func (g *Graph) isChain() bool { return g.Width == 1 }

// summary returns one line with the numbers of steps and layers, the width, and how many
// steps are done.
func (g *Graph) summary() string {
	if len(g.Steps) == 0 {
		return "no steps"
	}
	shape, joint := "", ""
	switch {
	case !g.isChain():
		shape, joint = fmt.Sprintf("%s, width %d", terminal.Count(g.Layers, "layer"), g.Width), " in "
	case len(g.Steps) > 1:
		shape, joint = "one after another", ", "
	}
	if g.Count != "" {
		return strings.TrimSuffix(g.Count+"; "+shape, "; ")
	}
	done := 0
	for _, s := range g.Steps {
		if s.State == Done {
			done++
		}
	}
	text := terminal.Count(len(g.Steps), "step") + joint + shape
	if done > 0 {
		text += fmt.Sprintf(", %d done", done)
	}
	return text
}

// path returns one line with the length and the steps of the critical path, or "" if there
// are no steps or all of them are on it.
func (g *Graph) path() string {
	if len(g.Critical) == 0 || g.isChain() {
		return ""
	}
	var ids []string
	for _, id := range g.Critical {
		ids = append(ids, g.number(id))
	}
	return fmt.Sprintf("critical path of %s: %s", terminal.Count(len(g.Critical), "step"), strings.Join(ids, " → "))
}

// notes returns lines about dependencies that are not drawn.
func (g *Graph) notes() (notes []string) {
	hidden := 0
	for i := range g.after {
		hidden += len(g.after[i]) - len(g.reduced[i])
	}
	if hidden > 0 {
		notes = append(notes, fmt.Sprintf("dependencies that follow from others, not drawn: %d", hidden))
	}
	for _, e := range g.Cyclic {
		notes = append(notes, fmt.Sprintf("not drawn: %s → %s, which closes a cycle: these steps wait for each other", g.number(e[0]),
			g.number(e[1])))
	}
	return notes
}
