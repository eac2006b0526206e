package state

import (
	"cmp"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// setCalled computes which steps have had the skill that they demand called in their present
// round: that is on record as a call, or with the workflow that came under the step.
func (s *State) setCalled() {
	for _, c := range s.Steps {
		if c.Skill == "" {
			continue
		}
		c.Called = s.callNoted(c) || slices.ContainsFunc(s.Under(c),
			func(w *workflow.Workflow) bool { return w.Called && fsmspec.SameSkill(w.Command, c.Skill) })
	}
}

// callNoted reports whether there is a line about a call in the step's present round.
func (s *State) callNoted(c *Current) bool {
	return slices.ContainsFunc(s.Evidence, func(e Evidence) bool {
		return e.Step == c.ID && e.Verdict == Called && e.Round == c.Round
	})
}

// underWay reports whether the step is in progress, or is about to be: its start was allowed
// and has not reached the list yet. The hooks of the calls of one message run independently of
// each other (fact 39, client 2.1.329).
func (s *State) underWay(c *Current) bool {
	if c.Done() || c.Status == workflow.InProgress {
		return !c.Done()
	}
	return c.Status == workflow.Pending && s.IsOnItsWay(c, workflow.InProgress, UpdateDelay)
}

// SkillCall is a call of a skill.
type SkillCall struct {
	Skill string
	Agent string // the id of the subagent that called it
	Use   string // identifies the call; empty if unknown
	Under int64  // the step that the workflow of the skill came under; 0 if it came under none
}

// CountsFor returns the step that a call of a skill counts for, or nil.
func (s *State) CountsFor(x SkillCall, session string) *Current {
	if s.counted(x.Use) { // the hook is registered twice, or a check corrects the tasks
		return nil
	}
	var wanting []*Current
	for _, c := range s.Steps {
		if !fsmspec.SameSkill(c.Skill, x.Skill) || !s.underWay(c) {
			continue
		}
		switch {
		case c.ID == x.Under && s.callNoted(c):
			return nil // the skill starts over
		case c.ID == x.Under:
			return c
		case !c.Called:
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
	return !b.Called || c.Use != "" && slices.ContainsFunc(s.Evidence,
		func(e Evidence) bool { return e.Step == b.ID && e.Verdict == Called && e.Use == c.Use })
}
