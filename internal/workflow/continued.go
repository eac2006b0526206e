package workflow

import (
	"slices"
	"time"
)

// From is where a workflow was before it went on in this list.
type From struct {
	ID      string    `json:"id"`      // of the continuation
	List    string    `json:"list"`    // the directory of the list
	Session string    `json:"session"` // as Workflow.Session was
	Dir     string    `json:"dir"`     // as Workflow.Dir was
	Time    time.Time `json:"time"`    // when it was continued

	Root   int64  `json:"root"`            // number of its first step there
	Client string `json:"client,omitzero"` // as Workflow.Client was
}

// From is where the workflow was before it went on in this list; nil if it began here.
func (w *Workflow) From() *From {
	if len(w.Before) == 0 {
		return nil
	}
	return &w.Before[len(w.Before)-1]
}

// Way is where the workflow was, and those were in whose place it came at reloads, oldest first.
func (w *Workflow) Way() []From { return slices.Concat(w.Earlier, w.Before) }

// Records returns the workflow as it is recorded and those beside it, which had records of their own in another list.
func (w *Workflow) Records() []*Workflow {
	all := []*Workflow{w}
	for i := range w.Beside {
		all = append(all, &w.Beside[i])
	}
	for _, r := range all {
		if from := w.From(); from != nil {
			r.With = from.ID
		}
	}
	return all
}

// Copy returns the workflow with numbers that are larger by so much, without those beside it.
func (w *Workflow) Copy(by int64) (Workflow, error) {
	c := *w
	c.Beside = nil
	c.Base += by
	if c.Parent != 0 {
		c.Parent += by
	}
	return c, c.read()
}
