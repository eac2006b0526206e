package steps

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/txn"
)

// A decision that lets a step be completed stands until the list shows the step as completed.
// Another hook, a rule of the person or an interruption can still stop the client's call. Then
// the decision lapses, which is on record as a line of its own: a step that is completed later, by
// a script or by another call, has to pass its gates again.

// mayLapse reports whether the decision lets a step be completed, or asks a person whether it may
// be. One that leads back counts at once.
func (e Evidence) mayLapse() bool {
	return e.To == completed && (e.Verdict == Allow || e.Verdict == Ask) && len(e.Reopens) == 0
}

// standing returns the decisions that the list does not show to be carried out yet.
func (s *State) standing() (all []Evidence) {
	judged := map[int64]bool{}
	for _, e := range slices.Backward(s.Evidence) {
		if judged[e.Step] || !e.lets() && e.Verdict != Ask && e.Verdict != Lapsed {
			continue
		}
		judged[e.Step] = true
		if c := s.Step(e.Step); c != nil && e.mayLapse() && c.Status != completed && !c.Gone() && !c.Unread {
			all = append(all, e)
		}
	}
	return all
}

// lapse returns the lines that record which decisions have lapsed, and folds them.
func (s *State) lapse(all []Evidence, by By) (lines []Evidence) {
	by.Who, by.How, by.TTY = Fsmtx, ByUpdate, nil
	for _, e := range all {
		status := s.Step(e.Step).Status
		lines = append(lines, Evidence{Time: s.Time, Step: e.Step, From: status, To: status, Verdict: Lapsed,
			Why: "the update was not carried out", Agent: e.Agent, By: by})
	}
	if len(lines) > 0 {
		s.Evidence = append(s.Evidence[:len(s.Evidence):len(s.Evidence)], lines...)
		s.fold()
	}
	return lines
}

// lapseOver is lapse for the decisions about calls of the same agent that are over.
func (c *call) lapseOver(s *State) []Evidence {
	if c.update.Over == nil {
		return nil
	}
	p := Pause{Agent: c.update.Agent, InFlight: func(use string) bool { return use == "" || use == c.update.Use || !c.update.Over(use) }}
	return s.lapse(c.over(s, p), c.by(c.update, Verdict{}))
}

// Pause is a moment at which an agent carries out none of its calls, or few.
type Pause struct {
	Agent    string                // id of the subagent; empty for the session's own agent
	InFlight func(use string) bool // whether a call, by its id, is still being carried out; nil if none is
}

// over returns the decisions that stand although their calls are over.
func (f *Frame) over(s *State, p Pause) []Evidence {
	return slices.DeleteFunc(s.standing(), func(e Evidence) bool {
		return e.By.Session != f.Session || e.Agent != p.Agent || e.By.How != ByUpdate || p.InFlight != nil && p.InFlight(e.Use)
	})
}

// Lapse records that decisions about updates of the session's agent have lapsed: the calls are
// over, and the list does not show them. It takes no lock if there are none.
//
// Errors: those of Load and of tasks.List.Open.
func (f *Frame) Lapse(ctx context.Context, p Pause) error {
	live, err := liveSteps(f.List.Dir)
	if err != nil || len(live) == 0 {
		return err
	}
	s, err := f.look(ctx, live)
	if err != nil {
		return err
	}
	return f.lapse(ctx, s, p)
}

// lapse is Lapse for a state that was read without the lock. It reads the state again.
func (f *Frame) lapse(ctx context.Context, s *State, p Pause) error {
	if len(f.over(s, p)) == 0 {
		return nil
	}
	live, err := liveSteps(f.List.Dir)
	if err != nil {
		return err
	}
	return f.changing(ctx, live, p.Agent, func(c *call, dir *txn.Dir, s *State) error {
		return c.Record(dir, s, s.lapse(f.over(s, p), c.by(c.update, Verdict{})))
	})
}
