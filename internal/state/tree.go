package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Parent returns the step that a workflow is under, or nil if it is under none. It is nil,
// too, if that step is on record no more: its workflow was undone or replaced.
func (s *State) Parent(w *workflow.Workflow) *Current {
	if w == nil {
		return nil
	}
	return s.OfList().Step(w.Parent) // no step has the number 0
}

// OfList returns the state of the whole list.
func (s *State) OfList() *State {
	if s.whole != nil {
		return s.whole
	}
	return s
}

// ListName is Store.Name of the list.
func (s *State) ListName() string {
	if list := s.OfList(); list.store != nil {
		return list.store.Name()
	}
	return ""
}

// Under returns the workflows under a step that belong to its present round.
func (s *State) Under(c *Current) (all []*workflow.Workflow) {
	for _, w := range s.OfList().under[c.ID] {
		if isOf(w, c) {
			all = append(all, w)
		}
	}
	return all
}

// isOf reports whether a workflow under the step belongs to the step's present round.
func isOf(w *workflow.Workflow, c *Current) bool { return w.Round == 0 || w.Round == c.Round }

// depth returns how many workflows are one under the other up to this one: 1 for a workflow
// that is under no step.
func (s *State) depth(w *workflow.Workflow) int { return 1 + len(s.Above(w)) }

// Above returns the steps that a workflow is under, from the nearest one up.
func (s *State) Above(w *workflow.Workflow) (all []*Current) {
	for p := s.Parent(w); p != nil && !slices.Contains(all, p); p = s.Parent(p.Workflow) {
		all = append(all, p)
	}
	return all
}

// Root returns the workflow in which a workflow is, or itself if it is under no step.
func (s *State) Root(w *workflow.Workflow) *workflow.Workflow {
	if above := s.Above(w); len(above) > 0 {
		return above[len(above)-1].Workflow
	}
	return w
}

// Finished reports whether every step of a workflow is done.
func (s *State) Finished(w *workflow.Workflow) bool { return len(s.OpenIn(w)) == 0 }

// OpenIn returns the steps of a workflow that are not done.
func (s *State) OpenIn(w *workflow.Workflow) []*Current {
	return slices.DeleteFunc(s.In(w), (*Current).Done)
}

// Within returns the steps of a workflow, and of those under its steps.
func (s *State) Within(w *workflow.Workflow) []*Current {
	return slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool {
		return c.Workflow != w && !slices.ContainsFunc(s.Above(c.Workflow), func(p *Current) bool { return p.Workflow == w })
	})
}

// Unfinished returns the workflows under a step that keep it from being completed. Of a step that was taken out of the list it is those
// that were not out before.
func (s *State) Unfinished(c *Current) []*workflow.Workflow {
	at, isOut := s.out[c.Workflow]
	return slices.DeleteFunc(s.Under(c), func(w *workflow.Workflow) bool {
		out, ok := s.out[w]
		return s.OfList().Finished(w) || isOut && ok && out.Before(at)
	})
}

// OpenUnder returns the open steps of the workflows under a step.
func (s *State) OpenUnder(c *Current) (open []*Current) {
	for _, w := range s.Unfinished(c) {
		open = append(open, s.OfList().OpenIn(w)...)
	}
	return open
}

// downward returns the workflows, each after the one that it is under, and notes which ones
// are under which step.
func (s *State) downward() []*workflow.Workflow {
	all := s.Workflows()
	s.under = nil
	for _, w := range all {
		if w.Parent != 0 && s.Step(w.Parent) != nil {
			if s.under == nil {
				s.under = map[int64][]*workflow.Workflow{}
			}
			s.under[w.Parent] = append(s.under[w.Parent], w)
		}
	}
	slices.SortStableFunc(all, func(a, b *workflow.Workflow) int { return s.depth(a) - s.depth(b) })
	return all
}

// openAfter returns the steps that come before a workflow under a step, beside those before
// that step, and are not done.
func (s *State) openAfter(w *workflow.Workflow) (open []*Current) {
	for _, id := range w.After {
		if b := s.OfList().Step(id); b != nil && !b.Done() {
			open = append(open, b)
		}
	}
	return open
}

// Waits returns the numbers of the steps that the list shows the step to wait for: those before
// it; for the first steps of parts and copies what comes before these; and the last steps of its
// own parts and copies.
func (s *State) Waits(c *Current) []int64 {
	ids := slices.Concat(c.BlockedBy, c.Circular)
	if len(ids) == 0 {
		ids = s.outside(c)
	}
	for _, w := range s.Under(c) {
		if w.CameWith() {
			ids = append(ids[:len(ids):len(ids)], w.Last()...)
		}
	}
	return ids
}

// outside returns what comes before the first steps of the step's workflow.
func (s *State) outside(c *Current) []int64 {
	p := s.Parent(c.Workflow)
	switch {
	case p == nil || !c.Workflow.CameWith():
		return nil
	case len(c.Workflow.After) > 0:
		return c.Workflow.After
	case len(p.BlockedBy) > 0:
		return p.BlockedBy
	}
	return s.outside(p)
}

// restarts reports whether a workflow is opened again with these steps: it is parts of one of
// them, or of parts.
func (s *State) restarts(w *workflow.Workflow, ids []int64) bool {
	for p := s.Parent(w); p != nil && w.Round == 0; w, p = p.Workflow, s.Parent(p.Workflow) {
		if slices.Contains(ids, p.ID) {
			return true
		}
	}
	return false
}

// isAfter reports whether a workflow is under a step that comes after the step with this number, directly
// or not: as parts, or because its skill was called in the present round of that step.
func (s *State) isAfter(w *workflow.Workflow, id int64) bool {
	c := s.Step(id)
	for p := s.Parent(w); c != nil && p != nil && (w.Round == 0 || !w.Part && isOf(w, p)); w, p = p.Workflow, s.Parent(p.Workflow) {
		if p.Workflow == c.Workflow {
			return s.after([]int64{id}, false)(p)
		}
	}
	return false
}

// IsClosed reports whether nothing of a workflow is needed any more: the step that it is
// under is done, or has come round again.
func (s *State) IsClosed(w *workflow.Workflow) bool {
	p := s.Parent(w)
	if out, ok := s.out[w]; ok && p != nil {
		return s.wasClosed(w, p, out)
	}
	return p != nil && (p.Done() || !isOf(w, p))
}

// wasClosed is IsClosed for a workflow under p that was taken out of the list at a time: what became of p later changes nothing of it.
func (s *State) wasClosed(w *workflow.Workflow, p *Current, out time.Time) (closed bool) {
	for _, e := range s.Evidence {
		switch {
		case !e.Time.Before(out), e.Time.Before(w.Began): // of an earlier round
		case e.Step == p.ID && e.Completes(), slices.Contains(e.NotNeeded, p.ID):
			closed = true
		case slices.Contains(e.Reopens, p.ID): // which came round again
			closed = w.Round != 0
		case e.Step == p.ID && e.Verdict == Lapsed:
			closed = false
		}
	}
	above := s.Parent(p.Workflow)
	return closed || s.IsMissing(p) || above != nil && s.wasClosed(p.Workflow, above, out)
}

// WhyClosed returns ": #2 is done" for a workflow that is closed.
func (s *State) WhyClosed(w *workflow.Workflow) string {
	p := s.Parent(w)
	how := " is done"
	switch {
	case p.NotNeeded:
		how = " is not needed"
	case s.IsMissing(p):
		how = " is gone"
	case s.skipped(p.ID):
		how = " was skipped"
	case !p.Done():
		how = " came round again"
	}
	return ": #" + message.Itoa(p.ID) + how
}

// DescribeUnder says which workflows under a step are not done, and what is open there.
func (s *State) DescribeUnder(c *Current) string {
	const most = 3 // what is under a step may be a hundred copies
	var parts []string
	all := s.Unfinished(c)
	for i, w := range all {
		if i == most && len(all) > most+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		open := s.OfList().OpenIn(w)
		parts = append(parts, fmt.Sprintf("%s, of which %s %s open", w.Title(), Names(open), message.IsOrAre(len(open))))
	}
	return message.Sentence(parts)
}

// Belongs returns ` (part of #3)` or ` (for "core" of #2)` for a step of what came with another
// one, ` (its 2 items are done: complete it)` for one whose copies are done, and "" for any
// other.
func (s *State) Belongs(c *Current) string {
	w := c.Workflow
	items, read := s.Expansion(c)
	switch {
	case read && !c.Done() && len(items) == 0:
		return " (there is nothing to do it for: complete it)"
	case read && !c.Done() && len(s.Unfinished(c)) == 0:
		how := "done"
		if s.OfItems(c).Done < len(items) {
			how = "not open any more"
		}
		return fmt.Sprintf(" (its %s %s %s: complete it)", CountItems(len(items)), message.IsOrAre(len(items)), how)
	case s.Parent(w) == nil || !w.Part:
		return ""
	case w.Item != "":
		return fmt.Sprintf(" (for %s of #%d)", message.Quote(w.Item), w.Parent)
	case s.item(w) != "":
		return fmt.Sprintf(" (part of #%d, for %s)", w.Parent, message.Quote(s.item(w)))
	}
	return fmt.Sprintf(" (part of #%d)", w.Parent)
}

// Described returns the name of a step, where it belongs, and what there is to do.
func (s *State) Described(c *Current) string {
	place := s.Belongs(c)
	if c.Called && !c.Done() {
		place += " (the skill " + message.Clip(message.Words(c.Skill), message.MaxSubject) + " was called)"
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
	if c.Called {
		text = fsmspec.WithoutDemand(text)
	}
	for _, o := range s.Choosable(c) {
		switch {
		case o.Back == 0 || o.Used < o.Max || o.ChosenBy == "machine":
		case o.Then == "":
			text += " " + SpentText(c, o.Name) + ": the step cannot end so any more."
		default:
			text += " " + SpentText(c, o.Name) + ": it counts as " + o.Then + " now."
		}
	}
	if e := s.LastChoice(c); !c.Done() && e.Outcome != "" && !s.IsSpent(c, e.Outcome) {
		text += " The person chose " + e.Outcome + ": complete it now."
	}
	return text
}

// Returned tells the agent, after it has completed a step, to go on with the step that its
// workflow is under. It is empty unless that workflow is finished and the step is open.
func (s *State) Returned(id int64) string {
	c := s.Step(id)
	if c == nil {
		return ""
	}
	p := s.Parent(c.Workflow)
	if p == nil || p.Done() || !isOf(c.Workflow, p) || !s.Finished(c.Workflow) {
		return ""
	}
	n := s.CountOf(s.In(c.Workflow))
	text := c.Workflow.TitleIs() + map[bool]string{true: " done. ", false: " not open any more. "}[n.Done > 0]
	switch {
	case len(s.Unfinished(p)) > 0:
		return text + p.Name() + " still waits for " + s.DescribeUnder(p) + ". " + s.Possible()
	case c.Workflow.Item != "" && s.OfItems(p).Done == s.OfItems(p).All():
		return text + "Every item is. Go on with " + s.Described(p)
	}
	return text + "Go on with " + s.Described(p)
}
