package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A step that is gone from the list counts as done, so that nothing waits for it for ever. The
// client lets the agent delete no step, and removes the tasks of a list once all are completed;
// a hydration and an undo record what they delete. So the task of an open step was removed as a
// file, and the person is told.

// ErrMissing is in the error that tells of steps that are gone from the list without having been done.
var ErrMissing = errors.New("gone from the task list, and nothing on record shows that it was done")

// Missing returns the steps that are gone from the list without having been done.
func (s *State) Missing() []*Current {
	return slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return !s.IsMissing(c) })
}

// IsMissing reports whether the step is gone from the list without having been done. While a change
// of the list is under way or is to be recovered, that is not known.
func (s *State) IsMissing(c *Current) bool {
	return !s.interrupted && c.Gone() && !c.Unread && !c.NotNeeded && !s.wasDone(c)
}

// wasDone reports whether the step was let through, or hydrated as completed.
func (s *State) wasDone(c *Current) bool {
	e, ok := s.last(c.ID)
	return c.Step.Status == completed || ok && e.To == completed && e.Verdict != Ask
}

// Otherwise returns how the list shows the step, as completed or started, if no decision let that through: a script
// has changed it, or the client ran no hook. It is empty for a step that was let through, or whose gates are still to be
// looked at, which Word says.
func (s *State) Otherwise(c *Current) string {
	e, _ := s.last(c.ID)
	switch word := s.Word(c); {
	case c.Unread || c.stale || c.Step.Status == c.Status || c.Status == e.To || e.Verdict == Override:
	case c.Status == completed && (word == "done" || word == "blocked"):
		return "completed in another way"
	case c.Status == inProgress && word == "blocked":
		return "started in another way"
	}
	return ""
}

// missingHere returns the missing steps of workflows that the list still has. Of a workflow whose tasks are all gone
// there is nothing left to enforce.
func (s *State) missingHere() []*Current {
	return slices.DeleteFunc(s.Missing(), func(c *Current) bool {
		return !slices.ContainsFunc(s.In(c.Workflow), func(o *Current) bool { return !o.Gone() })
	})
}

// keyOf returns the key under which the person is told of steps that are missing: again if others are.
func keyOf(what string, gone []*Current) string {
	return fmt.Sprintf("/%s/%d-%d", what, len(gone), gone[len(gone)-1].ID)
}

// addMissing adds missingHere to the troubles.
func (s *State) addMissing() {
	if gone := s.missingHere(); len(gone) > 0 {
		s.Troubles = append(s.Troubles, fmt.Errorf("%s: %w; the steps after it do not wait for it", Names(gone), ErrMissing))
	}
}

// toldMissing returns for the person that a call is not refused because the step that it belongs to is missing, unless the troubles of
// the list say so.
func (s *State) toldMissing(c *Current) string {
	if slices.ContainsFunc(s.Troubles, func(err error) bool { return errors.Is(err, ErrMissing) }) {
		return ""
	}
	return "a call that belongs to " + c.Name() + " is not refused: the step is " + ErrMissing.Error()
}

// tellMissing returns for the person which steps of the session's workflows are missing, once a session
// as long as no further one is, or that nothing about its steps is on record. At its stop there may be no other
// occasion.
func (f *Frame) tellMissing(ctx context.Context, s *State, x Stopping) string {
	if x.Agent != "" || x.Heard != nil && !x.Heard.Works {
		return ""
	}
	if len(s.Steps) == 0 {
		if all, err := taggedTasks(f.List.Dir); err == nil && len(all) > 0 {
			return f.unrecorded(ctx, &all[0], false).Trouble
		}
		return ""
	}
	if len(s.Missing()) == 0 {
		return ""
	}
	remedy := "Invoke" + strings.TrimPrefix(Remedy, "invoke")
	if x.Heard == nil {
		s = f.own(s, x.Transcript, x.Prompt)
	} else { // there, a skill that is invoked again goes on
		s, remedy = s.onlyCalled(x.Heard.Called), "Begin it again, with fsmtx begin or the tool workflow_begin, to have all its steps"
	}
	gone := s.Missing()
	if len(gone) == 0 || f.toldBefore(ctx, cmp.Or(x.Caller, f.Session)+keyOf("gone", gone)) {
		return ""
	}
	return (&State{Steps: gone}).commands() + ": " + ErrMissing.Error() + ": " + Names(gone) + ". " + remedy
}

// Left returns for the person, once a session, which workflows are open in another list than that of the frame, which
// the client was given while they were under way.
func (f *Frame) Left(ctx context.Context, dir string) string {
	if dir == f.List.Dir {
		return ""
	}
	s, err := LoadNow(ctx, dir)
	there := *f
	there.List.Dir = dir
	if err != nil || !s.HasOpen() || there.toldBefore(ctx, f.Session+"/left") {
		return ""
	}
	return s.summary() + " in " + dir
}
