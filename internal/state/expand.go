package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// A step with [Step.Each] is done once for each line of a file or of a command. It is expanded
// when it is started, or when its completion is tried: the lines are read outside of every
// lock, and a line of evidence says what they are. Then a transaction creates the tasks of the
// copies, which are workflows under the step. The line comes first, so that a crash in between
// is noticed: the next event creates the tasks from it. A second line says that they are there.
//
// The copies belong to one round of their step. When the step comes round again they are taken
// out of the list, and its next start reads the lines anew.

// maxTasks is the largest number of tasks of workflows in a list.
const maxTasks = fsmspec.MaxTasks

// Expansion returns the lines for which the step is done in its present round. ok is false if
// they were not read yet.
func (s *State) Expansion(c *Current) (items []string, ok bool) {
	e, ok := s.expansion(c)
	return e.Items, ok
}

func (s *State) expansion(c *Current) (e Evidence, ok bool) {
	confirmed := false
	if c.Each == nil {
		return e, false
	}
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case e.reopens(s, c):
			return Evidence{}, false
		case e.Step != c.ID || e.Expands == "":
		case e.Round != c.Round:
			return Evidence{}, false
		case e.Verdict == Expanded:
			confirmed = true
		case e.Verdict == Expand:
			return e, !confirmed || s.hasAll(c, e)
		}
	}
	return Evidence{}, false
}

// reopens reports whether the line is a person's word that opened a step again which comes
// before the step: its lines are then read anew.
func (e Evidence) reopens(s *State, c *Current) bool {
	return e.IsReopen() && s.after(e.Reopens, false)(c)
}

// IsReopen reports whether the line is a person's word that opened a step again.
func (e Evidence) IsReopen() bool {
	return e.Verdict == Reopen
}

// after returns what reports whether one of the steps comes before a step, directly or not, and with turns also because
// its copy has its turn later. It looks at each step once: the ways from one step to another can be more than can be tried.
func (s *State) after(ids []int64, turns bool) func(*Current) bool {
	known := map[int64]bool{}
	var is func(*Current) bool
	is = func(c *Current) bool {
		if c == nil {
			return false
		}
		if comes, looked := known[c.ID]; looked {
			return comes
		}
		known[c.ID] = false
		before := c.BlockedBy
		if turns {
			before = slices.Concat(before, c.Workflow.After)
		}
		known[c.ID] = slices.ContainsFunc(before, func(id int64) bool { return slices.Contains(ids, id) || is(s.OfList().Step(id)) }) ||
			is(s.Parent(c.Workflow))
		return known[c.ID]
	}
	return is
}

// LeadsTo reports whether the step, or one that it is under, is the step with this number or comes before it, directly or not.
func (s *State) LeadsTo(c *Current, id int64) bool {
	return c != nil && (c.ID == id || s.after([]int64{c.ID}, false)(s.Step(id)) || s.LeadsTo(s.Parent(c.Workflow), id))
}

// copies returns the copies of a step for the lines that were read for its present round.
func (s *State) copies(c *Current) []*workflow.Workflow {
	e, _ := s.expansion(c)
	return s.copiesIn(c, e)
}

// copiesIn returns the copies of a step that an expansion has made.
func (s *State) copiesIn(c *Current, e Evidence) []*workflow.Workflow {
	return slices.DeleteFunc(s.Under(c), func(w *workflow.Workflow) bool { return w.Item == "" || w.Expands != e.Expands })
}

// hasAll reports whether the record that was read has all copies that an expansion has made.
func (s *State) hasAll(c *Current, e Evidence) bool {
	all := s.copiesIn(c, e)
	return len(all) == len(e.Items) && !slices.ContainsFunc(all, s.lacks)
}

// lacksCopies reports whether it is on record that the tasks for the lines of an open step are in the list, and not all of them
// are among the steps.
func (s *State) lacksCopies() bool {
	return slices.ContainsFunc(s.Evidence, func(e Evidence) bool {
		c := s.Step(e.Step)
		return e.Verdict == Expand && c != nil && !c.Done() && e.Round == c.Round && s.isExpanded(e) && !s.hasAll(c, e)
	})
}

// lacks reports whether steps of a workflow, or of what came with it, are not in the list.
func (s *State) lacks(w *workflow.Workflow) bool {
	return slices.ContainsFunc(w.Steps, func(b workflow.Step) bool { return s.OfList().Step(b.ID) == nil }) ||
		slices.ContainsFunc(w.Under, func(u workflow.Workflow) bool { return s.lacks(&u) })
}

// Items returns " ▸ 5 items, 3 done" for a step that is done for lines, and "" while these are
// not known.
func (s *State) Items(c *Current) string {
	switch items, ok := s.Expansion(c); {
	case !ok:
		return ""
	case len(items) == 0:
		return " ▸ no items"
	default:
		n := s.OfItems(c)
		return fmt.Sprintf(" ▸ %s, %d done%s", CountItems(len(items)), n.Done, n.Others())
	}
}

// Copied reports whether the step is one of those that are done for a line.
func (s *State) Copied(c *Current) bool { return s.item(c.Workflow) != "" }

// PartOf returns the number of the step of which the step is a part, or 0.
func (c *Current) PartOf() int64 {
	if !c.Workflow.Part {
		return 0
	}
	return c.Workflow.Parent
}

// OfItems counts the copies of a step. One of which a step was done is done, unless another is open.
func (s *State) OfItems(c *Current) (n Count) {
	all := s.OfList()
	for _, w := range s.copies(c) {
		switch of := all.CountOf(all.In(w)); {
		case of.Open > 0:
			n.Open++
		case of.Gone > 0:
			n.Add(IsGone)
		case of.Done > 0:
			n.Done++
		case of.NotNeeded == of.All():
			n.NotNeeded++
		default:
			n.Skipped++
		}
	}
	return n
}

// AwaitsLines reports whether the lines for which the step is done have to be read before the
// update.
func (s *State) AwaitsLines(c *Current, status string) bool {
	if c.Each == nil || c.Done() || status != workflow.InProgress && status != workflow.Completed {
		return false
	}
	_, known := s.expansion(c)
	return !known
}

// CountItems returns "no items", "1 item" or "2 items".
func CountItems(n int) string {
	switch n {
	case 0:
		return "no items"
	case 1:
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// TooMany says that the list would have too many tasks, or returns "".
func (s *State) TooMany(c *Current, items []string) string {
	if len(items) == 0 {
		return ""
	}
	one, err := fsmspec.ForItem(c.Each.Workflow, items[0])
	if err != nil {
		return err.Error()
	}
	have, more := len(s.OfList().Steps), one.Planned()*len(items)
	if have+more <= maxTasks {
		return ""
	}
	return fmt.Sprintf("its %s need %d tasks, and the list, which has %d, may have at most %d", CountItems(len(items)), more, have, maxTasks)
}

// MaxSource limits the size of a file with lines, in bytes.
const MaxSource = 1 << 20

// UnfinishedExpansions returns the lines of evidence whose tasks may not be in the list yet.
func (s *State) UnfinishedExpansions() (all []Evidence) {
	for _, b := range s.Steps {
		if e, ok := s.expansion(b); ok && !b.Done() && !s.isExpanded(e) {
			all = append(all, e)
		}
	}
	return all
}

// isExpanded reports whether it is on record that the tasks of an expansion are in the list.
func (s *State) isExpanded(e Evidence) bool {
	return slices.ContainsFunc(s.Evidence, func(o Evidence) bool { return o.Verdict == Expanded && o.Expands == e.Expands })
}

// awaitsCopies reports whether the lines of a step were read, and its copies have not come yet.
func (s *State) awaitsCopies(c *Current) bool {
	e, ok := s.expansion(c)
	return ok && len(e.Items) > 0 && !s.isExpanded(e)
}

// outdated returns the tasks of copies of earlier rounds, and of everything under them.
func (s *State) outdated() (files []fsmspec.Existing) {
	for _, b := range s.Steps {
		if b.Gone() || !s.isOutdated(b.Workflow) {
			continue
		}
		files = append(files, fsmspec.Existing{ID: message.Itoa(b.ID), Number: b.ID, Subject: b.Subject, Status: b.Status})
	}
	return files
}

// isOutdated reports whether the workflow is a copy of an earlier round, or one whose lines a
// person wants to be read anew, or under such a copy.
func (s *State) isOutdated(w *workflow.Workflow) bool {
	p := s.Parent(w)
	if p == nil || w.Item == "" {
		return p != nil && s.isOutdated(p.Workflow)
	}
	return !isOf(w, p) || s.tookBack(p, w.Expands) || s.isOutdated(p.Workflow)
}

// tookBack reports whether a person has opened a step before this one again since the expansion.
func (s *State) tookBack(c *Current, id string) bool {
	for _, e := range slices.Backward(s.Evidence) {
		if e.Expands == id || e.reopens(s, c) {
			return e.Expands != id
		}
	}
	return false
}

// Misshapen reports whether the list does not have the tasks that the evidence says it has.
func (s *State) Misshapen() bool { return len(s.UnfinishedExpansions()) > 0 || len(s.outdated()) > 0 }

// reshape makes the list have the tasks that the evidence says it has: it creates those of
// expansions, and takes out the copies of earlier rounds. Then s is the state after that. It
// returns what the agent has to know of it.
func (st *Store) reshape(ctx context.Context, dir *txn.Dir, s *State) (told string, err error) {
	if s.isPartial() || !s.Misshapen() {
		return "", nil
	}
	ctx = context.WithoutCancel(ctx)
	if old := s.outdated(); len(old) > 0 {
		if err := st.remove(ctx, dir, s, old); err != nil {
			return "", err
		}
	}
	all := s.UnfinishedExpansions()
	for _, e := range all {
		if err := st.expand(ctx, dir, s, s.Step(e.Step), e); err != nil {
			return "", err
		}
	}
	r := st.recorded(dir, false)
	if len(r.Broken) > 0 && slices.ContainsFunc(s.Steps,
		func(b *Current) bool { return !s.isOutdated(b.Workflow) && r.Steps.Find(message.Itoa(b.ID)) == nil }) {
		return "", r.Broken[0].err // the state would have fewer steps than the list
	}
	after, err := st.stateOf(ctx, dir.Path(), r.Steps, dir, false)
	if err != nil {
		return "", err
	}
	for _, e := range all {
		told = message.Join(told, after.tellExpansion(e))
	}
	*s = *after
	return told, nil
}

// expand creates the tasks for the lines of a step, and records that they are there.
func (st *Store) expand(ctx context.Context, dir *txn.Dir, s *State, b *Current, e Evidence) error {
	if len(e.Items) > 0 {
		what, err := s.copiesOf(b, e.Items)
		if err != nil {
			return err
		}
		list := st.List
		list.Record = func(p *fsmspec.Plan) (tasks.Record, error) { return b.recordOf(p, e) }
		label := tasks.Label{Invocation: e.Expands, Command: b.Workflow.Command, Spec: b.Workflow.Spec, Session: b.Workflow.Session, Step: b.ID}
		err = list.ReplaceIn(ctx, dir, label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) { return fsmspec.PlanItems(what, snap) })
		if err != nil {
			return err
		}
	}
	done := Evidence{Time: e.Time, Step: e.Step, From: e.From, To: e.To, Verdict: Expanded, Why: e.Why, By: e.By, Round: e.Round,
		Expands: e.Expands}
	return st.append(dir, done)
}

// copiesOf returns what is to be created for the lines.
func (s *State) copiesOf(b *Current, items []string) (fsmspec.ItemPlan, error) {
	what := fsmspec.ItemPlan{Values: s.Values(b.Workflow), Command: b.Workflow.Command, Parent: b.ID, After: b.BlockedBy,
		InTurn: b.Each.InTurn}
	for _, item := range items {
		spec, err := fsmspec.ForItem(b.Each.Workflow, item)
		if err != nil {
			return what, err
		}
		what.Copies = append(what.Copies, spec)
	}
	return what, nil
}

// recordOf returns the record of an expansion: a workflow without steps of its own, whose Under are the copies.
func (c *Current) recordOf(p *fsmspec.Plan, e Evidence) (tasks.Record, error) {
	w := workflow.Workflow{Command: c.Workflow.Command, Spec: c.Workflow.Spec, SHA256: c.Workflow.SHA256, Session: c.Workflow.Session,
		Agent: c.Workflow.Agent, Dir: c.Workflow.Dir, Inode: c.Workflow.Inode, Repo: c.Workflow.Repo, FSM: c.Each.Workflow,
		Base: p.Base(), Parent: c.ID, Round: e.Round, Expands: e.Expands, Items: e.Items, InTurn: c.Each.InTurn}
	text, err := w.Encode()
	return tasks.Record{Text: text, Under: c.ID}, err
}

// remove takes tasks out of the list.
func (st *Store) remove(ctx context.Context, dir *txn.Dir, s *State, old []fsmspec.Existing) error {
	list, w := st.List, s.Find(old[0].ID).Workflow
	list.Record = nil
	label := tasks.Label{Command: w.Command, Spec: w.Spec, Session: w.Session, Step: w.Parent}
	return list.ReplaceIn(ctx, dir, label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) {
		return fsmspec.PlanRemoval(present(old, snap), snap), nil
	})
}

// present returns those of the tasks that the list still has, as it has them.
func present(old []fsmspec.Existing, list fsmspec.Snapshot) (files []fsmspec.Existing) {
	for _, t := range list.Tasks {
		if slices.ContainsFunc(old, func(o fsmspec.Existing) bool { return o.ID == t.ID }) {
			files = append(files, t)
		}
	}
	return files
}

// tellExpansion tells the agent which tasks an expansion has brought, and what is ready.
func (s *State) tellExpansion(e Evidence) string {
	c := s.Step(e.Step)
	if c == nil {
		return ""
	}
	if len(e.Items) == 0 {
		text := c.Name() + " has nothing to be done for: " + c.Each.Source() + " has no lines."
		if last, ok := s.Last(c.ID); ok && last.To == workflow.Completed {
			return text
		}
		return text + " Complete it now."
	}
	var all []*Current
	copies := s.copies(c)
	for _, b := range s.Steps {
		if slices.Contains(copies, b.Workflow) || slices.ContainsFunc(s.Above(b.Workflow),
			func(p *Current) bool { return slices.Contains(copies, p.Workflow) }) {
			all = append(all, b)
		}
	}
	text := message.Clip(fmt.Sprintf("%s is to be done for %s of %s. Their tasks are in the list now: %s", c.Name(), CountItems(len(e.Items)),
		c.Each.Source(), Names(all)), maxTurn) + "."
	if ready := slices.DeleteFunc(s.Ready(), func(b *Current) bool { return !slices.Contains(all, b) }); len(ready) > 0 {
		text += " Ready: " + withDescription(ready[0], "", s.ToDo(ready[0]))
		if len(ready) > 1 {
			text += "\nAlso ready: " + message.Clip(Names(ready[1:]), maxTurn)
		}
	}
	return text + "\nComplete " + c.Name() + " when they are done."
}
