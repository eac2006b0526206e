package steps

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
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
// they were not read yet, or if a person took their tasks back with fsmtx undo.
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
	return e.isReopen() && s.comesAfter(c, e.Reopens)
}

// isReopen reports whether the line is a person's word that opened a step again.
func (e Evidence) isReopen() bool {
	return e.Verdict == Override && strings.HasPrefix(e.Why, reopenWord)
}

// comesAfter reports whether one of the steps comes before the step, directly or not.
func (s *State) comesAfter(c *Current, ids []int64) bool { return s.after(ids, false)(c) }

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
		known[c.ID] = slices.ContainsFunc(before, func(id int64) bool { return slices.Contains(ids, id) || is(s.ofList().Step(id)) }) ||
			is(s.Parent(c.Workflow))
		return known[c.ID]
	}
	return is
}

// copies returns the copies of a step for the lines that were read for its present round.
func (s *State) copies(c *Current) []*Workflow {
	e, _ := s.expansion(c)
	return s.copiesIn(c, e)
}

// copiesIn returns the copies of a step that an expansion has made.
func (s *State) copiesIn(c *Current, e Evidence) []*Workflow {
	return slices.DeleteFunc(s.Under(c), func(w *Workflow) bool { return w.Item == "" || w.Expands != e.Expands })
}

// hasAll reports whether the list has all copies that an expansion has made. An undo keeps tasks that were changed,
// and the step is not done for the others then.
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
func (s *State) lacks(w *Workflow) bool {
	return slices.ContainsFunc(w.Steps, func(b Step) bool { return s.ofList().Step(b.ID) == nil }) ||
		slices.ContainsFunc(w.Under, func(u Workflow) bool { return s.lacks(&u) })
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
		return fmt.Sprintf(" ▸ %s, %d done", countItems(len(items)), s.ItemsDone(c))
	}
}

// Copied reports whether the step is one of those that are done for a line.
func (s *State) Copied(c *Current) bool { return s.item(c.Workflow) != "" }

// PartOf returns the number of the step of which the step is a part, or 0.
func (c *Current) PartOf() int64 {
	if !c.Workflow.part {
		return 0
	}
	return c.Workflow.Parent
}

// ItemsDone returns how many of the copies of a step are done.
func (s *State) ItemsDone(c *Current) (n int) {
	for _, w := range s.copies(c) {
		if s.ofList().finished(w) {
			n++
		}
	}
	return n
}

// awaitsLines reports whether the lines for which the step is done have to be read before the
// update.
func (s *State) awaitsLines(c *Current, status string) bool {
	if c.Each == nil || c.Done() || status != inProgress && status != completed {
		return false
	}
	_, known := s.expansion(c)
	return !known
}

// decideLines reads the lines for which the target is done, and expands it. Its start is then
// allowed; its completion is not, unless there are no lines.
func (c *call) decideLines(s *State, target *Current, lines []Evidence) decision {
	e, missing, v := c.itemsOf(s, target)
	switch {
	case !missing.decided():
		missing.lines = lines
		if missing.check != nil {
			missing.claim = []int64{target.ID}
		}
		return missing
	case !v.Allowed():
		return c.final(s, target, v, lines)
	}
	lines, s.Evidence = append(lines, e), append(s.Evidence, e)
	switch {
	case len(e.Items) == 0 && c.update.Status == completed:
		return c.decideEnd(s, target, lines)
	case c.update.Status == completed:
		return c.final(s, target, itemsFirst(target), lines)
	}
	return c.final(s, target, c.reasoned(target, Verdict{}), lines)
}

// itemsOf returns the line of evidence that expands a step, what has to be found out first, or a
// denial.
func (c *call) itemsOf(s *State, b *Current) (e Evidence, missing decision, v Verdict) {
	f, known := c.facts[factKey{b.ID, eachLine}]
	if f.away != "" {
		return e, missing, c.nowhere(b, f)
	}
	switch wrong := b.pathFaults[b.Each.Lines]; {
	case wrong != nil:
		return e, missing, noLines(b, wrong.Error(), nil)
	case !known && b.Each.Run == nil:
		return e, decision{source: b}, v
	case !known && c.NoChecks:
		return e, missing, deny(b, "checks are off",
			b.Name()+" is done for the lines that a command prints, and commands are not run here (--checks off)")
	case !known && b.Each.Run.Limit() > c.left():
		return e, missing, slow(b, b, b.Each.Run.Limit(), c.left())
	case !known:
		return e, decision{check: &run{b, eachLine, b.Each.Run, s.variables(b, nil)}}, v
	}
	items, wrong := f.lines(b)
	if wrong == "" {
		wrong = s.tooMany(b, items)
	}
	if wrong != "" {
		return e, missing, noLines(b, wrong, f.result)
	}
	return Evidence{Time: s.Time, Step: b.ID, From: b.Status, To: b.Status, Verdict: Expand, Why: countItems(len(items)),
		By:    c.by(c.update, Verdict{}),
		Round: b.Round, Expands: rand.Text(), Items: items, Check: f.result, Tree: c.tree(b), Files: f.digests,
		Changed: changedSince(s, b, f.sum)}, missing, v
}

// source returns where the lines come from.
func (e *Each) source() string {
	if e.Run != nil {
		return "its command"
	}
	return message.Words(e.Lines)
}

func countItems(n int) string {
	switch n {
	case 0:
		return "no items"
	case 1:
		return "1 item"
	}
	return fmt.Sprintf("%d items", n)
}

// itemsFirst refuses the completion of a step that has just been expanded. Which tasks come first
// is told when they are in the list.
func itemsFirst(c *Current) Verdict {
	return deny(c, "first its items", fmt.Sprintf("%s cannot be completed before the tasks for the lines of %s", c.Name(), c.Each.source()))
}

// listLocked refuses the start of a step that needs tasks of its own, while nobody can create
// them.
func listLocked(c *Current) Verdict {
	return deny(c, "the list is locked", c.Name()+
		" cannot be started now: tasks have to be created for it, and another program holds the lock of the task list. Try again")
}

// noLines refuses the start of a step whose lines cannot be had.
func noLines(c *Current, wrong string, r *Result) Verdict {
	mend := ". Mend that, then start it again"
	if strings.Contains(wrong, "\n") {
		mend = "\nMend that, then start it again" // behind the output of a command
	}
	v := deny(c, "its lines: "+wrong, fmt.Sprintf("%s cannot be started: it is done for %s, and %s%s", c.Name(), c.Each, wrong, mend))
	v.Check = r
	return v
}

// lines returns the lines that were read, or what is wrong with them.
func (f fact) lines(c *Current) (items []string, wrong string) {
	name := message.Words(c.Each.Lines)
	text := f.text
	switch r := f.result; {
	case r == nil && f.err != nil:
		return nil, unreadable(name, f.err)
	case r != nil && !r.passed():
		wrong := r.failed
		if wrong == "" {
			wrong = fmt.Sprintf("it ended with exit status %d", r.Exit)
		}
		if tail := lastLines(r.printed()); tail != "" {
			wrong += ". The end of its output:\n" + tail
		}
		return nil, "the command failed: " + wrong
	case r != nil:
		name, text = "its output", []byte(r.output)
		if r.cut {
			return nil, fmt.Sprintf("its output has more than %d KiB", tailBytes>>10)
		}
	}
	items, err := fsmspec.Items(text)
	if err != nil {
		return nil, name + ": " + err.Error()
	}
	for _, item := range items {
		if _, err := fsmspec.ForItem(c.Each.Workflow, item); err != nil {
			return nil, fmt.Sprintf("%s: the line %s does not fit: %v", name, quote(item), withoutPlace(err))
		}
	}
	return items, ""
}

// unreadable says why a file cannot be read.
func unreadable(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "the file " + name + " does not exist"
	case errors.Is(err, vfs.ErrFileTooLarge):
		return "the file " + name + " is too large"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return "the file " + name + " cannot be read: " + err.Error()
}

// withoutPlace returns the first problem of a workflow without its line and column, which are
// those of a text that nobody sees.
func withoutPlace(err error) string {
	if invalid, ok := errors.AsType[*fsmspec.InvalidError](err); ok {
		return invalid.Problems[0].Message
	}
	return err.Error()
}

// tooMany says that the list would have too many tasks, or returns "".
func (s *State) tooMany(c *Current, items []string) string {
	if len(items) == 0 {
		return ""
	}
	one, err := fsmspec.ForItem(c.Each.Workflow, items[0])
	if err != nil {
		return err.Error()
	}
	have, more := len(s.ofList().Steps), one.Planned()*len(items)
	if have+more <= maxTasks {
		return ""
	}
	return fmt.Sprintf("its %s need %d tasks, and the list, which has %d, may have at most %d", countItems(len(items)), more, have, maxTasks)
}

// readLines reads the file with the lines for which a step is done, without a lock.
func (c *call) readLines(ctx context.Context, b *Current) {
	f := c.workplace(b.Workflow)
	f.digests = filesForLines(b.Each, ctx, f.dir)
	path := filepath.Join(f.dir, filepath.FromSlash(b.Each.Lines))
	if f.sum, f.err = digestOf(path); f.err == nil {
		f.text, f.err = safefile.ReadFile(path, maxSource, 0)
	}
	c.facts[factKey{b.ID, eachLine}] = f
}

// maxSource limits the size of a file with lines, in bytes.
const maxSource = 1 << 20

// unfinishedExpansions returns the lines of evidence whose tasks may not be in the list yet.
func (s *State) unfinishedExpansions() (all []Evidence) {
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
		files = append(files, fsmspec.Existing{ID: itoa(b.ID), Number: b.ID, Subject: b.Subject, Status: b.Status})
	}
	return files
}

// isOutdated reports whether the workflow is a copy of an earlier round, or one whose lines a
// person wants to be read anew, or under such a copy.
func (s *State) isOutdated(w *Workflow) bool {
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

// misshapen reports whether the list does not have the tasks that the evidence says it has.
func (s *State) misshapen() bool { return len(s.unfinishedExpansions()) > 0 || len(s.outdated()) > 0 }

// reshape makes the list have the tasks that the evidence says it has: it creates those of
// expansions, and takes out the copies of earlier rounds. Then s is the state after that. It
// returns what the agent has to know of it.
func (st *Store) reshape(ctx context.Context, dir *txn.Dir, s *State) (told string, err error) {
	if s.isPartial() || !s.misshapen() {
		return "", nil
	}
	ctx = context.WithoutCancel(ctx)
	if old := s.outdated(); len(old) > 0 {
		if err := st.remove(ctx, dir, s, old); err != nil {
			return "", err
		}
	}
	all := s.unfinishedExpansions()
	for _, e := range all {
		if err := st.expand(ctx, dir, s, s.Step(e.Step), e); err != nil {
			return "", err
		}
	}
	r := readRecord(dir)
	if len(r.broken) > 0 && slices.ContainsFunc(s.Steps,
		func(b *Current) bool { return !s.isOutdated(b.Workflow) && r.steps.find(itoa(b.ID)) == nil }) {
		return "", r.broken[0].err // the state would have fewer steps than the list
	}
	after, err := r.steps.state(ctx, dir.Path(), dir, false)
	if err != nil {
		return "", err
	}
	for _, e := range all {
		told = both(told, after.tellExpansion(e))
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
		list.Record = func(p *fsmspec.Plan) (string, error) { return b.recordOf(p, e) }
		label := tasks.Label{Invocation: e.Expands, Command: b.Workflow.Command, Spec: b.Workflow.Spec, Session: b.Workflow.Session, Step: b.ID}
		err = list.ReplaceIn(ctx, dir, label, func(snap fsmspec.Snapshot) (*fsmspec.Plan, error) { return fsmspec.PlanItems(what, snap) })
		if err != nil {
			return err
		}
	}
	done := Evidence{Time: e.Time, Step: e.Step, From: e.From, To: e.To, Verdict: Expanded, Why: e.Why, By: e.By, Round: e.Round,
		Expands: e.Expands}
	return appendEvidence(dir, done)
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

// recordOf returns the record of an expansion: a workflow without steps, whose Under are the
// copies.
func (c *Current) recordOf(p *fsmspec.Plan, e Evidence) (string, error) {
	w := Workflow{Command: c.Workflow.Command, Spec: c.Workflow.Spec, SHA256: c.Workflow.SHA256, Session: c.Workflow.Session,
		Agent: c.Workflow.Agent, Dir: c.Workflow.Dir, Inode: c.Workflow.Inode,
		Values: true, Parent: c.ID, Round: e.Round, Expands: e.Expands, Steps: []Step{}, Under: Planned(p.Levels(), c.ID)}
	for i := range w.Under {
		w.Under[i].Round, w.Under[i].Item = e.Round, e.Items[i]
	}
	return w.Encode()
}

// remove takes tasks out of the list.
func (st *Store) remove(ctx context.Context, dir *txn.Dir, s *State, old []fsmspec.Existing) error {
	list, w := st.List, s.find(old[0].ID).Workflow
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
		text := c.Name() + " has nothing to be done for: " + c.Each.source() + " has no lines."
		if last, ok := s.last(c.ID); ok && last.To == completed {
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
	text := message.Clip(fmt.Sprintf("%s is to be done for %s of %s. Their tasks are in the list now: %s", c.Name(), countItems(len(e.Items)),
		c.Each.source(), Names(all)), maxTurn) + "."
	if ready := slices.DeleteFunc(s.Ready(), func(b *Current) bool { return !slices.Contains(all, b) }); len(ready) > 0 {
		text += " Ready: " + withDescription(ready[0], "", s.ToDo(ready[0]))
		if len(ready) > 1 {
			text += "\nAlso ready: " + message.Clip(Names(ready[1:]), maxTurn)
		}
	}
	return text + "\nComplete " + c.Name() + " when they are done."
}
