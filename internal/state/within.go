package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A time limit counts from the start of a step in its present round. Nothing wakes up when it
// has passed: the next event notices it. If the step can end as late, it has ended so, from
// then on; the event records that. Otherwise the person is told.

// Now is the clock of what is decided and recorded. A test of a workflow lets time pass by it.
var Now = time.Now

// over returns by how much the time limit of a step that was started has passed, and 0 if
// it has not. A clock that was set back makes it later, and no more.
func (s *State) over(c *Current, begun time.Time) time.Duration {
	if c.Within == 0 || begun.IsZero() {
		return 0
	}
	return max(0, s.Time.Sub(begun)-c.Within)
}

// expire ends a step as late whose time limit has passed, if it can end so. A completion that was
// let through in time and is on its way counts as in time.
func (s *State) expire(c *Current, f *folding) {
	if c.OutcomeNamed(machine.Late) == nil || f.state.Outcome(c.ID) != "" || s.over(c, f.begun[c.ID]) == 0 {
		return
	}
	if e, ok := f.decided[c.ID]; ok && s.Time.Sub(e.Time) < UpdateDelay {
		return
	}
	after, tr, err := f.state.Conclude(c.ID, machine.Late)
	if err != nil {
		return
	}
	why := "its time limit of " + fsmspec.Duration(c.Within) + " has passed"
	s.Unseen = append(s.Unseen, Evidence{Step: c.ID, From: c.Status, To: workflow.Completed, Outcome: machine.Late, Round: f.state.Round(c.ID),
		Verdict: Late, Why: why, NotNeeded: tr.NotNeeded, By: By{Who: TheClock}})
	f.state = after
}

// IsLate reports whether the clock ended the step.
func (e Evidence) IsLate() bool { return e.Verdict == Late }

// seenBegun returns the lines that record the start of steps with a time limit which were started
// in another way than by an update that was let through.
func (s *State) seenBegun(by By) (lines []Evidence) {
	for _, c := range s.Steps {
		if c.Within == 0 || c.Status != workflow.InProgress || !c.Begun.IsZero() || c.Done() {
			continue
		}
		lines = append(lines, Evidence{Time: s.Time, Step: c.ID, From: workflow.InProgress, To: workflow.InProgress, Verdict: Allow,
			Why: "it was started past the hooks", Gaps: []Gap{Otherwise}, Round: c.Round, By: by})
		c.Begun = s.Time
	}
	return lines
}

// Over returns by how much the time limit of an open step has passed, and 0 if it has not or
// there is none.
func (s *State) Over(c *Current) time.Duration {
	if c.Done() {
		return 0
	}
	return s.over(c, c.Begun)
}

// OverText returns "25 min over" for a step whose time limit has passed, and "" for another one.
func (s *State) OverText(c *Current) string {
	d := s.Over(c)
	hours, minutes := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case d == 0:
		return ""
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%d h %d min over", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%d h over", hours)
	case minutes > 0:
		return fmt.Sprintf("%d min over", minutes)
	}
	return "less than 1 min over"
}

// OverLimit returns ", 25 min over its time limit of 15m" for a step whose time limit has passed,
// and "" for another one.
func (s *State) OverLimit(c *Current) string {
	text := s.OverText(c)
	if text == "" {
		return ""
	}
	return ", " + text + " its time limit of " + fsmspec.Duration(c.Within)
}

// IsAhead reports whether the clock was ahead when an open step with a time limit was started: by the clock of now that is yet to come.
func (s *State) IsAhead(c *Current) bool {
	return c.Within > 0 && !c.Done() && c.Begun.After(s.Time.Add(ClockSkew))
}

// TellOver returns the lines that record what the person of a session is told about time limits, and the text: that they have passed,
// which the person of each session that shares the list is told once, or count from now, because the clock was ahead when the step
// was started.
func (s *State) TellOver(by By) (lines []Evidence, told string) {
	for _, c := range s.Steps {
		limit := "its time limit of " + fsmspec.Duration(c.Within)
		why, text := limit+" has passed", c.Name()+" is "+s.OverText(c)+" "+limit
		switch {
		case s.IsAhead(c):
			why = "the clock was ahead when it was started, so " + limit + " counts from now"
			text = c.Name() + ": " + why
			c.Begun = s.Time
		case slices.Contains(c.told, by.Session) || s.Over(c) == 0:
			continue
		default:
			c.told = append(c.told, by.Session)
		}
		by.Who = TheClock
		lines = append(lines, Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: Over, Why: why, Round: c.Round, By: by})
		told = message.Join(told, text)
	}
	return lines, told
}
