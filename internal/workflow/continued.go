package workflow

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
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

// Copy returns the workflow with numbers that are larger by so much, also in what this program has written into the descriptions.
func (w *Workflow) Copy(by int64) (Workflow, error) {
	var c Workflow
	text, err := json.Marshal(w, jsonx.Tolerant)
	if err == nil {
		err = json.Unmarshal(text, &c, jsonx.Tolerant)
	}
	c.Beside = nil
	c.shift(by, false)
	return c, err
}

func (w *Workflow) shift(by int64, part bool) {
	level := w.stops(part)
	shift(by, &w.Parent)
	shiftAll(by, w.After)
	now := w.stops(part)
	for i := range w.Steps {
		s := &w.Steps[i]
		was := s.ends(level)
		shift(by, &s.ID)
		shiftAll(by, s.BlockedBy)
		shiftAll(by, s.Circular)
		for j := range s.Outcomes {
			shift(by, &s.Outcomes[j].Back)
		}
		for j := range s.When {
			shift(by, &s.When[j].Step)
		}
		s.Description = withEnds(s.Description, was, s.ends(now))
	}
	for i := range w.Under {
		w.Under[i].shift(by, true)
	}
}

func shift(by int64, id *int64) {
	if *id != 0 {
		*id += by
	}
}

func shiftAll(by int64, ids []int64) {
	for i := range ids {
		shift(by, &ids[i])
	}
}

// stops names what an outcome with a stop ends, as a description does.
func (w *Workflow) stops(part bool) string {
	switch {
	case w.Item != "":
		return "this item"
	case part:
		return (&Workflow{Parent: w.Parent, Part: true}).Title()
	}
	return ""
}

// ends returns the sentences of the description that name steps.
func (s Step) ends(level string) string {
	text, _ := fsmspec.EndsAs(s.ForMachine(), level)
	return text
}

// withEnds replaces what this program has written at the beginning of a line. The author's lines come before it.
func withEnds(description, was, now string) string {
	i := strings.LastIndex("\n"+description, "\n"+was)
	if was == "" || i < 0 {
		return description
	}
	return description[:i] + now + description[i+len(was):]
}
