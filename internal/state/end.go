package state

import (
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// EndOf returns the line by which a workflow was ended that nobody has opened again since. It names a step of the workflow, but is
// nothing that was decided about it. ok is false if there is none.
func (s *State) EndOf(w *workflow.Workflow) (e Evidence, ok bool) {
	for _, e := range slices.Backward(s.Evidence) {
		switch c := s.Step(e.Step); {
		case c == nil || c.Workflow != w:
		case e.Verdict == End:
			return e, s.Finished(w)
		case e.IsReopen():
			return e, false
		}
	}
	return e, false
}

// EndText returns, for example, "ended by the person in a terminal: it is enough" for a workflow that was ended, and "" for another one.
func (s *State) EndText(w *workflow.Workflow) string {
	e, ok := s.EndOf(w)
	if !ok {
		return ""
	}
	return strings.TrimSpace("ended by the "+string(e.By.Who)+" "+decisions.Way(string(e.By.How))) + ": " + message.Words(e.Why)
}
