package gates

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// Past is a person's decision to go past the gates of a step.
type Past struct {
	Done    bool // the work was done; otherwise the step is skipped
	Step    int64
	Because string

	Values       map[string]string // that the step gives, with Done
	Outcome      string            // in which the step ends, with Done; empty if it has only one or can be done
	WithBlockers bool              // skip the open steps before it, too
	Wrong        bool              // the step was refused wrongly, and so is skipped

	files map[string]string // see Frame.filesBefore
}

// Errors of GoPast.
var (
	// errNoStep is returned when the list has no such step.
	errNoStep = message.NewError("not a step of a workflow in this task list", "fsmtx status lists the steps")
	// errIsDone is returned when the step is done already.
	errIsDone = errors.New("the step is done already")
	// errIsOpen is returned when a step is to be opened again that is open.
	errIsOpen = message.NewError("the step is open", "fsmtx status lists the steps")
	// errUnread is returned when a step is to be opened again whose record cannot be read.
	errUnread = errors.New("the record of its workflow cannot be read: set the status of its task instead")
	// errClosed is returned when a step is to be opened again that is under a step which is
	// done: that one can be opened again.
	errClosed = errors.New("the step that it is under goes on without it")
	// errBlocked is returned when the steps before a step are open.
	errBlocked = message.NewError("the steps before it are open", "--with-blockers skips these, too")
	// errNoOutcome is returned when it was not said how a step ends, or it cannot end so.
	errNoOutcome = message.NewError("the outcome is missing or unknown", "fsmtx status lists the steps")
	// errSpent is returned for an outcome that has led back as often as it may.
	errSpent = message.NewError("the outcome has led back as often as it may",
		"say another outcome, or open a step again: fsmtx step reopen N --because \"...\"")
	// errNoValue is returned when a value that the step sets was not given, or cannot be.
	errNoValue = message.NewError("a value is missing or wrong", "fsmtx status lists the steps")
)

// GoPast completes a step without evaluating its gates: it records the decision, then
// changes the task's file under the client's locks. by is who decided; an empty
// Session becomes the frame's.
//
// The steps before it have to be done, or are skipped with Past.WithBlockers: a later loop could open them again
// while this one is in progress.
//
// Errors: errNoStep, errIsDone, errBlocked, errNoOutcome, errSpent, errNoValue, those of Load and of
// tasks.List.Open.
func (f *Frame) GoPast(ctx context.Context, p Past, by state.By) (*state.State, error) {
	if p.Outcome != "" {
		p.files = f.filesBefore(ctx, p.Step, func(s *state.State, c *state.Current) (machine.Transition,
			error) {
			return s.Conclude(c, p.Outcome)
		})
	}
	return f.overrule(ctx, p.Step, by, func(s *state.State, _ *state.Current, by state.By) ([]state.Evidence, error) {
		return linesPast(s, p, by)
	})
}

// MayPass returns why the step cannot be skipped or marked as done now, whatever the outcome and the values.
//
// Errors: errNoStep, errIsDone, errBlocked.
func MayPass(s *state.State, p Past) error {
	c := s.Step(p.Step)
	if c == nil {
		return fmt.Errorf("#%d: %w", p.Step, errNoStep)
	}
	if err := passable(c); err != nil {
		return err
	}
	if open := s.OpenBlockers(c); len(open) > 0 && !p.WithBlockers {
		return fmt.Errorf("%s: %w: %s", c.Name(), errBlocked, state.Names(open))
	}
	return nil
}

// MayReopen returns why the step cannot be opened again now.
//
// Errors: errNoStep, errIsOpen.
func MayReopen(s *state.State, id int64) error {
	switch c := s.Step(id); {
	case c == nil:
		return fmt.Errorf("#%d: %w", id, errNoStep)
	case !c.Done():
		return fmt.Errorf("%s: %w", c.Name(), errIsOpen)
	}
	return nil
}

// passable returns why nobody can go past the step any more.
func passable(c *state.Current) error {
	switch {
	case c.Gone():
		return fmt.Errorf("#%d: %w: it is gone from the list", c.ID, errNoStep)
	case c.Done():
		return fmt.Errorf("%s: %w", c.Name(), errIsDone)
	}
	return nil
}
