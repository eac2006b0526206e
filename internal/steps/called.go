package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
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
			c.Name(), message.Clip(message.Words(c.Do), maxSubject), start))
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
	return c.Status == pending && s.isOnItsWay(c, inProgress, updateDelay)
}

// SkillCall is a call of a skill.
type SkillCall struct {
	Skill string
	Agent string // the id of the subagent that called it
	Use   string // identifies the call; empty if unknown
	Under int64  // the step that the workflow of the skill came under; 0 if it came under none
}

// Calls records that a skill was called, for the step that the call counts for: the one that
// the skill's workflow came under, or the step in progress that demands it and was started
// last, by the same agent before others. A call counts for one step only: otherwise an agent
// that starts the steps for all lines calls the skill once. Calls does nothing, and takes no
// lock, if no step demands the skill, or if the event is forged.
func (f *Frame) Calls(ctx context.Context, x SkillCall) error {
	live, err := liveSteps(f.List.Dir)
	if err != nil || !slices.ContainsFunc(live, func(r recordedStep) bool { return fsmspec.SameSkill(r.Do, x.Skill) }) || f.forged() {
		return err
	}
	return f.changing(ctx, live, x.Agent, func(change *call, dir *txn.Dir, s *State) error {
		c := s.countsFor(x, f.Session)
		if c == nil {
			return nil
		}
		line := Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: Called,
			Why: "the skill " + x.Skill + " was called", Round: c.Round, Agent: x.Agent, Use: x.Use,
			By: By{Who: TheAgent, How: ByUpdate, Session: f.Session, Agent: x.Agent}}
		return change.Record(dir, s, []Evidence{line})
	})
}

// countsFor returns the step that a call of a skill counts for, or nil.
func (s *State) countsFor(x SkillCall, session string) *Current {
	if s.counted(x.Use) { // the hook is registered twice, or a check corrects the tasks
		return nil
	}
	var wanting []*Current
	for _, c := range s.Steps {
		if !fsmspec.SameSkill(c.Do, x.Skill) || !s.underWay(c) {
			continue
		}
		switch {
		case c.ID == x.Under && s.callNoted(c):
			return nil // the skill starts over
		case c.ID == x.Under:
			return c
		case !c.called:
			wanting = append(wanting, c)
		}
	}
	return cmp.Or(s.startedLast(wanting, &Calling{Session: session, Agent: x.Agent}), s.startedLast(wanting, nil))
}

// counted reports whether a call is on record.
func (s *State) counted(use string) bool {
	return use != "" && slices.ContainsFunc(s.Evidence, func(e Evidence) bool { return e.Verdict == Called && e.Use == use })
}

// wants reports whether a step demands the skill and waits for its call: also for this call, if
// that is on record already.
func (s *State) wants(b *Current, c Calling) bool {
	if !c.demandedBy(b) {
		return false
	}
	return !b.called || c.Use != "" && slices.ContainsFunc(s.Evidence,
		func(e Evidence) bool { return e.Step == b.ID && e.Verdict == Called && e.Use == c.Use })
}
