package state

import (
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// Went is where a workflow is that was in another list.
type Went struct {
	Words string // a sentence about it; empty if no workflow has left the list
	Skill string // its name
	List  string // its list
	Step  int64  // the number there of the step that was asked about, or of its first one
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
		went = Went{wentOn(skill, list), skill, list, step}
		if list == dir {
			went.Words = fmt.Sprintf("the workflow of %s is in it again, as #%d", message.Words(skill), step)
		}
	}
	return went
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
