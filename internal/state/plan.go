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

// ticked returns the text of a plan with the boxes of the steps of a workflow as they have to be, and what it cannot put right: a
// person or an agent has changed it by hand.
func (s *State) ticked(w *workflow.Workflow, text string) (put string, differs []string) {
	lines, boxes := checklist.Lines(text), checklist.Read(text).Boxes
	at := aligned(w.Plan, boxes)
	for i := range w.Plan {
		c := s.Step(w.Steps[i].ID)
		if at[i] < 0 {
			differs = append(differs, fmt.Sprintf("the line of %s is gone or has been changed", nameOf(c, w.Steps[i])))
			continue
		}
		b := boxes[at[i]]
		switch wants := c != nil && c.isTicked(); {
		case wants && !b.Done:
			lines[b.Line] = b.Set(lines[b.Line], true)
		case b.Done && !wants && c != nil && c.Round > 1: // it is open again
			lines[b.Line] = b.Set(lines[b.Line], false)
		case b.Done && !wants:
			differs = append(differs, fmt.Sprintf("%s is ticked there, and not done", nameOf(c, w.Steps[i])))
		}
	}
	return strings.Join(lines, ""), differs
}

// Untick takes the ticks of steps that were taken out of the list out of their plans again, which s had in it before. It returns what it
// did, or with dry would do, and why a tick stays. What was ticked before the plan was begun stays.
func (s *State) Untick(removed []string, dry bool) (unticked, left []string) {
	for _, w := range s.plans() {
		var did, stays []string
		file, err := safefile.ReadToEdit(safefile.Resolve(w.Spec), MaxPlan)
		lines, boxes := checklist.Lines(string(file.Data)), checklist.Read(string(file.Data)).Boxes
		at := aligned(w.Plan, boxes)
		for i, step := range w.Steps[:len(w.Plan)] {
			c := s.Step(step.ID)
			switch {
			case step.Status == fsmspec.Completed || c == nil || !c.isTicked() || !slices.Contains(removed, tasks.Form.Name(message.Itoa(c.ID))):
			case err == nil && at[i] < 0:
				stays = append(stays, fmt.Sprintf("the tick of %s: its line is gone or has been changed", c.Name()))
			case err != nil:
				stays = append(stays, fmt.Sprintf("the tick of %s: %v", c.Name(), err))
			case boxes[at[i]].Done:
				b := boxes[at[i]]
				lines[b.Line] = b.Set(lines[b.Line], false)
				did = append(did, fmt.Sprintf("%s in line %d of %s", c.Name(), b.Line+1, w.Spec))
			}
		}
		if len(did) > 0 && !dry {
			if err = file.Replace([]byte(strings.Join(lines, ""))); err != nil {
				did, stays = nil, append(stays, fmt.Sprintf("the ticks of %s: %v", w.Spec, err))
			}
		}
		unticked, left = append(unticked, did...), append(left, stays...)
	}
	return unticked, left
}

// aligned returns the index of the box of each line of a plan, -1 for a line that is gone. Of lines that are equal those are taken
// that leave the most of the plan in its order: the longest common subsequence.
func aligned(plan []workflow.PlanLine, boxes []checklist.Box) []int {
	order := make([]int, len(plan)) // the plan in the order of the file
	at := make([]int, len(plan))
	for i := range plan {
		order[i], at[i] = i, -1
	}
	slices.SortStableFunc(order, func(a, b int) int { return plan[a].Line - plan[b].Line })
	same := func(i, j int) bool { return plan[order[i]].Text == boxes[j].Open }
	from := 0 // most plans are as they were
	for ; from < len(order) && from < len(boxes) && same(from, from); from++ {
		at[order[from]] = from
	}
	rows, columns := len(order)-from, len(boxes)-from
	longest := make([][]int, rows+1) // of what is left from a line of the plan and a box on
	for i := range longest {
		longest[i] = make([]int, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); same(from+i, from+j) {
				longest[i][j] = max(longest[i][j], 1+longest[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < rows && j < columns; {
		switch {
		case same(from+i, from+j) && longest[i][j] == 1+longest[i+1][j+1]:
			at[order[from+i]] = from + j
			i, j = i+1, j+1
		case longest[i+1][j] == longest[i][j]:
			i++
		default:
			j++
		}
	}
	return at
}

func nameOf(c *Current, s workflow.Step) string {
	if c == nil {
		return message.Quote(s.Subject)
	}
	return c.Name()
}

// isTicked reports whether the box of a step has a tick: it was done, and the list shows it.
func (c *Current) isTicked() bool {
	return c.Outcome != "" && c.Outcome != machine.Skipped && !c.NotNeeded && c.Status == workflow.Completed
}

// plans returns the workflows that come from a plan.
func (s *State) plans() []*workflow.Workflow {
	return slices.DeleteFunc(s.Workflows(), func(w *workflow.Workflow) bool { return len(w.Plan) == 0 || len(w.Plan) > len(w.Steps) })
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
		if n := len(differs); n > maxDiffers {
			differs = append(differs[:maxDiffers], fmt.Sprintf("and %d more", n-maxDiffers))
		}
		text := strings.Join(differs, "; ")
		if len(differs) > 0 && !st.ToldIn(dir, fmt.Sprintf("plan/%08x", crc32.ChecksumIEEE([]byte(w.Spec+text)))) {
			told = message.Join(told, fmt.Sprintf("%s differs from its workflow: %s; fsmtx begin --plan %s takes it up again",
				message.Line(filepath.Base(w.Spec)), text, shell.Join(w.Spec)))
		}
	}
	return told
}
