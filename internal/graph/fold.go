package graph

import (
	"fmt"
	"slices"
)

// How many steps are folded at least: of a chain, and of those that stand side by side.
const (
	minChain   = 3
	minAbreast = 6
)

// Fold returns a graph in which the steps that are done, the inside of each long chain, and many parallel
// steps between the same ones are one step each. Steps that are ready or in progress, steps of loops and parts of
// other steps stay as they are. It returns false if the graph has at most most steps, or if there is nothing to fold.
func (g *Graph) Fold(most int) (*Graph, bool) {
	if len(g.Steps) <= most {
		return g, false
	}
	into := g.foldDone()
	g.foldChains(into)
	g.foldAbreast(into)
	if len(into) == 0 {
		return g, false
	}
	folds := map[int64][]Step{}
	for _, i := range g.order() {
		if to, is := into[g.Steps[i].ID]; is {
			folds[to] = append(folds[to], g.Steps[i])
		}
	}
	var all []Step
	for _, s := range g.Steps {
		to, is := into[s.ID]
		if is && to != s.ID {
			continue
		}
		if is {
			s = standsFor(folds[to])
		}
		var before []int64
		for _, id := range s.BlockedBy {
			if to, is := into[id]; is {
				id = to
			}
			if id != s.ID {
				before = append(before, id)
			}
		}
		s.BlockedBy, s.Layer, s.Critical = before, 0, false
		all = append(all, s)
	}
	folded := New(g.Title, all)
	folded.whole = g
	return folded, true
}

// standsFor returns the step that stands for these, in the order of their layers.
func standsFor(all []Step) Step {
	first, last := all[0], all[len(all)-1]
	s := Step{ID: first.ID, Subject: fmt.Sprintf("%d steps", len(all)), State: first.State, Number: first.number() + " to " + last.number()}
	for _, one := range all {
		s.Folded = append(s.Folded, one.ID)
		s.BlockedBy = append(s.BlockedBy, one.BlockedBy...)
	}
	slices.Sort(s.BlockedBy)
	s.BlockedBy = slices.Compact(s.BlockedBy)
	return s
}

// foldable reports by index which steps may be folded: those that are in no loop, have no parts and are
// not parts themselves.
func (g *Graph) foldable() []bool {
	can := make([]bool, len(g.Steps))
	groups := g.groups()
	for i, s := range g.Steps {
		can[i] = s.Parent == 0 && len(groups[s.ID]) == 0 && s.Items == nil
	}
	for _, b := range g.backs() {
		can[b.from], can[b.to] = false, false
	}
	for _, e := range g.Cyclic {
		index := g.indexes()
		can[index[e[0]]], can[index[e[1]]] = false, false
	}
	return can
}

// foldDone returns for the id of each step that is folded the id of the step that stands for it:
// the steps that are done and come after folded steps only, so that no cycle arises. The last ones
// stay, because the work goes on from them.
func (g *Graph) foldDone() map[int64]int64 {
	can, into := g.foldable(), map[int64]int64{}
	var first int64
	var members []int64
	for _, i := range g.order() {
		s := g.Steps[i]
		free := can[i] && s.State.isDone() && !slices.ContainsFunc(g.before[i], func(j int) bool { _, is := into[g.Steps[j].ID]; return !is })
		goesOn := slices.ContainsFunc(g.after[i], func(j int) bool { return !g.Steps[j].State.isDone() })
		if !free || goesOn {
			continue
		}
		if len(into) == 0 {
			first = s.ID
		}
		into[s.ID] = first
		members = append(members, s.ID)
	}
	if len(members) < minChain {
		return map[int64]int64{}
	}
	return into
}

// foldChains adds the insides of chains of steps that are blocked: the first one of a chain stays,
// and so does the last.
func (g *Graph) foldChains(into map[int64]int64) {
	can, before := g.foldable(), g.reducedBefore()
	inside := func(i int) bool {
		_, is := into[g.Steps[i].ID]
		return !is && can[i] && g.Steps[i].State == Blocked && len(g.reduced[i]) == 1 && len(before[i]) == 1
	}
	for _, i := range g.order() {
		if !inside(i) || inside(before[i][0]) {
			continue // it does not begin the inside of a chain
		}
		var chain []int64
		for at := i; inside(at); at = g.reduced[at][0] {
			chain = append(chain, g.Steps[at].ID)
		}
		if len(chain) >= minChain {
			for _, id := range chain {
				into[id] = chain[0]
			}
		}
	}
}

// foldAbreast adds the blocked steps that wait for the same steps, and for which the same ones wait,
// if they are many: side by side they make a drawing that no screen shows.
func (g *Graph) foldAbreast(into map[int64]int64) {
	can, before := g.foldable(), g.reducedBefore()
	abreast := map[string][]int64{}
	for _, i := range g.order() {
		s := g.Steps[i]
		if _, is := into[s.ID]; !is && can[i] && s.State == Blocked {
			between := fmt.Sprint(slices.Sorted(slices.Values(before[i])), slices.Sorted(slices.Values(g.reduced[i])))
			abreast[between] = append(abreast[between], s.ID)
		}
	}
	for _, all := range abreast {
		for _, id := range all {
			if len(all) >= minAbreast {
				into[id] = all[0]
			}
		}
	}
}

// reducedBefore returns by index the steps that each step is drawn after.
func (g *Graph) reducedBefore() [][]int {
	before := make([][]int, len(g.Steps))
	for i, after := range g.reduced {
		for _, j := range after {
			before[j] = append(before[j], i)
		}
	}
	return before
}
