package state

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/checklist"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// MaxPlan limits the size in bytes of a plan.
const MaxPlan = 4 << 20

// maxDiffers limits the differences that a person is told.
const maxDiffers = 3

// boxesOf are the boxes of a plan as it is now, and where those of its steps are.
type boxesOf struct {
	lines []string
	boxes []checklist.Box
	at    []int // for each line of workflow.Workflow.Plan the index of its box; gone or unclear
	fault string
}

const (
	gone    = -1
	unclear = -2 // several boxes may be meant
)

func readBoxes(w *workflow.Workflow, text string) boxesOf {
	list := checklist.Read(text)
	f := boxesOf{lines: checklist.Lines(text), boxes: list.Boxes, at: aligned(w.Plan, list.Boxes)}
	if list.Unread {
		f.fault = list.Faults[0].String()
	}
	return f
}

// lost says why the box of a step is not found, "" if it is.
func (f boxesOf) lost(w *workflow.Workflow, i int, name string) string {
	if f.at[i] == gone {
		return fmt.Sprintf("the line of %s is gone or has been changed", name)
	}
	if f.at[i] == unclear {
		return fmt.Sprintf("which line is that of %s cannot be told: %s", name, checklist.Named(f.candidates(w.Plan[i])))
	}
	return ""
}

// candidates returns the lines with the text of a line of a plan, or those that may be.
func (f boxesOf) candidates(line workflow.PlanLine) (lines []int) {
	for j, b := range f.boxes {
		if b.Text == line.Text && !slices.Contains(f.at, j) {
			lines = append(lines, b.Line)
		}
	}
	return lines
}

// others returns the boxes that are new.
func (f boxesOf) others(w *workflow.Workflow) (boxes []checklist.Box) {
	mayBe := map[string]bool{}
	for i, line := range w.Plan {
		mayBe[line.Text] = mayBe[line.Text] || f.at[i] == unclear
	}
	for j, b := range f.boxes {
		if !slices.Contains(f.at, j) && !mayBe[b.Text] {
			boxes = append(boxes, b)
		}
	}
	return boxes
}

// beforeTick returns what was in the box of a step before this program has ticked it. ours is false if the tick, if there is one, is
// somebody else's.
func (s *State) beforeTick(id int64) (mark string, ours bool) {
	e, _ := s.lastOf(id, func(e Evidence) bool { return e.Verdict == Ticked })
	return e.From, e.To == checklist.Tick
}

// edit is what a plan is to become.
type edit struct {
	text string
	set  []Evidence // the lines that record which boxes are set
	did  []string   // the boxes that are set, for people
	left []string   // what is not put right: a person or an agent has changed it by hand
}

// set sets what is in the box of a step.
func (f boxesOf) set(e *edit, w *workflow.Workflow, i int, c *Current, mark string) {
	b := f.boxes[f.at[i]]
	f.lines[b.Line] = b.Set(f.lines[b.Line], mark)
	e.set = append(e.set, Evidence{Time: Now().UTC(), Step: c.ID, From: b.Mark, To: mark, Verdict: Ticked,
		Why: "its box in the plan is set", By: By{Who: Fsmtx}})
	if mark == b.Mark { // somebody else has set it
		return
	}
	e.did = append(e.did, fmt.Sprintf("%s in line %d of %s", c.Name(), b.Line+1, w.Spec))
}

// ticked returns a plan with the boxes of the steps of a workflow as they have to be.
func (s *State) ticked(w *workflow.Workflow, text string) (e edit) {
	f := readBoxes(w, text)
	if f.fault != "" {
		return edit{text: text, left: []string{f.fault}}
	}
	for i, step := range w.Steps {
		c := s.Step(step.ID)
		wants := c != nil && c.isTicked()
		if lost := f.lost(w, i, nameOf(c, step)); lost != "" {
			if wants && step.Status != fsmspec.Completed {
				lost += fmt.Sprintf(", and it is done: tick it yourself, [x] %s", message.Clip(message.Line(w.Plan[i].Text), message.MaxSubject))
			}
			e.left = append(e.left, lost)
			continue
		}
		b := f.boxes[f.at[i]]
		before, ours := s.beforeTick(step.ID)
		switch {
		case wants && !b.Done:
			f.set(&e, w, i, c, checklist.Tick)
		case ours && c != nil && !c.Done() && b.Done: // it is open again
			f.set(&e, w, i, c, before)
		case ours && c != nil && !c.Done():
			f.set(&e, w, i, c, b.Mark)
		case b.Done && !wants:
			e.left = append(e.left, fmt.Sprintf("%s is ticked there, and not done", nameOf(c, step)))
		}
	}
	if text := othersText(f.others(w)); text != "" {
		e.left = append(e.left, text)
	}
	e.text = strings.Join(f.lines, "")
	return e
}

// othersText tells of boxes that are in a plan and not in its workflow, "" if there are none.
func othersText(boxes []checklist.Box) string {
	var lines []int
	for _, b := range boxes {
		lines = append(lines, b.Line)
	}
	switch len(boxes) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("it has a box that is no step: %s, %s", checklist.Named(lines), message.Quote(boxes[0].Text))
	}
	return fmt.Sprintf("it has %d boxes that are no steps: %s", len(boxes), checklist.Named(lines))
}

// Retick makes plans show what an undo has left in the list; before is the list before it, and removed are the steps that it took out. It
// puts what was in their boxes before this program ticked them back, and ticks those of steps that are in the list again. It returns which
// boxes it unticked or, with dry, would, which it ticked, and why a tick stays. What was ticked before a plan was begun stays
// without a word.
func (st *Store) Retick(ctx context.Context, before *State, removed []string, dry bool) (unticked, ticked, left []string) {
	var set []Evidence
	for _, w := range before.plans() {
		e, err := editPlan(w, !dry, func(text string) edit { return before.unticked(w, text, removed) })
		if err != nil {
			e.did, e.left = nil, append(e.left, fmt.Sprintf("the ticks in %s: %v", w.Spec, err))
		}
		unticked, left, set = append(unticked, e.did...), append(left, e.left...), append(set, e.set...)
	}
	if dry {
		return unticked, nil, left
	}
	dir, s, err := st.Open(ctx)
	if err != nil {
		return unticked, nil, append(left, "the other boxes: "+err.Error())
	}
	defer st.Release(dir)
	if err = st.Write(dir, s, set); err != nil {
		left = append(left, "what is on record of the boxes: "+err.Error())
	}
	s.add(set)
	for _, w := range s.plans() {
		if e, err := st.tickOne(dir, s, w); err == nil {
			ticked = append(ticked, e.did...)
		}
	}
	return unticked, ticked, left
}

// unticked returns a plan without the ticks of steps that were taken out of the list, and why one stays.
func (s *State) unticked(w *workflow.Workflow, text string, removed []string) (e edit) {
	f := readBoxes(w, text)
	for i, step := range w.Steps {
		c := s.Step(step.ID)
		if step.Status == fsmspec.Completed || c == nil || !c.isTicked() || !slices.Contains(removed, tasks.Form.Name(message.Itoa(c.ID))) {
			continue
		}
		switch mark, ours := s.beforeTick(c.ID); {
		case f.at[i] < 0:
			e.left = append(e.left, fmt.Sprintf("the tick of %s: %s", c.Name(), f.lost(w, i, "it")))
		case f.boxes[f.at[i]].Done && ours:
			f.set(&e, w, i, c, mark)
		case f.boxes[f.at[i]].Done:
			e.left = append(e.left, fmt.Sprintf("the tick of %s: fsmtx has not set it", c.Name()))
		}
	}
	e.text = strings.Join(f.lines, "")
	return e
}

// editPlan returns what do makes of a plan, and with write writes that.
func editPlan(w *workflow.Workflow, write bool, do func(text string) edit) (e edit, err error) {
	file, err := safefile.ReadToEdit(safefile.Resolve(w.Spec), MaxPlan)
	if err == nil && file.Data == nil {
		err = errNoPlan
	}
	if err != nil {
		return e, err
	}
	if e = do(string(file.Data)); write && e.text != string(file.Data) {
		err = file.Replace([]byte(e.text))
	}
	return e, err
}

// aligned returns the index of the box of each line of a plan: gone if there is none, unclear if several may be meant. A line is known by
// its text and the headings above it, and one that was moved or whose headings were changed by its text alone. Equal lines below the same
// headings are told apart by their order, as long as they are as many as before and nothing was moved.
func aligned(plan []workflow.PlanLine, boxes []checklist.Box) []int {
	at := slices.Repeat([]int{gone}, len(plan))
	byPlace := func(above, text string) string { return above + "\n" + text }
	match(plan, boxes, at, byPlace, true)
	match(plan, boxes, at, func(above, text string) string { return byPlace(above[strings.LastIndex(above, "\n")+1:], text) }, false)
	match(plan, boxes, at, func(_, text string) string { return text }, false)
	return at
}

// match finds the boxes of lines that have none yet. key identifies a line, by its headings and its text.
func match(plan []workflow.PlanLine, boxes []checklist.Box, at []int, key func(above, text string) string, inOrder bool) {
	lines, found := map[string][]int{}, map[string][]int{}
	for i, line := range plan {
		if at[i] < 0 {
			k := key(line.Above, line.Text)
			lines[k] = append(lines[k], i)
		}
	}
	for j, b := range boxes {
		if !slices.Contains(at, j) {
			k := key(b.Headings(), b.Text)
			found[k] = append(found[k], j)
		}
	}
	var equal []int
	for k, list := range lines {
		switch {
		case len(list) == 1 && len(found[k]) == 1:
			at[list[0]] = found[k][0]
		case inOrder && len(list) == len(found[k]):
			slices.SortFunc(list, func(a, b int) int { return plan[a].Line - plan[b].Line })
			for n, i := range list {
				at[i] = found[k][n]
			}
			equal = append(equal, list...)
		case len(found[k]) > 0:
			note(at, list, unclear)
		}
	}
	if !inPlace(plan, at) {
		note(at, equal, unclear)
	}
}

func note(at, which []int, as int) {
	for _, i := range which {
		at[i] = as
	}
}

// inPlace reports whether the boxes that were found are in the order of the lines of the plan.
func inPlace(plan []workflow.PlanLine, at []int) bool {
	var found []int
	for i := range plan {
		if at[i] >= 0 {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(a, b int) int { return plan[a].Line - plan[b].Line })
	return slices.IsSortedFunc(found, func(a, b int) int { return at[a] - at[b] })
}

func nameOf(c *Current, s workflow.Step) string {
	if c == nil {
		return message.Quote(s.Subject)
	}
	return c.Name()
}

// isTicked reports whether the box of a step has a tick: it was done, and is in the list.
func (c *Current) isTicked() bool {
	return c.Outcome != "" && c.Outcome != machine.Skipped && !c.NotNeeded && !c.Gone()
}

// plans returns the workflows that come from a plan.
func (s *State) plans() []*workflow.Workflow {
	return slices.DeleteFunc(s.Workflows(), func(w *workflow.Workflow) bool { return len(w.Plan) == 0 || len(w.Plan) < len(w.Steps) })
}

// Differs says in what the plans of workflows differ from them, a sentence each, and what no hook saw.
func (s *State) Differs() (all []string) {
	if m, ok := s.Missed(); ok {
		all = append(all, m.String())
	}
	for _, w := range s.plans() {
		e, err := editPlan(w, false, func(text string) edit { return s.ticked(w, text) })
		if err == nil && slices.ContainsFunc(e.set, s.isUnwritten) {
			all = append(all, s.differsText(w, nil, fmt.Errorf("%s cannot be written, or a tick was taken out of it", message.Line(w.Spec))))
		}
		if text := s.differsText(w, e.left, err); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// isUnwritten reports whether a tick that is to be set is on record: it could not be written, or somebody has taken it out.
func (s *State) isUnwritten(set Evidence) bool {
	_, ours := s.beforeTick(set.Step)
	return ours && set.To == checklist.Tick && set.From != set.To
}

// errNoPlan is returned for a plan that is not where it was when it was begun.
var errNoPlan = errors.New("it is gone or has another name")

// differsText is a sentence on what differs, "" if nothing does; err is why a plan cannot be read or written.
func (s *State) differsText(w *workflow.Workflow, differs []string, err error) string {
	switch {
	case errors.Is(err, errNoPlan):
		return fmt.Sprintf("the plan %s is gone or has another name, so its boxes are not ticked: put it back as %s",
			message.Line(filepath.Base(w.Spec)), message.Line(w.Spec))
	case err != nil && s.Finished(w):
		return fmt.Sprintf("the boxes of the plan are not ticked: %v; once that is mended, tick them yourself", err)
	case err != nil:
		return fmt.Sprintf("the boxes of the plan are not ticked: %v; once that is mended, the next step ticks them", err)
	}
	if len(differs) == 0 {
		return ""
	}
	if n := len(differs); n > maxDiffers {
		differs = append(differs[:maxDiffers], fmt.Sprintf("and %d more", n-maxDiffers))
	}
	return fmt.Sprintf("%s differs from its workflow: %s; %s takes it up again", message.Line(filepath.Base(w.Spec)),
		strings.Join(differs, "; "), BeginPlan(w, s.ListName()))
}

// BeginPlan returns the command that begins the plan of a workflow anew, as it is now, in the list with this name. The id of a session
// is known by its beginning.
func BeginPlan(w *workflow.Workflow, list string) string {
	begin := shell.Join("fsmtx", "begin", "--plan", w.Spec)
	if w.PlanForm != "" {
		begin += " " + shell.Join("--form", w.PlanForm)
	}
	if first, _, _ := strings.Cut(list, "-"); len(list) == len("00000000-0000-4000-8000-000000000000") && len(first) == 8 {
		list = first
	}
	return begin + " " + shell.Join("--list", list)
}

// Unticked reports whether a plan does not show which steps are done.
func (s *State) Unticked() bool {
	return slices.ContainsFunc(s.plans(), func(w *workflow.Workflow) bool {
		e, err := editPlan(w, false, func(text string) edit { return s.ticked(w, text) })
		return err == nil && len(e.did) > 0
	})
}

// tick makes the boxes of plans show which steps are done, and returns for the person, once, what differs otherwise. A file that
// another program changes meanwhile is left to the next event. first is as in Change.
func (st *Store) tick(dir *txn.Dir, s *State, first bool) (told string) {
	for _, w := range s.plans() {
		e, err := st.tickOne(dir, s, w)
		if errors.Is(err, safefile.ErrChanged) {
			err = nil
		}
		text := s.differsText(w, e.left, err)
		if text != "" && !first && !st.AlreadyToldIn(dir, fmt.Sprintf("plan/%08x", crc32.ChecksumIEEE([]byte(w.Spec+text)))) {
			told = message.Join(told, text)
		}
	}
	return told
}

// tickOne is tick for one plan. What is set is on record first: what is in a box later may be somebody else's.
func (st *Store) tickOne(dir *txn.Dir, s *State, w *workflow.Workflow) (e edit, err error) {
	return editPlan(w, true, func(text string) edit {
		e := s.ticked(w, text)
		if len(e.set) == 0 {
			return e
		}
		if err := st.Write(dir, s, e.set); err != nil {
			return edit{text: text, left: append(e.left, "its boxes are not ticked: "+err.Error())}
		}
		s.Evidence = append(s.Evidence[:len(s.Evidence):len(s.Evidence)], e.set...)
		return e
	})
}
