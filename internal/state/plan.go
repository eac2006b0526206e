package state

import (
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// MaxPlan limits the size in bytes of a plan.
const MaxPlan = 4 << 20

// maxDiffers limits the differences that a person is told.
const maxDiffers = 3

// PlanLine returns a line of a plan without its tick and its end, and whether it has a tick. ok is false if it has no box.
func PlanLine(line string) (open string, ticked, ok bool) {
	line = strings.TrimRight(line, " \t\r\n")
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		if before, after, found := strings.Cut(line, box); found && strings.Trim(before, " \t-*+>0123456789.)") == "" {
			return before + "[ ]" + after, box != "[ ]", true
		}
	}
	return line, false, false
}

// ticked returns the text of a plan with the boxes of the steps of a workflow as they have to be, and what it cannot put right: a
// person or an agent has changed it by hand.
func (s *State) ticked(w *workflow.Workflow, text string) (put string, differs []string) {
	lines := strings.SplitAfter(text, "\n")
	at := 0
	for i, line := range w.Plan {
		c := s.Step(w.Steps[i].ID)
		is := func(l string) bool { open, _, _ := PlanLine(l); return open == line }
		j := slices.IndexFunc(lines[at:], is)
		if j < 0 {
			differs = append(differs, fmt.Sprintf("the line of %s is gone or has been changed", nameOf(c, w.Steps[i])))
			continue
		}
		at += j
		_, has, _ := PlanLine(lines[at])
		switch wants := c != nil && c.isTicked(); {
		case wants && !has:
			lines[at] = strings.Replace(lines[at], "[ ]", "[x]", 1)
		case has && !wants && c != nil && c.Round > 1: // it is open again
			lines[at] = strings.NewReplacer("[x]", "[ ]", "[X]", "[ ]").Replace(lines[at])
		case has && !wants:
			differs = append(differs, fmt.Sprintf("%s is ticked there, and not done", nameOf(c, w.Steps[i])))
		}
		at++
	}
	return strings.Join(lines, ""), differs
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
