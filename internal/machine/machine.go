package machine

import "slices"

// Names of outcomes with a meaning of their own.
const (
	// Done is the outcome of a step that declares none, and is implied if no outcome that
	// can be chosen goes forward.
	Done = "done"
	// Failed is taken when the check of the step itself fails.
	Failed = "failed"
	// Late is taken when the step's time limit has passed.
	Late = "late"
	// Skipped is how a step ends that is not needed, or that a person skipped. It cannot be
	// declared; a condition may name it.
	Skipped = "skipped"
)

const (
	// MaxTimes is the largest number of times that an outcome may lead back.
	MaxTimes = 100
	// minChoices and maxChoices limit the outcomes among which a person chooses: the
	// client's AskUserQuestion takes no other number (measured with version 2.1.329).
	minChoices, maxChoices = 2, 4
	// LargeBound is the bound above which New warns.
	LargeBound = 500
)

// Step declares a step.
type Step struct {
	ID        int64
	BlockedBy []int64     // steps that come before
	When      []Condition // it is needed only if all of them hold; their steps come before it, too
	Outcomes  []Outcome   // in the order in which they are declared
	Decides   Decider     // who says which outcome
	Check     bool        // it has a check of its own
	Limit     bool        // it has a time limit
	Done      bool        // it is done from the beginning
	Join      bool        // it is the join of copies that end by themselves; only for messages
	Result    bool        // how it ends is a result, even if no condition names it; only for a warning
}

// Condition holds if the step ended in one of the outcomes.
type Condition struct {
	Step     int64    `json:"step"`
	Outcomes []string `json:"outcomes"`
}

// Outcome is a way in which a step can end.
type Outcome struct {
	Name     string
	Back     int64  // the step to which it leads back; 0 if it goes forward
	Max      int    // how often it leads back, 1 to MaxTimes
	Then     string // the outcome that is taken when Max is spent; empty if there is none
	Stop     bool   // it ends the workflow
	Approval bool   // it needs the approval of a person
	Gated    bool   // it has gates of its own
}

// Decider says which outcome a step has.
type Decider int

const (
	Agent Decider = iota
	Person
	Command
)

// String returns "agent", "person" or "command".
func (d Decider) String() string { return [...]string{"agent", "person", "command"}[d] }

// Machine is a proven workflow. It may be shared between goroutines.
type Machine struct {
	steps  []Step
	index  map[int64]int // of a step, by its id
	before [][]int       // the steps that come directly before, by index
	past   []set         // all steps that come before, by index
	order  []int         // indices, each after the steps before it
	loops  []loop
}

// loop is an outcome that leads back.
type loop struct {
	step, outcome int // indices
	back          int // index
	max           int
	body          set // the steps on paths from back to step, with both
}

// counter identifies a loop.
type counter struct{ step, outcome int }

// choosable reports whether an agent or a person can choose an outcome: the machine takes the others.
func (s *Step) choosable(name string) bool {
	if name == Failed || name == Late {
		return false
	}
	return !slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return o.Then == name })
}

// Choices returns the outcomes of the step that can be chosen, in the order in which they are
// declared. The outcome Done is the last if it is implied. Failed, Late, and the outcomes that
// are some other's Then are taken by the machine and are not among them.
func (s *Step) Choices() (names []string) {
	forward := false
	for _, o := range s.Outcomes {
		if s.choosable(o.Name) {
			names = append(names, o.Name)
			forward = forward || o.Back == 0
		}
	}
	if !forward {
		names = append(names, Done)
	}
	return names
}

// outcome returns the index of an outcome, or -1.
func (s *Step) outcome(name string) int {
	return slices.IndexFunc(s.Outcomes, func(o Outcome) bool { return o.Name == name })
}

// endsIn reports whether the step can end in an outcome, so that something can come after it.
func (s *Step) endsIn(name string) bool {
	if name == Skipped {
		return true
	}
	i := s.outcome(name)
	if i < 0 {
		return name == Done && slices.Contains(s.Choices(), Done)
	}
	return s.Outcomes[i].Back == 0
}

// endings returns the outcomes in which the step can end, in the order in which they are
// declared.
func (s *Step) endings() (names []string) {
	for _, o := range s.Outcomes {
		if o.Back == 0 {
			names = append(names, o.Name)
		}
	}
	if s.outcome(Done) < 0 && s.endsIn(Done) {
		names = append(names, Done)
	}
	return names
}

// Loop is an outcome that leads back.
type Loop struct {
	Step    int64
	Outcome string
	Back    int64
	Max     int
	Body    []int64 // the steps that it opens again, in the order of the workflow
}

// Loops returns the loops, in the order of the workflow.
func (m *Machine) Loops() (all []Loop) {
	for _, l := range m.loops {
		s := &m.steps[l.step]
		all = append(all, Loop{s.ID, s.Outcomes[l.outcome].Name, m.steps[l.back].ID, l.max, m.ids(l.body)})
	}
	return all
}

// ids returns the steps of a set, in the order of the workflow.
func (m *Machine) ids(in set) (ids []int64) {
	for i, s := range m.steps {
		if in.has(i) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
