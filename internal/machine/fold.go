package machine

import "iter"

// Kind is what an event says about a step.
type Kind int

const (
	Concluded Kind = iota // it ended in Event.Outcome
	Passed                // a person skipped it, or it is gone from the list
	Reopened              // a person opened it again
	Ended                 // a person ended the workflow; the event has no step
	Began                 // it is in progress
	Paused                // it is not in progress any more
)

// Event is one thing that happened to a workflow.
type Event struct {
	Kind    Kind
	Step    int64
	Outcome string
}

// fold returns the state after the events. An event that cannot happen in the state before
// it, such as the conclusion of a step that is done, changes nothing.
func (m *Machine) fold(events iter.Seq[Event]) State {
	s := m.Start()
	for e := range events {
		s = s.After(e)
	}
	return s
}

// After returns the state after one more event; see Fold.
func (s State) After(e Event) State {
	switch e.Kind {
	case Concluded:
		s, _, _ = s.Conclude(e.Step, e.Outcome)
	case Passed:
		s, _, _ = s.Skip(e.Step)
	case Reopened:
		s, _, _ = s.Reopen(e.Step)
	case Ended:
		s, _ = s.End()
	case Began, Paused:
		s, _ = s.Begin(e.Step, e.Kind == Began)
	}
	return s
}
