package gates

import (
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// called denies the completion of a step whose skill was not called while it was in progress,
// in this round.
func called(c *state.Current) Verdict {
	if c.Called {
		return Verdict{}
	}
	start := ""
	if c.Status == workflow.Pending {
		start = "start the step, then "
	}
	return deny(c, "its skill was not called",
		fmt.Sprintf("%s cannot be completed: the skill %s has to be called first, while this step is in progress. Next, %scall it, "+
			"do what it says, and then complete the step",
			c.Name(), message.Clip(message.Words(c.Skill), message.MaxSubject), start))
}

// Calls records that a skill was called, for the step that the call counts for: the one that
// the skill's workflow came under, or the step in progress that demands it and was started
// last, by the same agent before others. A call counts for one step only: otherwise an agent
// that starts the steps for all lines calls the skill once. Calls does nothing, and takes no
// lock, if no step demands the skill, or if the event is forged.
func (f *Frame) Calls(ctx context.Context, x state.SkillCall) error {
	r, err := f.OnRecord()
	calls := func(step state.RecordedStep) bool { return fsmspec.SameSkill(step.Skill, x.Skill) }
	if err != nil || !slices.ContainsFunc(r.Steps, calls) || f.IsForged() {
		return err
	}
	return f.changing(ctx, x.Agent, func(change *call, dir *txn.Dir, s *state.State) error {
		c := s.CountsFor(x, f.Session)
		if c == nil {
			return nil
		}
		line := state.Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: state.Called,
			Why: "the skill " + x.Skill + " was called", Round: c.Round, Agent: x.Agent, Use: x.Use,
			By: state.By{Who: state.TheAgent, How: state.ByCall, Session: f.Session, Agent: x.Agent}}
		return change.Record(dir, s, []state.Evidence{line})
	})
}
