package machine

// Kind is what an event says about a step.
type Kind int

const (
	Concluded Kind = iota // it ended in Event.Outcome
	Passed                // a person skipped it, or it is gone from the list
	Reopened              // a person opened it again
	Ended                 // a person ended the workflow; the event has no step
)

// Event is one thing that happened to a workflow.
type Event struct {
	Kind    Kind
	Step    int64
	Outcome string
}

// After returns the state after one more event. An event that cannot happen in the state s,
// such as the conclusion of a step that is done, changes nothing.
func (s State) After(e Event) State {
	switch e.Kind {
	case Concluded:
		s, _, _ = s.Conclude(e.Step, e.Outcome)
	case Passed:
		s, _, _ = s.Skip(e.Step)
	case Reopened:
		s, _, _ = s.Reopen(e.Step)
	case Ended:
		s = s.End()
	}
	return s
}
