package steps

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/visible"
	"github.com/fsmtx/fsmtx/txn"
)

// called denies the completion of a step whose skill was not called while it was in progress,
// in this round.
func called(c *Current) Verdict {
	if c.called {
		return Verdict{}
	}
	start := ""
	if c.Status == pending {
		start = "start the step, then "
	}
	return deny(c, "its skill was not called",
		fmt.Sprintf("%s cannot be completed: the skill %s has to be called first, while this step is in progress. Next, %scall it, "+
			"do what it says, and then complete the step",
			c.Name(), visible.Clip(visible.Words(c.Do), maxSubject), start))
}

// setCalled computes which steps have had the skill that they demand called in their present
// round: that is on record as a call, or with the workflow that came under the step.
func (s *State) setCalled() {
	for _, c := range s.Steps {
		if c.Do == "" {
			continue
		}
		c.called = s.callNoted(c) || slices.ContainsFunc(s.Under(c),
			func(w *Workflow) bool { return w.Called && fsmspec.SameSkill(w.Command, c.Do) })
	}
}

// callNoted reports whether there is a line about a call in the step's present round.
func (s *State) callNoted(c *Current) bool {
	return slices.ContainsFunc(s.Evidence, func(e Evidence) bool { return e.Step == c.ID && e.Verdict == Called && e.Round == c.Round })
}

// underWay reports whether the step is in progress, or is about to be: its start was allowed
// and has not reached the list yet. The hooks of the calls of one message run independently of
// each other (fact 39, client 2.1.329).
func (s *State) underWay(c *Current) bool {
	if c.Done() || c.Status == inProgress {
		return !c.Done()
	}
	e, ok := s.last(c.ID)
	age := s.Time.Sub(e.Time)
	return ok && c.Status == pending && e.To == inProgress && e.Verdict == Allow && -clockSkew < age && age < updateDelay
}

// Calls records that a skill was called, for the steps in progress that demand it. It does
// nothing, and takes no lock, if there is none, or if the event is forged.
func (f *Frame) Calls(ctx context.Context, skill, agent string) error {
	live, err := liveSteps(f.List.Dir)
	if err != nil || !slices.ContainsFunc(live, func(r recorded) bool { return fsmspec.SameSkill(r.Do, skill) }) || f.forged() {
		return err
	}
	return f.locked(ctx, func(dir *txn.Dir) error {
		s, err := live.state(ctx, dir.Path(), dir, false)
		if err != nil {
			return err
		}
		var lines []Evidence
		for _, c := range s.Steps {
			if fsmspec.SameSkill(c.Do, skill) && s.underWay(c) && !s.callNoted(c) {
				lines = append(lines, Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: Called,
					Why: "the skill " + skill + " was called", Round: c.Round, Agent: agent,
					By: By{Who: TheAgent, How: ByUpdate, Session: f.Session, Agent: agent}})
			}
		}
		if err := (&call{Frame: f}).write(dir, s, lines); err != nil {
			return err
		}
		f.log(s, lines)
		return nil
	})
}
