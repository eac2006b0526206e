package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// State is the input of the gates: the steps of a list, and what was decided before.
type State struct {
	Steps    []*Current // of all workflows in the list, sorted by number
	Evidence []Evidence // about updates, oldest first
	Calls    []Evidence // about calls that belong to steps, oldest first
	Pending  []Pending  // updates that are being decided
	Time     time.Time
	Troubles []error // what could not be read

	store *Store // that has read it; nil of a state that was read of no list

	Flows          map[*workflow.Workflow]machine.State
	Unseen         []Evidence // decisions that the list shows to be carried out, not yet on record as that
	EndedOtherwise []Evidence // about steps that are done without a decision, and not on record; see fold
	values         map[*workflow.Workflow]map[string]string
	Unshown        bool // steps were opened again, and it is not on record that the list shows it

	whole *State                         // of the whole list, if this is the part of a session; nil if it is the whole
	under map[int64][]*workflow.Workflow // those under a step, by its number

	replaced map[*workflow.Workflow]bool // of a run: those whose tasks a later change has deleted

	Left bool // of a run: another workflow has come in its place, or it was undone

	Interrupted bool // a change of the list was interrupted, or is under way

	Dead []Pending // updates whose processes have died

	out map[*workflow.Workflow]time.Time // the workflows that are not in the list any more, since when

	Changed  []changed
	Moving   *Moving // the workflow that goes on in another list, or may; nil if there is none
	Departed Departed

	marks map[string]mark // what metadata says, by its text

	read      []Evidence // of the evidence's file
	late      []Evidence // that was written without the lock and is not in that file yet
	lateFiles []string
	missed    []time.Time // see Missed
}

// Current is a step with its present status.
type Current struct {
	workflow.Step
	Workflow    *workflow.Workflow
	Status      string // in the list: pending, in_progress, completed, or empty if it is gone
	Description string
	Unread      bool            // its record cannot be read: only its order is known, from the list
	Called      bool            // the skill that it demands was called in this round
	undoneCalls map[string]bool // see RecordedStep

	NotNeeded bool   // it ended without being worked on
	because   string // of NotNeeded, for the list

	Outcome string            // in which it ended; empty while it is open
	Round   int               // from 1
	Values  map[string]string // that its last completion gave; nil if it gave none

	Template   *workflow.Step   // with the names of values; nil if none are replaced
	PathFaults map[string]error // why the names in a path are not replaced, by the path
	Begun      time.Time        // when it was started in this round; zero if it was not, or has no time limit
	started    bool             // it was started on record, and neither ended nor opened again since
	told       []string         // the sessions whose person knows that its time limit has passed

	over bool // it had ended when its task was removed

	stale bool // the list still shows it as it was before it was opened again: completed, or in progress

	File *tasks.Task // nil if it is gone or cannot be read
}

// Pending records an update that is being decided: the check of its step is running, or it
// waits for another update. PID and Start identify the process; a record whose process has
// died is ignored.
type Pending struct {
	Step    int64  `json:"step"`
	Call    string `json:"call"`         // id of the call: a process may serve several at once
	Use     string `json:"use,omitzero"` // gates.Update.Use
	Waiting bool   `json:"waiting,omitzero"`
	PID     int    `json:"pid"`
	Start   string `json:"start"`

	Group      int    `json:"group,omitzero"` // leader of the check's process group
	GroupStart string `json:"groupStart,omitzero"`
}

// isPartial reports whether the record of a step cannot be read: what follows from the others may be wrong, so the list is left as it is.
func (s *State) isPartial() bool {
	return slices.ContainsFunc(s.Steps, func(c *Current) bool { return c.Unread })
}

// Step returns the step with that number, or nil.
func (s *State) Step(id int64) *Current {
	i, ok := slices.BinarySearchFunc(s.Steps, id, func(c *Current, id int64) int { return cmp.Compare(c.ID, id) })
	if !ok {
		return nil
	}
	return s.Steps[i]
}

// Done reports whether a step counts as done: it has ended in an outcome, or is gone from the
// list.
func (c *Current) Done() bool { return c.Outcome != "" || c.Gone() }

// Gone reports whether the step is no longer in the list.
func (c *Current) Gone() bool { return c.Status == "" }

// Name returns the step's number and subject.
func (c *Current) Name() string { return "#" + message.Itoa(c.ID) + " " + message.Quote(c.Subject) }

// OpenBlockers returns the steps that come before c, or before a step that c is under, and
// are not done.
func (s *State) OpenBlockers(c *Current) (open []*Current) {
	open = append(s.openBefore(c), s.openAfter(c.Workflow)...)
	for _, p := range s.Above(c.Workflow) {
		open = append(append(open, s.OfList().openBefore(p)...), s.openAfter(p.Workflow)...)
	}
	return open
}

// openBefore returns the steps that come before c in its own workflow and are not done.
func (s *State) openBefore(c *Current) (open []*Current) {
	for _, id := range c.BlockedBy {
		if b := s.Step(id); b != nil && !b.Done() {
			open = append(open, b)
		}
	}
	return open
}

// OpenFor returns the steps that have to be done before the status of c can become this one:
// those before it and, for its completion, those under it.
func (s *State) OpenFor(c *Current, status string) []*Current {
	open := s.OpenBlockers(c)
	if status == workflow.Completed {
		open = append(open, s.OpenUnder(c)...)
	}
	return open
}

// Ready returns the steps that can be worked on: not done, every blocker done, and nothing
// unfinished under them.
func (s *State) Ready() []*Current {
	return slices.DeleteFunc(s.Startable(), func(c *Current) bool { return len(s.Unfinished(c)) > 0 })
}

// Startable returns the steps that are not done and whose blockers are done. The work of some
// may be in the workflows under them.
func (s *State) Startable() (all []*Current) {
	for _, c := range s.Steps {
		if !c.Done() && len(s.OpenBlockers(c)) == 0 {
			all = append(all, c)
		}
	}
	return all
}

// Work returns the steps that can be worked on, apart: those that are in progress, and those that are ready.
func (s *State) Work() (started, ready []*Current) {
	for _, c := range s.Ready() {
		if c.Status == workflow.Pending && !s.Checking(c.ID) {
			ready = append(ready, c)
		} else {
			started = append(started, c)
		}
	}
	return started, ready
}

// In returns the steps of a workflow.
func (s *State) In(w *workflow.Workflow) []*Current {
	return slices.DeleteFunc(slices.Clone(s.Steps), func(c *Current) bool { return c.Workflow != w })
}

// HasOpen reports whether a step is open. One that is missing is not: nothing waits for it.
func (s *State) HasOpen() bool {
	return slices.ContainsFunc(s.Steps, func(c *Current) bool { return !c.Done() })
}

// About returns the evidence about a step, also about the calls that belong to it, oldest first.
func (s *State) About(id int64) (all []Evidence) {
	for _, e := range slices.Concat(s.Evidence, s.Calls) {
		if e.Step == id {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b Evidence) int { return a.Time.Compare(b.Time) })
	return all
}

// Checking reports whether the step's check is running.
func (s *State) Checking(id int64) bool {
	return slices.ContainsFunc(s.Pending, func(p Pending) bool { return p.Step == id && !p.Waiting })
}

// BeingLetThrough reports whether a completion of the step is being decided, or was allowed
// and has not reached the list yet.
func (s *State) BeingLetThrough(c *Current) bool {
	return slices.ContainsFunc(s.Pending, func(p Pending) bool { return p.Step == c.ID }) || s.aboutToBeCompleted(c)
}

// skipped reports whether a person has skipped the step, and nothing has changed since.
func (s *State) skipped(id int64) bool {
	e, ok := s.Last(id)
	return ok && e.Verdict == Skip
}

// Last returns the last decision about the step that was not a denial and has not lapsed.
func (s *State) Last(id int64) (Evidence, bool) {
	lapsed := false
	for _, e := range slices.Backward(s.Evidence) {
		switch {
		case e.Step != id:
		case e.Verdict == Lapsed || e.Verdict == Declined:
			lapsed = true
		case lapsed && e.MayLapse():
		case e.Lets() || e.Verdict == Ask:
			return e, true
		}
	}
	return Evidence{}, false
}

// GapsOf returns what was not enforced when the step was completed last.
func (s *State) GapsOf(id int64) []Gap {
	e, _ := s.lastOf(id, func(e Evidence) bool { return e.Lets() && !e.IsQuiet() && e.To == workflow.Completed })
	return e.Gaps
}

// LastEver is last, also for a decision that has lapsed.
func (s *State) LastEver(id int64) (Evidence, bool) {
	return s.lastOf(id, func(e Evidence) bool { return e.Lets() || e.Verdict == Ask })
}

// lastOf returns the last line about the step of which is returns true.
func (s *State) lastOf(id int64, is func(Evidence) bool) (Evidence, bool) {
	return s.lastOfAll(func(e Evidence) bool { return e.Step == id && is(e) })
}

// lastOfAll returns the last line of which is returns true.
func (s *State) lastOfAll(is func(Evidence) bool) (Evidence, bool) {
	for _, e := range slices.Backward(s.Evidence) {
		if is(e) {
			return e, true
		}
	}
	return Evidence{}, false
}

// aboutToBeCompleted reports whether the step's completion was allowed but has not reached
// the list yet. The hooks of updates in one message run at the same time (fact 39, client
// 2.1.329).
func (s *State) aboutToBeCompleted(c *Current) bool {
	return c.Status != workflow.Completed && s.IsOnItsWay(c, workflow.Completed, UpdateDelay)
}

// IsOnItsWay reports whether an update of the step to this status was allowed less than so long ago, and is its last decision.
func (s *State) IsOnItsWay(c *Current, to string, within time.Duration) bool {
	e, ok := s.Last(c.ID)
	return ok && e.To == to && e.Verdict == Allow && s.IsYoung(e.Time, within)
}

// IsYoung reports whether a time is less than so long ago. One that is yet to come, because the clock was ahead, is not.
func (s *State) IsYoung(t time.Time, within time.Duration) bool {
	age := s.Time.Sub(t)
	return -ClockSkew < age && age < within
}

// ClockSkew is by how much the clock may have been set back without a decision counting as
// one of another time.
const ClockSkew = time.Second

// UpdateDelay is how long after its hook an update may still reach the list.
const UpdateDelay = 30 * time.Second

// AwaitsPerson reports whether a person was asked about the step and has not said yes, or
// the agent was told to ask one. A step that waits for others, before or under it, waits for no person.
func (s *State) AwaitsPerson(c *Current) bool {
	if s.lastAnswer(c) == Ask {
		return true
	}
	e, ok := s.Latest(c.ID)
	return ok && e.Refuses() && s.Repeats(e) >= MaxRepeats && len(s.OpenFor(c, workflow.Completed)) == 0
}

// EndedInTerminal reports whether a person has said in a terminal how the step, which is over, ended.
func (s *State) EndedInTerminal(c *Current) bool {
	e, ok := s.lastOf(c.ID, func(e Evidence) bool { return e.Lets() && !e.IsQuiet() })
	return ok && c.Done() && e.By.How == AtTerminal
}

// SaidNo reports whether a person was asked about the step last, and said no.
func (s *State) SaidNo(c *Current) bool { return s.lastAnswer(c) == Declined }

// lastAnswer returns what the last question about an open step has come to, Ask if it has none yet.
func (s *State) lastAnswer(c *Current) Decision {
	e, ok := s.lastOf(c.ID, func(e Evidence) bool { return e.Lets() || e.Verdict == Ask || e.Verdict == Declined })
	if !ok || c.Status == workflow.Completed {
		return ""
	}
	return e.Verdict
}

// Latest returns the latest decision about the step. That its time is over decides nothing.
func (s *State) Latest(id int64) (Evidence, bool) {
	return s.lastOf(id, func(e Evidence) bool {
		return e.Verdict != Called && e.Verdict != Lapsed && e.Verdict != Over && e.Verdict != Ticked
	})
}

// unverified returns the steps whose blockers are done, with nothing unfinished under them,
// and that were completed in another way than by an update that was allowed. A step whose check another call is running is
// left to that call.
func (s *State) unverified() (found []*Current) {
	for _, c := range s.Steps {
		if c.Status == workflow.Completed && c.Outcome == "" && !s.Checking(c.ID) && len(s.OpenFor(c,
			workflow.Completed)) == 0 && !s.awaitsCopies(c) {
			found = append(found, c)
		}
	}
	return found
}

// Began returns when the first of the workflows in the list was begun; zero if that is not known.
func (s *State) Began() (first time.Time) {
	for _, w := range s.Workflows() {
		if !w.Began.IsZero() && (first.IsZero() || w.Began.Before(first)) {
			first = w.Began
		}
	}
	return first
}
