package steps

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// Displaced is a workflow of another session that was not finished when a skill was called in the list that both share.
type Displaced struct {
	Session string  `json:"session"` // whose it was
	Command string  `json:"command"`
	Steps   []int64 `json:"steps"` // their numbers in the list
}

// displaced is a workflow and the one that has replaced it.
type displaced struct {
	Displaced
	by *Workflow
	at int64 // the number of its hydration
}

func (d Displaced) has(task string) bool {
	return slices.ContainsFunc(d.Steps, func(id int64) bool { return itoa(id) == task })
}

// Displaced returns the workflow as one that is replaced.
func (w *Workflow) Displaced() Displaced {
	d := Displaced{Session: w.Session, Command: w.Command}
	for _, u := range w.all() {
		for _, s := range u.Steps {
			d.Steps = append(d.Steps, s.ID)
		}
	}
	return d
}

// Text names the steps by their numbers.
func (d Displaced) Text() string {
	if len(d.Steps) == 1 {
		return fmt.Sprintf("step #%d", d.Steps[0])
	}
	return fmt.Sprintf("steps #%d to #%d", slices.Min(d.Steps), slices.Max(d.Steps))
}

// ToldDisplaced returns, once each, by which calls of skills in other sessions the unfinished workflows of this session were
// replaced in the list that they share.
func (f *Frame) ToldDisplaced(ctx context.Context) (text string) {
	src, r := openRecord(f.List.Dir, txn.WithFS(f.List.Files()))
	defer src.close()
	for _, d := range r.displaced {
		if d.Session != f.Session || f.toldBefore(ctx, fmt.Sprintf("%s/displaced/%d/%d", f.Session, d.at, slices.Min(d.Steps))) {
			continue
		}
		its := "Its tasks"
		if len(d.by.Steps) == 0 {
			its = "Its workflow, which has no steps,"
		}
		text = both(text, visible.Sprintf("another session (%s) has called the skill %s in this shared task list. %s took the place of "+
			"the unfinished workflow %s of this session: the list does not have its %s any more. fsmtx undo brings them back, if the list "+
			"was not changed since", d.by.Session, d.by.Command, its, d.Command, d.Text()))
	}
	return text
}
