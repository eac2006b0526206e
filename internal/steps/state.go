package steps

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/fsmspec"
)

// State is what the gates decide on: the steps of a list, and what was decided before.
type State struct {
	Steps    []*Current // of all workflows in the list, by number
	Evidence []Evidence // oldest first
	Pending  []Pending  // updates whose checks are running
	Time     time.Time

	size int       // bytes of the evidence's file
	dead []Pending // whose processes have died
}

// Current is a step as it stands.
type Current struct {
	Step
	Workflow    *Workflow
	Status      string // in the list now: pending, in_progress, completed, or empty if it is gone
	Description string
	Passed      bool // the last completion was let through
}

// Pending is a completion whose check is running. The process that runs it is named by
// its id and the time at which it was started: a record of a dead process counts for
// nothing.
type Pending struct {
	Step  int64  `json:"step"`
	Call  string `json:"call"`         // one process may have several under way
	Use   string `json:"use,omitzero"` // Update.Use
	PID   int    `json:"pid"`
	Start string `json:"start"`

	Group      int    `json:"group,omitzero"` // leader of the check's process group
	GroupStart string `json:"groupStart,omitzero"`
}

const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
	deleted    = "deleted"
)

// Step returns the step with that number, or nil.
func (s *State) Step(id int64) *Current {
	i, ok := slices.BinarySearchFunc(s.Steps, id, func(c *Current, id int64) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return nil
	}
	return s.Steps[i]
}

// Done reports whether a step counts as done: completed and let through, or gone from
// the list.
func (c *Current) Done() bool { return c.Status == "" || c.Status == completed && c.Passed }

// Gone reports whether the step is not in the list any more.
func (c *Current) Gone() bool { return c.Status == "" }

// Name returns the step's number and subject.
func (c *Current) Name() string { return "#" + itoa(c.ID) + " " + quote(c.Subject) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// openBlockers returns the steps that come before c and are not done.
func (s *State) openBlockers(c *Current) (open []*Current) {
	for _, id := range c.BlockedBy {
		if b := s.Step(id); b != nil && !b.Done() {
			open = append(open, b)
		}
	}
	return open
}

// Ready returns the steps that can be worked on: not done, and every blocker done.
func (s *State) Ready() (ready []*Current) {
	for _, c := range s.Steps {
		if !c.Done() && len(s.openBlockers(c)) == 0 {
			ready = append(ready, c)
		}
	}
	return ready
}

// DoneCount returns how many steps are done.
func (s *State) DoneCount() (n int) {
	for _, c := range s.Steps {
		if c.Done() {
			n++
		}
	}
	return n
}

// Word returns where the step stands, in one or two words for people.
func (s *State) Word(c *Current) string {
	switch {
	case c.Gone():
		return "gone"
	case s.checking(c.ID):
		return "checking"
	case c.Done() && s.skipped(c.ID):
		return "skipped"
	case c.Done():
		return "done"
	case len(s.openBlockers(c)) > 0:
		return "blocked"
	case c.Status == completed:
		return "unchecked"
	case c.Status == inProgress:
		return "in progress"
	}
	return "ready"
}

// checking reports whether the step's check is running.
func (s *State) checking(id int64) bool {
	return slices.ContainsFunc(s.Pending, func(p Pending) bool { return p.Step == id })
}

// skipped reports whether the last word on the step is that a person skipped it.
func (s *State) skipped(id int64) bool {
	e, ok := s.last(id)
	return ok && e.Verdict == Override && strings.HasPrefix(e.Why, skipWord)
}

// last returns the last decision about the step that was not a denial.
func (s *State) last(id int64) (Evidence, bool) {
	for _, e := range slices.Backward(s.Evidence) {
		if e.Step == id && e.Verdict != Deny {
			return e, true
		}
	}
	return Evidence{}, false
}

// aboutToBeCompleted reports whether the step's completion was let through moments ago
// and has not reached the list yet: hooks of one message run at the same time (fact 39,
// client 2.1.329).
func (s *State) aboutToBeCompleted(c *Current) bool {
	e, ok := s.last(c.ID)
	return ok && c.Status != completed && e.To == completed && e.Verdict == Allow && s.Time.Sub(e.Time) < moments
}

const moments = 30 * time.Second

// awaited reports whether a person was asked about the step and has not said yes, or the
// agent was told to ask one.
func (s *State) awaited(c *Current) bool {
	if e, ok := s.last(c.ID); ok && e.Verdict == Ask && c.Status != completed {
		return true
	}
	e, ok := s.lastAny(c.ID)
	return ok && e.Verdict == Deny && s.repeats(e) >= patience
}

func (s *State) lastAny(id int64) (Evidence, bool) {
	for _, e := range slices.Backward(s.Evidence) {
		if e.Step == id {
			return e, true
		}
	}
	return Evidence{}, false
}

// setPassed computes Passed from the evidence. A step that was completed when it was
// hydrated was never to be done.
func (s *State) setPassed() {
	for _, c := range s.Steps {
		c.Passed = c.Step.Status == fsmspec.Completed.String()
	}
	for _, e := range s.Evidence {
		c := s.Step(e.Step)
		switch {
		case c == nil || e.Verdict == Deny:
		case e.To == completed:
			c.Passed = true
		case e.From == completed: // reopened
			c.Passed = false
		}
	}
}

// unseen returns the steps that were completed in another way than by an update that was
// let through, and whose turn it was: every blocker is done. Those that another call has
// noticed, and whose checks it runs, are left to it.
func (s *State) unseen() (found []*Current) {
	for _, c := range s.Steps {
		if c.Status == completed && !c.Passed && !s.checking(c.ID) && len(s.openBlockers(c)) == 0 {
			found = append(found, c)
		}
	}
	return found
}
