package graph

import (
	"fmt"
	"slices"
)

// minFolded is how many steps are folded at least.
const minFolded = 3

// fold returns a graph in which steps that are done are one step, and so are steps that are blocked: those of
// one layer and, where no other step is among them, those of several layers. Steps that are ready or in progress, steps of
// loops and parts of other steps stay as they are. It returns the graph itself if that has at most most steps, or
// if there is nothing to fold.
func (g *Graph) fold(most int) *Graph {
	into := g.folded()
	if len(g.Steps) <= most || len(into) == 0 {
		return g
	}
	var all []Step
	place := map[int64]int{} // of a step that stands for others, by its id
	for _, i := range g.order() {
		s := g.Steps[i]
		before := slices.Clone(s.BlockedBy)
		for n, id := range before {
			if to, is := into[id]; is {
				before[n] = to
			}
		}
		to, is := into[s.ID]
		before = slices.DeleteFunc(before, func(id int64) bool { return is && id == to })
		if at, known := place[to]; is && known {
			all[at].Folded, all[at].BlockedBy = append(all[at].Folded, s.ID), append(all[at].BlockedBy, before...)
			all[at].Subject = fmt.Sprintf("%d steps", len(all[at].Folded))
			all[at].Number = g.number(to) + " to " + s.number()
			continue
		}
		if is {
			place[to] = len(all)
			s = Step{ID: s.ID, State: s.State, Folded: []int64{s.ID}}
		}
		s.BlockedBy, s.Layer, s.Critical = before, 0, false
		all = append(all, s)
	}
	return New(g.Title, all)
}

// folded returns for the id of each step that is folded the id of the step that stands for it. No cycle arises: the
// steps of one fold are in one layer, or they are all steps of several layers.
func (g *Graph) folded() map[int64]int64 {
	can, into := g.foldable(), map[int64]int64{}
	var open []int // of the steps that are folded together
	done, last := false, 0
	end := func() {
		for _, i := range open {
			if len(open) >= minFolded {
				into[g.Steps[i].ID] = g.Steps[open[0]].ID
			}
		}
		open = nil
	}
	whole := g.wholeLayers(can)
	for _, i := range g.order() {
		s := g.Steps[i]
		if !can[i] {
			continue
		}
		goesOn := len(open) > 0 && (s.Layer == last || s.Layer == last+1 && whole[s.Layer] && whole[last]) && s.State.isDone() == done
		if !goesOn {
			end()
		}
		open, done, last = append(open, i), s.State.isDone(), s.Layer
	}
	end()
	return into
}

// wholeLayers reports by number which layers have only steps that can be folded and that are all done, or all not.
func (g *Graph) wholeLayers(can []bool) map[int]bool {
	whole, done := map[int]bool{}, map[int]bool{}
	for i, s := range g.Steps {
		if _, known := whole[s.Layer]; !known {
			whole[s.Layer], done[s.Layer] = true, s.State.isDone()
		}
		whole[s.Layer] = whole[s.Layer] && can[i] && done[s.Layer] == s.State.isDone()
	}
	return whole
}

// foldable reports by index which steps may be folded.
func (g *Graph) foldable() []bool {
	can := make([]bool, len(g.Steps))
	groups, index := g.groups(), g.indexes()
	for i, s := range g.Steps {
		can[i] = s.State != Ready && s.State != InProgress && s.Parent == 0 && len(groups[s.ID]) == 0 && s.Items == nil
	}
	for _, b := range g.backs() {
		can[b.from], can[b.to] = false, false
	}
	for _, e := range g.Cyclic {
		can[index[e[0]]], can[index[e[1]]] = false, false
	}
	return can
}
