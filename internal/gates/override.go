package gates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
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
	// errEnded is returned when the step is not open.
	errEnded = errors.New("the step is not open")
	// errGone is returned when the task of the step is gone.
	errGone = message.NewError("its task is gone from the list, and nothing waits for it", "to have it done, "+state.Remedy)
	// errOver is returned when a workflow is to be ended that is over.
	errOver = message.NewError("no step of its workflow is open", "fsmtx status lists the steps")
	// errIsOpen is returned when a step is to be opened again that is open.
	errIsOpen = message.NewError("the step is open", "fsmtx status lists the steps")
	// errUnneeded is returned when a step is to be opened again that would not be open, because of how another one ended.
	errUnneeded = errors.New("it would still not be needed")
	// errUnread is returned when a step is to be opened again whose record cannot be read.
	errUnread = errors.New("the record of its workflow cannot be read: set the status of its task instead")
	// errClosed is returned when a step is to be opened again that is under a step which is
	// done: that one can be opened again.
	errClosed = errors.New("the step that it is under goes on without it")
	// errBlocked is returned when the steps before a step are open.
	errBlocked = message.NewError("the steps before it are open", "--with-blockers skips these, too")
	// ErrNoOutcome is returned when it was not said how a step ends, or it cannot end so.
	ErrNoOutcome = message.NewError("the outcome is missing or unknown", "fsmtx status lists the steps")
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
// Errors: errNoStep, errEnded, errBlocked, ErrNoOutcome, errSpent, errNoValue, those of Load and of
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

// noStep returns the error about a step that the list does not have, or not any more.
func noStep(left state.Departed, id int64) error {
	if went := left.Of(message.Itoa(id)); went != "" {
		return message.WithHint(fmt.Errorf("#%d: %w: %s", id, errNoStep, went),
			"name the list in which it is: fsmtx status --all shows them")
	}
	return fmt.Errorf("#%d: %w", id, errNoStep)
}

// MayPass returns why the step cannot be skipped or marked as done now, whatever the outcome and the values.
//
// Errors: errNoStep, errEnded, errGone, errBlocked.
func MayPass(s *state.State, p Past) error {
	c := s.Step(p.Step)
	if c == nil {
		return noStep(s.Departed, p.Step)
	}
	if c.Done() {
		return ended(s, c)
	}
	if open := s.OpenBlockers(c); len(open) > 0 && !p.WithBlockers {
		return fmt.Errorf("%s: %w: %s", c.Name(), errBlocked, state.Names(open))
	}
	return nil
}

// Try returns why the person's decision about a step would be refused. The state is then of no use any more.
//
// Errors: those of GoPast.
func Try(s *state.State, p Past) error {
	_, err := linesPast(s, p, state.By{})
	return err
}

// MayReopen returns why the step cannot be opened again now. list is the flag of the list for a command that it names; empty
// for none.
//
// Errors: errNoStep, errGone, errIsOpen, errUnneeded.
func MayReopen(s *state.State, id int64, list string) error {
	switch c := s.Step(id); {
	case c == nil:
		return noStep(s.Departed, id)
	case c.Gone():
		return ended(s, c)
	case !c.Done():
		return fmt.Errorf("%s: %w", c.Name(), errIsOpen)
	case !s.IsClosed(c.Workflow):
		if d := decidedBy(s, c); d != c {
			hint := fmt.Sprintf("open #%d again, which decided that", d.ID)
			if list != "" {
				hint += fmt.Sprintf(`: fsmtx step reopen %d --because "..." %s`, d.ID, list)
			}
			return message.WithHint(fmt.Errorf("%s: %w: %s", c.Name(), errUnneeded, c.WhyNotNeeded()), hint)
		}
	}
	return nil
}

// decidedBy returns the step that has to be opened again for a step that is done to be open: the step itself, unless how another one
// ended makes it unnecessary.
func decidedBy(s *state.State, c *state.Current) *state.Current {
	for {
		_, tr, err := s.Flows[c.Workflow].Reopen(c.ID)
		b := s.Unmet(c)
		if err != nil || b == nil || !slices.Contains(tr.NotNeeded, c.ID) {
			return c
		}
		c = b
	}
}

// MayEnd returns why the workflow of the step cannot be ended now.
//
// Errors: errNoStep, errOver.
func MayEnd(s *state.State, id int64) error {
	switch c := s.Step(id); {
	case c == nil:
		return noStep(s.Departed, id)
	case len(EndedWith(s, c.Workflow)) == 0 || isEnded(s, c.Workflow):
		return fmt.Errorf("%s: %w", c.Name(), errOver)
	}
	return nil
}

// SeveralOpenError is returned by OnlyOpen if several workflows are open.
type SeveralOpenError struct {
	Steps []*state.Current // the first open one of each
	List  string           // by which a person names the list; empty if that is not known
}

func (e *SeveralOpenError) Error() string {
	var all []string
	for _, c := range e.Steps {
		all = append(all, fmt.Sprintf("%s of %s", c.Name(), message.Words(c.Workflow.Command)))
	}
	return "several workflows are open: " + strings.Join(all, ", ")
}

// Hint is for an agent; a person reads the commands as they have typed them.
func (e *SeveralOpenError) Hint() string {
	var lines []string
	for _, c := range e.Steps {
		line := "fsmtx step end " + message.Itoa(c.ID) + ` --because "..."`
		if e.List != "" {
			line += " --list " + shell.Join(e.List)
		}
		lines = append(lines, line+" ends "+message.Words(c.Workflow.Command))
	}
	return strings.Join(lines, "; ")
}

// OnlyOpen returns the number of a step of the workflow that is open in the list, if it is the only one that is under no other.
func OnlyOpen(s *state.State) (step int64, err error) {
	open := map[*workflow.Workflow]bool{}
	var all []*state.Current
	for _, c := range s.Steps {
		if w := c.Workflow; w.Parent == 0 && !open[w] && MayEnd(s, c.ID) == nil {
			open[w], step = true, c.ID
			all = append(all, c)
		}
	}
	went := s.Departed.Last()
	switch {
	case len(all) == 1:
		return step, nil
	case len(all) > 1:
		return 0, &SeveralOpenError{all, s.ListName()}
	case went != "":
		return 0, message.WithHint(errors.New("no workflow is open in this task list: "+went),
			"name that list: fsmtx status --all shows them")
	}
	return 0, message.WithHint(errors.New("no workflow is open in this task list"), "fsmtx status lists the steps")
}

// EndedWith returns the steps of a workflow, and of those under its steps, that its end makes unnecessary: the open ones. If none is open
// they are those that are gone, whose workflow may come back.
func EndedWith(s *state.State, w *workflow.Workflow) []*state.Current {
	all := s.Within(w)
	if open := slices.DeleteFunc(slices.Clone(all), (*state.Current).Done); len(open) > 0 {
		return open
	}
	return slices.DeleteFunc(all, func(c *state.Current) bool { return !s.IsMissing(c) })
}

// isEnded reports whether a person has ended the workflow.
func isEnded(s *state.State, w *workflow.Workflow) bool {
	_, ended := s.EndOf(w)
	return ended
}

// ended returns the error about a step that is not open.
func ended(s *state.State, c *state.Current) error {
	if c.Gone() {
		err := fmt.Errorf("%s: %w", c.Name(), errGone)
		if back := s.BringsBack(c); back != "" {
			return message.WithHint(err, back+" brings its workflow back")
		}
		return err
	}
	return fmt.Errorf("%s: %w: it %s", c.Name(), errEnded, s.Ended(c))
}
