package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A step that is gone from the list counts as skipped, so that nothing waits for it for ever. The
// client lets the agent delete no step, and removes the tasks of a list once all are completed;
// a hydration and an undo record what they delete. So the task of an open step was removed as a
// file, and the person is told.

// ErrMissing is in the error that tells of steps that are gone from the list without having been done.
var ErrMissing = errors.New("gone from the task list, and not on record as done")

// Missing returns the steps that are gone from the list without having been done.
func (s *State) Missing() []*Current {
	return slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return !s.IsMissing(c) })
}

// IsMissing reports whether the step is gone from the list without having been done. While a change
// of the list is under way or is to be recovered, that is not known.
func (s *State) IsMissing(c *Current) bool {
	return !s.Interrupted && c.Gone() && !c.Unread && !c.NotNeeded && !c.over
}

// goneBefore returns the steps of a workflow that were gone when a person ended it, or one that it is under, with the line. It does not
// name them, and they stay gone.
func (s *State) goneBefore(w *workflow.Workflow, e Evidence) []*Current {
	if e.Verdict != End {
		return nil
	}
	return slices.DeleteFunc(s.In(w), func(c *Current) bool { return !c.Gone() || slices.Contains(e.NotNeeded, c.ID) })
}

// goneUnder returns the steps of a workflow under p that were gone when a person made p unnecessary.
func (s *State) goneUnder(w *workflow.Workflow, p *Current) []*Current {
	if p == nil || !p.NotNeeded {
		return nil
	}
	e, _ := s.lastOfAll(func(e Evidence) bool { return slices.Contains(e.NotNeeded, p.ID) })
	return s.goneBefore(w, e)
}

// IsLeft reports whether the step is open, or was when its task was removed: the task could come back.
func (s *State) IsLeft(c *Current) bool { return !c.Done() || s.IsMissing(c) }

// Otherwise returns how the list shows the step, as completed or started, if no decision let that through: a script
// has changed it, or the client ran no hook. It is empty for a step that was let through, or whose gates are still to be
// looked at, which Word says.
func (s *State) Otherwise(c *Current) string {
	e, _ := s.Last(c.ID)
	switch word := s.Word(c); {
	case c.Unread || c.stale || c.Step.Status.String() == c.Status || c.Status == e.To || e.IsOverride():
	case c.Status == workflow.Completed && (word == IsDone || word == Blocked):
		return "completed past the hooks"
	case c.Status == workflow.InProgress && word == Blocked:
		return "started past the hooks"
	}
	return ""
}

// Rewritten returns the steps, by the names of their tasks' files, that their workflow alone has changed in the list: those that are not
// needed, and open ones with a value in their texts; and when somebody worked on each last. See tasks.List.
func (s *State) Rewritten() map[string]time.Time {
	all := map[string]time.Time{}
	for _, c := range s.Steps {
		filled := c.Template != nil && c.Status == workflow.Pending && c.File != nil && c.File.Subject == c.ShownSubject()
		if c.NotNeeded || filled {
			e, _ := s.Last(c.ID)
			all[tasks.Form.Name(message.Itoa(c.ID))] = e.Time
		}
	}
	return all
}

// MissingHere returns the missing steps of workflows that the list still has, in whole or in part. Of a workflow whose tasks are all gone,
// with those of the one that it came under, there is nothing left to enforce: see Emptied.
func (s *State) MissingHere() []*Current {
	return slices.DeleteFunc(s.Missing(), func(c *Current) bool {
		return s.isEmptied(c.Workflow) && s.isEmptied(s.Root(c.Workflow))
	})
}

// Emptied returns the missing steps of a workflow whose tasks are all gone.
func (s *State) Emptied(w *workflow.Workflow) []*Current {
	return slices.DeleteFunc(s.Missing(), func(c *Current) bool { return c.Workflow != w || !s.isEmptied(w) })
}

// Cleared returns the workflows under no step whose tasks are all gone, with steps that were open.
func (s *State) Cleared() []*workflow.Workflow {
	return slices.DeleteFunc(s.Workflows(), func(w *workflow.Workflow) bool { return s.Parent(w) != nil || len(s.Emptied(w)) == 0 })
}

// BringsBack returns the command by which a person brings back the tasks of the step's workflow, which are all gone; empty if they are not.
func (s *State) BringsBack(c *Current) string {
	root, name := s.Root(c.Workflow), s.ListName()
	if !slices.Contains(s.OfList().Cleared(), root) {
		return ""
	}
	return ContinueLine(root.Command, name, name)
}

// ContinueLine returns the command by which the workflow of a skill goes on in another list, both by their names; without to in that of
// whoever runs it.
func ContinueLine(skill, from, to string) string {
	line := []string{"fsmtx", "continue", skill, "--list", from}
	if to != "" {
		line = append(line, "--to", to)
	}
	return shell.Join(line...)
}

func (s *State) isEmptied(w *workflow.Workflow) bool {
	return !slices.ContainsFunc(s.In(w), func(c *Current) bool { return !c.Gone() })
}

// addMissing adds missingHere to the troubles.
func (s *State) addMissing() {
	if gone := s.MissingHere(); len(gone) > 0 {
		s.Troubles = append(s.Troubles, fmt.Errorf("%s: %w; no step after that waits", Names(gone), ErrMissing))
	}
}

// ToldMissing returns for the person that a call is not refused because the step that it belongs to is missing, unless the troubles of
// the list say so.
func (s *State) ToldMissing(c *Current) string {
	if slices.ContainsFunc(s.Troubles, func(err error) bool { return errors.Is(err, ErrMissing) }) {
		return ""
	}
	return "a call that belongs to " + c.Name() + " is not refused: the step is " + ErrMissing.Error()
}

// Revive makes a workflow whose tasks are all gone, with steps that were open, one that has its tasks: the client removes the lists of old
// sessions (cleanupPeriodDays), and what is on record stays. It reports whether it is one. Nothing is written.
func (s *State) Revive(w *workflow.Workflow) bool {
	var all []*Current
	status, lost := map[*Current]string{}, false
	for _, c := range s.Steps {
		if s.Root(c.Workflow) != w {
			continue
		}
		if !c.Gone() || c.Unread {
			return false
		}
		all, status[c] = append(all, c), workflow.Completed
		if s.IsMissing(c) {
			status[c], lost = c.statusBefore(), true
		}
	}
	if !lost {
		return false
	}
	for _, c := range all {
		c.Status = status[c]
	}
	s.Fold()
	return true
}

// statusBefore returns the status that the open step had when its task was removed. What was opened again since it was started waits.
func (c *Current) statusBefore() string {
	if c.started {
		return workflow.InProgress
	}
	return workflow.Pending
}

// CameBack says that tasks which were all gone are in the list again.
const CameBack = "its task files were gone, and are back"

// BringBack creates the tasks of a workflow again that are all gone, with their numbers, as what is on record says. Its evidence and its
// record stay as they are. root is the number of its first step.
func (st *Store) BringBack(ctx context.Context, root int64, by By) error {
	dir, _, err := st.Open(ctx)
	if err != nil {
		return err
	}
	defer st.Release(dir)
	return st.List.CreateIn(ctx, dir, func(int64) (all []fsmspec.Creation, _ string, label tasks.Label, last int64, err error) {
		s, err := st.stateIn(ctx, dir, true)
		if err != nil {
			return nil, "", label, 0, err
		}
		if first := s.Step(root); first == nil || !first.Gone() {
			return nil, "", label, 0, fmt.Errorf("#%d is not gone from the list", root)
		}
		t, err := s.take(root, st.recorded(dir, false))
		if err == nil {
			all, err = t.creations(0, t.records)
		}
		if err != nil {
			return nil, "", label, 0, err
		}
		w := t.records[0]
		label = tasks.Label{Command: w.Command, Spec: w.Spec, Session: w.Session, Step: root, By: by.Words()}
		return all, "", label, slices.Max(t.numbers()), nil
	})
}
