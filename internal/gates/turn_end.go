package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TurnEnd is how the workflows of a session stand when its turn may end, for other hooks that may keep it from ending.
type TurnEnd struct {
	Steps    []StepAtTurnEnd // of the workflows that the session's hydrations put into the list
	SentBack bool            // the session's agent was sent back, and no step has changed since
}

// StepAtTurnEnd is one of their steps.
type StepAtTurnEnd struct {
	Command string // the name of the workflow's skill
	Subject string
	Done    bool // with evidence, or hydrated as completed
	Current bool // the steps before it are done, and it is not; the one in progress before the others
}

// TurnEnd reads the state of the session's workflows. It takes no lock and writes nothing.
//
// Errors: those of Load.
func (f *Frame) TurnEnd(ctx context.Context) (TurnEnd, error) {
	s, err := f.Now(ctx)
	if err != nil || len(s.Steps) == 0 {
		return TurnEnd{}, err
	}
	all, err := f.reminders()
	if err != nil {
		return TurnEnd{}, err
	}
	mine := s.Of(f.Session, func(string) bool { return false })
	at := TurnEnd{SentBack: all.of(f.reminder(Stopping{})).at == mine.ProgressDigest()}
	for _, c := range mine.Steps {
		at.Steps = append(at.Steps, StepAtTurnEnd{Command: c.Workflow.Command, Subject: c.Subject, Done: isEvidenced(mine, c),
			Current: c == currentStep(mine, c.Workflow)})
	}
	return at, nil
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
	return c.Done() && !s.IsMissing(c) && !slices.ContainsFunc(s.EndedOtherwise, func(e state.Evidence) bool { return e.Step == c.ID })
}
