package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Standing is what the workflows of a session say to other hooks that may keep its turn from
// ending.
type Standing struct {
	Steps    []Stood // of the workflows that the session's hydrations put into the list
	SentBack bool    // the session's agent was sent back, and no step has changed since
}

// Stood is a step of a Standing.
type Stood struct {
	Command string // the name of the workflow's skill
	Subject string
	Done    bool // with evidence, or hydrated as completed
	Current bool // the steps before it are done, and it is not; the one in progress before the others
}

// Standing reads the state of the session's workflows. It takes no lock and writes nothing.
//
// Errors: those of Load.
func (f *Frame) Standing(ctx context.Context) (Standing, error) {
	s, err := f.Now(ctx)
	if err != nil || len(s.Steps) == 0 {
		return Standing{}, err
	}
	all, err := state.Recall[reminders](&f.Store, state.StopFile)
	if err != nil {
		return Standing{}, err
	}
	mine := s.Of(f.Session, func(string) bool { return false })
	standing := Standing{SentBack: all.of(f.reminder(Stopping{})).at == mine.ProgressDigest()}
	for _, c := range mine.Steps {
		standing.Steps = append(standing.Steps, Stood{Command: c.Workflow.Command, Subject: c.Subject, Done: isEvidenced(mine, c),
			Current: c == currentStep(mine, c.Workflow)})
	}
	return standing, nil
}

// currentStep returns the step of a workflow that is being worked on: the first that is in progress, or
// else the first that is ready; nil if there is none.
func currentStep(s *state.State, w *workflow.Workflow) *state.Current {
	all := slices.DeleteFunc(s.Startable(), func(c *state.Current) bool { return c.Workflow != w })
	if len(all) == 0 {
		return nil
	}
	return slices.MinFunc(all, func(a, b *state.Current) int { return state.StopRank(a) - state.StopRank(b) })
}

// isEvidenced reports whether the step was let through, or what is on record about other steps
// shows that it is not needed. A step that is gone from the list counts as done for the steps
// after it, but nothing shows that its work was done.
func isEvidenced(s *state.State, c *state.Current) bool {
	return c.Done() && (s.WasDone(c) || c.NotNeeded)
}
