package state

import (
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

// ticked returns the text of a plan with the boxes of the steps of a workflow as they have to be, and what it cannot put right: a
// person or an agent has changed it by hand.
func (s *State) ticked(w *workflow.Workflow, text string) (put string, differs []string) {
	f := readBoxes(w, text)
	if f.fault != "" {
		return text, []string{f.fault}
	}
	for i, step := range w.Steps {
		c := s.Step(step.ID)
		wants := c != nil && c.isTicked()
		if lost := f.lost(w, i, nameOf(c, step)); lost != "" {
			if wants && step.Status != fsmspec.Completed {
				lost += fmt.Sprintf(", and it is done: tick it yourself, [x] %s", message.Clip(message.Line(w.Plan[i].Text), message.MaxSubject))
			}
			differs = append(differs, lost)
			continue
		}
		b := f.boxes[f.at[i]]
		switch {
		case wants && !b.Done:
			f.lines[b.Line] = b.Set(f.lines[b.Line], true)
		case b.Done && !wants && c != nil && c.Round > 1: // it is open again
			f.lines[b.Line] = b.Set(f.lines[b.Line], false)
		case b.Done && !wants:
			differs = append(differs, fmt.Sprintf("%s is ticked there, and not done", nameOf(c, step)))
		}
	}
	if text := othersText(f.others(w)); text != "" {
		differs = append(differs, text)
	}
	return strings.Join(f.lines, ""), differs
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

// Untick takes the ticks of steps that were taken out of the list out of their plans again, which s had in it before. It returns what it
// did, or with dry would do, and why a tick stays. What was ticked before the plan was begun stays.
func (s *State) Untick(removed []string, dry bool) (unticked, left []string) {
	for _, w := range s.plans() {
		var did, stays []string
		file, err := safefile.ReadToEdit(safefile.Resolve(w.Spec), MaxPlan)
		f := readBoxes(w, string(file.Data))
		for i, step := range w.Steps {
			c := s.Step(step.ID)
			switch {
			case step.Status == fsmspec.Completed || c == nil || !c.isTicked() || !slices.Contains(removed, tasks.Form.Name(message.Itoa(c.ID))):
			case err != nil:
				stays = append(stays, fmt.Sprintf("the tick of %s: %v", c.Name(), err))
			case f.at[i] < 0:
				stays = append(stays, fmt.Sprintf("the tick of %s: %s", c.Name(), f.lost(w, i, "it")))
			case f.boxes[f.at[i]].Done:
				b := f.boxes[f.at[i]]
				f.lines[b.Line] = b.Set(f.lines[b.Line], false)
				did = append(did, fmt.Sprintf("%s in line %d of %s", c.Name(), b.Line+1, w.Spec))
			}
		}
		if len(did) > 0 && !dry {
			if err = file.Replace([]byte(strings.Join(f.lines, ""))); err != nil {
				did, stays = nil, append(stays, fmt.Sprintf("the ticks of %s: %v", w.Spec, err))
			}
		}
		unticked, left = append(unticked, did...), append(left, stays...)
	}
	return unticked, left
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

// match finds the boxes of lines that have none yet. key returns by what a line is known: its headings, and its text.
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

// Differs says in what the plans of workflows differ from them, a sentence each.
func (s *State) Differs() (all []string) {
	for _, w := range s.plans() {
		differs := []string{"it cannot be read"}
		if data, err := safefile.ReadFile(w.Spec, MaxPlan, 0); err == nil {
			_, differs = s.ticked(w, string(data))
		}
		if text := differsText(w, differs); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// differsText is a sentence on what differs, "" if nothing does.
func differsText(w *workflow.Workflow, differs []string) string {
	if len(differs) == 0 {
		return ""
	}
	if n := len(differs); n > maxDiffers {
		differs = append(differs[:maxDiffers], fmt.Sprintf("and %d more", n-maxDiffers))
	}
	begin := shell.Join("fsmtx", "begin", "--plan", w.Spec)
	if w.PlanForm != "" {
		begin += " " + shell.Join("--form", w.PlanForm)
	}
	return fmt.Sprintf("%s differs from its workflow: %s; %s takes it up again", message.Line(filepath.Base(w.Spec)),
		strings.Join(differs, "; "), begin)
}

// Unticked reports whether a plan does not show which steps are done.
func (s *State) Unticked() bool {
	return slices.ContainsFunc(s.plans(), func(w *workflow.Workflow) bool {
		data, err := safefile.ReadFile(w.Spec, MaxPlan, 0)
		put, _ := s.ticked(w, string(data))
		return err == nil && put != string(data)
	})
}

// tick makes the boxes of plans show which steps are done, and returns for the person, once, what differs otherwise. A file that
// another program changes meanwhile is left to the next event.
func (st *Store) tick(dir *txn.Dir, s *State) (told string) {
	for _, w := range s.plans() {
		file, err := safefile.ReadToEdit(safefile.Resolve(w.Spec), MaxPlan)
		differs := []string{"it cannot be read"}
		if err == nil && file.Data != nil {
			var put string
			if put, differs = s.ticked(w, string(file.Data)); put != string(file.Data) {
				if err = file.Replace([]byte(put)); err != nil && !errors.Is(err, safefile.ErrChanged) {
					differs = append(differs, "its boxes cannot be ticked: "+err.Error())
				}
			}
		}
		text := differsText(w, differs)
		if text != "" && !st.ToldIn(dir, fmt.Sprintf("plan/%08x", crc32.ChecksumIEEE([]byte(w.Spec+text)))) {
			told = message.Join(told, text)
		}
	}
	return told
}
