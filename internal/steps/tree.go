package steps

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
)

// The workflows of a list are a tree: a workflow may be under a step of another one, its
// [Workflow.Parent]. Three things are workflows under a step: a skill that was called while
// the step was worked on, the parts of which a step consists, and the copies of a step, one
// for each item. They differ only in how they come into the list:
//
//   - A skill that is called has a transaction of its own, so it has a record of its own. It
//     belongs to the round of its parent in which it was called ([Workflow.Round]).
//   - Parts come with the workflow of their parent, in one transaction and one record: they
//     are in [Workflow.Under] of it. They have no round: each round of the parent opens all
//     of them again.
//   - Copies come in one transaction. Its record is a Workflow without steps, whose Under are
//     the copies, each with its [Workflow.Item]. They belong to the round in which they came.
//
// Each of them has its own machine, its own ids ([Step.Local]) and its own outcomes; a stop
// in one ends only that one. Steps of all workflows have different numbers in the list, so
// the evidence needs no more than the number.
//
// What follows is the same for all of them. A step under which a workflow is unfinished
// cannot be completed, not even to go back, and is not ready: the work is inside. The steps
// of a workflow are ready only while the steps before its parent are done. When the parent
// ends in another way, because a person says so or its workflow is ended, or when it comes
// round again, what is still open under it is not needed any more.

// all returns the workflow, unless it has no steps, and those that came with it, each after
// the one that it is under. They share what is said once, in w.
func (w *Workflow) all() (list []*Workflow) {
	if len(w.Steps) > 0 {
		list = append(list, w)
	}
	for i := range w.Under {
		u := &w.Under[i]
		u.Values = w.Values
		u.Expands = w.Expands
		u.Version, u.Command, u.Spec, u.SHA256, u.Session, u.Agent = w.Version, w.Command, w.Spec, w.SHA256, w.Session, w.Agent
		u.Dir, u.Inode = w.Dir, w.Inode
		u.part = true
		list = append(list, u.all()...)
	}
	return list
}

// Parent returns the step that a workflow is under, or nil if it is under none. It is nil,
// too, if that step is on record no more: its workflow was undone or replaced.
func (s *State) Parent(w *Workflow) *Current {
	if w == nil {
		return nil
	}
	return s.ofList().Step(w.Parent) // no step has the number 0
}

// ofList returns the state of the whole list.
func (s *State) ofList() *State {
	if s.whole != nil {
		return s.whole
	}
	return s
}

// Under returns the workflows under a step that belong to its present round.
func (s *State) Under(c *Current) (all []*Workflow) {
	for _, w := range s.ofList().under[c.ID] {
		if isOf(w, c) {
			all = append(all, w)
		}
	}
	return all
}

// isOf reports whether a workflow under the step belongs to the step's present round.
func isOf(w *Workflow, c *Current) bool { return w.Round == 0 || w.Round == c.Round }

// depth returns how many workflows are one under the other up to this one: 1 for a workflow
// that is under no step.
func (s *State) depth(w *Workflow) int { return 1 + len(s.Above(w)) }

// Above returns the steps that a workflow is under, from the nearest one up.
func (s *State) Above(w *Workflow) (all []*Current) {
	for p := s.Parent(w); p != nil && !slices.Contains(all, p); p = s.Parent(p.Workflow) {
		all = append(all, p)
	}
	return all
}

// root returns the workflow in which a workflow is, or itself if it is under no step.
func (s *State) root(w *Workflow) *Workflow {
	if above := s.Above(w); len(above) > 0 {
		return above[len(above)-1].Workflow
	}
	return w
}

// finished reports whether every step of a workflow is done.
func (s *State) finished(w *Workflow) bool { return len(s.openIn(w)) == 0 }

// openIn returns the steps of a workflow that are not done.
func (s *State) openIn(w *Workflow) []*Current { return slices.DeleteFunc(s.In(w), (*Current).Done) }

// unfinished returns the workflows under a step that keep it from being completed.
func (s *State) unfinished(c *Current) []*Workflow {
	return slices.DeleteFunc(s.Under(c), s.ofList().finished)
}

// OpenUnder returns the open steps of the workflows under a step.
func (s *State) OpenUnder(c *Current) (open []*Current) {
	for _, w := range s.unfinished(c) {
		open = append(open, s.ofList().openIn(w)...)
	}
	return open
}

// downward returns the workflows, each after the one that it is under, and notes which ones
// are under which step.
func (s *State) downward() []*Workflow {
	all := s.Workflows()
	s.under = nil
	for _, w := range all {
		if w.Parent != 0 && s.Step(w.Parent) != nil {
			if s.under == nil {
				s.under = map[int64][]*Workflow{}
			}
			s.under[w.Parent] = append(s.under[w.Parent], w)
		}
	}
	slices.SortStableFunc(all, func(a, b *Workflow) int { return s.depth(a) - s.depth(b) })
	return all
}

// openAfter returns the steps that come before a workflow under a step, beside those before
// that step, and are not done.
func (s *State) openAfter(w *Workflow) (open []*Current) {
	for _, id := range w.After {
		if b := s.ofList().Step(id); b != nil && !b.Done() {
			open = append(open, b)
		}
	}
	return open
}

// cameWith reports whether the workflow is not a skill that was called, but parts or a copy of
// the step that it is under: then the list shows that they wait for each other.
func (w *Workflow) cameWith() bool { return w.part }

// Waits returns the numbers of the steps that the list shows the step to wait for: those before
// it; for the first steps of parts and copies what comes before these; and the last steps of its
// own parts and copies.
func (s *State) Waits(c *Current) []int64 {
	ids := slices.Concat(c.BlockedBy, c.Circular)
	if len(ids) == 0 {
		ids = s.outside(c)
	}
	for _, w := range s.Under(c) {
		if w.cameWith() {
			ids = append(ids[:len(ids):len(ids)], w.last()...)
		}
	}
	return ids
}

// outside returns what comes before the first steps of the step's workflow.
func (s *State) outside(c *Current) []int64 {
	p := s.Parent(c.Workflow)
	switch {
	case p == nil || !c.Workflow.cameWith():
		return nil
	case len(c.Workflow.After) > 0:
		return c.Workflow.After
	case len(p.BlockedBy) > 0:
		return p.BlockedBy
	}
	return s.outside(p)
}

// last returns the numbers of the steps that no other step of the workflow comes after.
func (w *Workflow) last() (ids []int64) {
	for _, b := range w.Steps {
		if !slices.ContainsFunc(w.Steps, func(o Step) bool { return slices.Contains(o.BlockedBy, b.ID) }) {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// restarts reports whether a workflow is opened again with these steps: it is parts of one of
// them, or of parts.
func (s *State) restarts(w *Workflow, ids []int64) bool {
	for p := s.Parent(w); p != nil && w.Round == 0; w, p = p.Workflow, s.Parent(p.Workflow) {
		if slices.Contains(ids, p.ID) {
			return true
		}
	}
	return false
}

// isAfter reports whether a workflow is under a step that comes after the step with this number, directly
// or not: as parts, or because its skill was called in the present round of that step.
func (s *State) isAfter(w *Workflow, id int64) bool {
	c := s.Step(id)
	for p := s.Parent(w); c != nil && p != nil && (w.Round == 0 || !w.part && isOf(w, p)); w, p = p.Workflow, s.Parent(p.Workflow) {
		if p.Workflow == c.Workflow {
			return s.comesAfter(p, []int64{id})
		}
	}
	return false
}

// isClosed reports whether nothing of a workflow is needed any more: the step that it is
// under is done, or has come round again.
func (s *State) isClosed(w *Workflow) bool {
	p := s.Parent(w)
	return p != nil && (p.Done() || !isOf(w, p))
}

// whyClosed returns ": #2 is done" for a workflow that is closed.
func (s *State) whyClosed(w *Workflow) string {
	p := s.Parent(w)
	how := " is done"
	switch {
	case p.Gone():
		how = " is gone"
	case p.NotNeeded:
		how = " is not needed"
	case !p.Done():
		how = " came round again"
	}
	return ": #" + itoa(p.ID) + how
}

// describeUnder says which workflows under a step are not done, and what is open there.
func (s *State) describeUnder(c *Current) string {
	const most = 3 // what is under a step may be a hundred copies
	var parts []string
	all := s.unfinished(c)
	for i, w := range all {
		if i == most && len(all) > most+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		open := s.ofList().openIn(w)
		parts = append(parts, fmt.Sprintf("%s, of which %s %s open", w.title(), Names(open), isOrAre(len(open))))
	}
	return sentence(parts)
}

// title returns what a workflow is called beside the others under the same step.
func (w *Workflow) title() string {
	switch {
	case w.Item != "":
		return "the item " + quote(w.Item)
	case w.part:
		return "the parts of #" + itoa(w.Parent)
	}
	return "the workflow of " + message.Clip(message.Words(w.Command), maxSubject)
}

// titleIs begins a sentence: "The parts of #3 are".
func (w *Workflow) titleIs() string {
	n := 1
	if w.Item == "" && w.part {
		n = 2
	}
	return "T" + strings.TrimPrefix(w.title(), "t") + " " + isOrAre(n)
}

// Level names what an outcome with a stop ends: the innermost of item, parts and workflow.
func (w *Workflow) Level() string {
	if w.Item == "" && !w.part {
		return "the workflow"
	}
	return w.title()
}

// belongs returns ` (part of #3)` or ` (for "core" of #2)` for a step of what came with another
// one, ` (its 2 items are done: complete it)` for one whose copies are done, and "" for any
// other.
func (s *State) belongs(c *Current) string {
	w := c.Workflow
	items, read := s.Expansion(c)
	switch {
	case read && !c.Done() && len(items) == 0:
		return " (there is nothing to do it for: complete it)"
	case read && !c.Done() && len(s.unfinished(c)) == 0:
		return fmt.Sprintf(" (its %s %s done: complete it)", countItems(len(items)), isOrAre(len(items)))
	case s.Parent(w) == nil || !w.part:
		return ""
	case w.Item != "":
		return fmt.Sprintf(" (for %s of #%d)", quote(w.Item), w.Parent)
	case s.item(w) != "":
		return fmt.Sprintf(" (part of #%d, for %s)", w.Parent, quote(s.item(w)))
	}
	return fmt.Sprintf(" (part of #%d)", w.Parent)
}

// described returns the name of a step, where it belongs, and what there is to do.
func (s *State) described(c *Current) string {
	place := s.belongs(c)
	if c.called && !c.Done() {
		place += " (the skill " + message.Clip(message.Words(c.Do), maxSubject) + " was called)"
	}
	return withDescription(c, place, s.ToDo(c))
}

// ToDo returns the description of a step without what was done already: to start it for its lines,
// or to call its skill, which would begin that anew. It adds which outcomes no longer lead back.
func (s *State) ToDo(c *Current) string {
	text := c.Description
	if _, read := s.Expansion(c); read {
		text = fsmspec.WithoutLines(text)
	}
	if c.called {
		text = fsmspec.WithoutDemand(text)
	}
	for _, o := range s.Choosable(c) {
		switch {
		case o.Back == 0 || o.Used < o.Max || o.ChosenBy == "machine":
		case o.Then == "":
			text += " " + spentText(c, o.Name) + ": the step cannot end so any more."
		default:
			text += " " + spentText(c, o.Name) + ": it counts as " + o.Then + " now."
		}
	}
	return text
}

// notDoneUnder denies the completion of a step while a workflow under it is unfinished.
func notDoneUnder(s *State, c *Current, open []*Current) Verdict {
	reason := fmt.Sprintf("%s cannot be completed: under it is %s", c.Name(), s.describeUnder(c))
	return deny(c, "order: "+numbers(open)+" under it not done", reason+". "+s.next(open))
}

// Returned tells the agent, after it has completed a step, to go on with the step that its
// workflow is under. It is empty unless that workflow is finished and the step is open.
func (s *State) Returned(id int64) string {
	c := s.Step(id)
	if c == nil {
		return ""
	}
	p := s.Parent(c.Workflow)
	if p == nil || p.Done() || !isOf(c.Workflow, p) || !s.finished(c.Workflow) {
		return ""
	}
	text := c.Workflow.titleIs() + " done. "
	switch {
	case len(s.unfinished(p)) > 0:
		return text + p.Name() + " still waits for " + s.describeUnder(p) + ". " + s.possible()
	case c.Workflow.Item != "":
		return text + "Every item is. Go on with " + s.described(p)
	}
	return text + "Go on with " + s.described(p)
}
