package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// Went is where a workflow is that was in another list.
type Went struct {
	Words string // a sentence about it; empty if no workflow has left the list
	Skill string // its name
	List  string // its list
	Step  int64  // the number there of the step that was asked about, or of its first one

	Replaced bool   // a call has replaced it there
	Ended    bool   // a person has ended it there
	Back     string // the command that brings back what was replaced; empty if there is none
}

// Brief says where it is, in a list that is called name, behind "the workflow".
func (w Went) Brief(name string) string {
	switch {
	case w.Replaced:
		return "went on in " + name + ", and was replaced there"
	case w.Ended:
		return "went on in " + name + ", and was ended there"
	}
	return "goes on in " + name
}

// In is Brief with the command that brings it back.
func (w Went) In(name string) string {
	if w.Back != "" {
		return w.Brief(name) + " (" + w.Back + " brings it back)"
	}
	return w.Brief(name)
}

// maxHops limits from how many lists to how many others a workflow is followed.
const maxHops = 64

// WentOn returns where the workflow is that was in the list dir: the one that left it last, of the skill unless that is empty, and with the
// step of this number unless that is 0. Where it went on from the next list, too, it is followed.
func WentOn(dir, skill string, step int64) (went Went) {
	list := dir
	for range maxHops {
		history, _ := txn.ReadHistory(list)
		var left tasks.Label
		for _, e := range history {
			l, ok := tasks.Continuation(e.Label)
			if ok && l.To != "" && (skill == "" || l.Command == skill) && (step == 0 || slices.Contains(l.Steps, step)) {
				left = l
			}
		}
		there, number := arrived(left, step)
		if number == 0 {
			break
		}
		skill, list, step = left.Command, there, number
		went = Went{Words: wentOn(skill, list), Skill: skill, List: list, Step: step}
		if list == dir {
			went.Words = fmt.Sprintf("the workflow of %s is in it again, as #%d", message.Words(skill), step)
		}
	}
	if went.List != "" && went.List != dir {
		went.look()
		went.Words = called(went.Skill) + " " + went.In("the task list "+shortOf(went.List))
	}
	return went
}

// look finds out whether the workflow is over in its list without having been done.
func (w *Went) look() {
	st := &Store{List: tasks.List{Dir: w.List}, Known: new(Known)}
	history, err := st.History()
	now, nowErr := st.Now(context.Background())
	if err != nil || nowErr != nil {
		return // whatever reads that list reports it
	}
	is := func(f txn.EntryFile) bool { return tasks.Form.Number(f.Name) == w.Step }
	out := -1
	for i, e := range history {
		if slices.ContainsFunc(e.Deleted, is) {
			out = i
		} else if slices.ContainsFunc(e.Created, is) {
			out = -1
		}
	}
	if w.Replaced = out >= 0; w.Replaced {
		list := st.List
		list.Changed = now.Rewritten()
		if flags, ok := list.HowToUndo(history, history[out].ID); ok {
			line := []string{"fsmtx", "undo", "--list", shortOf(w.List), message.Itoa(history[out].Number)}
			w.Back = shell.Join(append(line, flags...)...)
		}
		return
	}
	if c := now.Step(w.Step); c != nil {
		_, w.Ended = now.EndOf(c.Workflow)
	}
}

// arrived returns the list to which a continuation took a workflow, and the number there of one of its steps, or of its first one if step
// is 0. The number is 0 if it is not on record there.
func arrived(left tasks.Label, step int64) (list string, number int64) {
	if left.To == "" {
		return "", 0
	}
	r, _ := (&Store{List: tasks.List{Dir: left.To}}).EverOnRecord()
	for _, w := range slices.Backward(r.Workflows) { // it may have come there again
		for _, f := range w.Before {
			if root := w.Steps[0].ID; f.ID == left.With && step == 0 {
				return left.To, root
			} else if f.ID == left.With {
				return left.To, step + root - f.Root
			}
		}
	}
	return "", 0
}
