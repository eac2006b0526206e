package machine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// State is what happened to a workflow so far. It is a value: its methods return new states
// and change none.
type State struct {
	machine *Machine
	steps   []progress
	counts  map[counter]int
}

// progress is what happened to a step so far.
type progress struct {
	outcome   string // empty while the step is open
	notNeeded bool   // its conditions do not hold, or the workflow was ended
	byStop    bool   // it is not needed because the workflow was ended
	round     int    // how often it was opened again
}

// Errors of the changes of a state.
var (
	// ErrNoOutcome is returned for an outcome that the step does not have.
	ErrNoOutcome = errors.New("the step has no such outcome")
	// ErrSpent is returned for an outcome that has led back as often as it may, and has no
	// Then.
	ErrSpent = errors.New("the outcome has led back as often as it may")
)

// Transition is what concluding a step did.
type Transition struct {
	Step      int64
	Outcome   string  // the one that was taken; another one than was asked for if that was spent
	Times     int     // how often this outcome has led back now; 0 if it goes forward
	Max       int     // how often it may
	Reopens   []int64 // steps that are open again, in the order of the workflow
	NotNeeded []int64 // steps that turned out not to be needed, in the order of the workflow
	Stops     bool    // the workflow is over
}

// Start returns the state in which nothing has happened.
func (m *Machine) Start() State {
	s := State{machine: m, steps: make([]progress, len(m.steps)), counts: map[counter]int{}}
	for i := range m.steps {
		if m.steps[i].Done {
			s.steps[i].outcome = m.steps[i].endings()[0]
		}
	}
	s.skipUnneeded()
	return s
}

func (s State) clone() State {
	s.steps, s.counts = slices.Clone(s.steps), maps.Clone(s.counts)
	return s
}

// done reports whether a step counts as done for the steps after it.
func (s *State) done(i int) bool { return s.steps[i].outcome != "" }

func (s *State) unblocked(i int) bool {
	return !slices.ContainsFunc(s.machine.before[i], func(b int) bool { return !s.done(b) })
}

// skipUnneeded ends the open steps that turn out not to be needed: those whose blockers are all
// done, and one of whose conditions does not hold. It returns their indices.
//
// A step is looked at only when its turn comes: if it ended as soon as its condition is known, a
// loop could open it again while it is in progress.
func (s *State) skipUnneeded() (ended []int) {
	for _, i := range s.machine.order {
		if s.done(i) || len(s.machine.steps[i].When) == 0 || !s.unblocked(i) || s.holds(i) {
			continue
		}
		s.steps[i] = progress{outcome: Skipped, notNeeded: true, round: s.steps[i].round}
		ended = append(ended, i)
	}
	return ended
}

// holds reports whether the conditions of a step hold. Their steps are done.
func (s *State) holds(i int) bool {
	return !slices.ContainsFunc(s.machine.steps[i].When, func(c Condition) bool {
		return !slices.Contains(c.Outcomes, s.steps[s.machine.index[c.Step]].outcome)
	})
}

// Conclude ends a step in an outcome of it. It does not ask whether the step is ready, nor
// whether the outcome can be chosen.
//
// Errors: ErrNoOutcome, ErrSpent; others for a step that the workflow does not have, or that is not open. The state is then unchanged.
func (s State) Conclude(id int64, outcome string) (State, Transition, error) {
	i, err := s.open(id)
	if err != nil {
		return s, Transition{}, err
	}
	step := &s.machine.steps[i]
	for {
		n := step.outcome(outcome)
		switch {
		case n < 0 && !step.endsIn(outcome):
			return s, Transition{}, fmt.Errorf("step %d, %q: %w", id, outcome, ErrNoOutcome)
		case n < 0 || step.Outcomes[n].Back == 0:
			return s.forward(i, outcome, n >= 0 && step.Outcomes[n].Stop)
		case s.counts[counter{i, n}] < step.Outcomes[n].Max:
			return s.back(counter{i, n})
		case step.Outcomes[n].Then == "":
			return s, Transition{}, fmt.Errorf("step %d, %q: %w", id, outcome, ErrSpent)
		}
		outcome = step.Outcomes[n].Then // New refuses circles of these
	}
}

// open returns the index of an open step.
func (s *State) open(id int64) (int, error) {
	i, ok := s.machine.index[id]
	switch {
	case !ok:
		return 0, fmt.Errorf("step %d: the workflow has no such step", id)
	case s.done(i):
		return 0, fmt.Errorf("step %d: the step is done already", id)
	}
	return i, nil
}

// forward ends a step, and the workflow if stop is set.
func (s State) forward(i int, outcome string, stop bool) (State, Transition, error) {
	s = s.clone()
	s.steps[i] = progress{outcome: outcome, round: s.steps[i].round}
	var ended []int
	if stop {
		ended = s.end()
	}
	ended = append(ended, s.skipUnneeded()...)
	return s, Transition{Step: s.machine.steps[i].ID, Outcome: outcome, NotNeeded: s.machine.inOrder(ended), Stops: stop}, nil
}

// end ends the open steps and the workflow.
func (s *State) end() (ended []int) {
	for i := range s.steps {
		if !s.done(i) {
			s.steps[i] = progress{outcome: Skipped, notNeeded: true, byStop: true, round: s.steps[i].round}
			ended = append(ended, i)
		}
	}
	return ended
}

// back opens the body of a loop again.
func (s State) back(c counter) (State, Transition, error) {
	s = s.clone()
	body := s.machine.body(c)
	s.counts[c]++
	s.reopen(body)
	ended := s.skipUnneeded()
	step := s.machine.steps[c.step]
	o := step.Outcomes[c.outcome]
	return s, Transition{
		Step: step.ID, Outcome: o.Name, Times: s.counts[c], Max: o.Max,
		Reopens: s.machine.ids(body), NotNeeded: s.machine.inOrder(ended),
	}, nil
}

// reopen opens steps again, and sets the counters of the loops strictly inside them to 0.
func (s *State) reopen(body set) {
	for i := range s.steps {
		if body.has(i) {
			s.steps[i] = progress{round: s.steps[i].round + 1}
		}
	}
	for _, l := range s.machine.loops {
		if l.body.within(body) && !l.body.equal(body) {
			delete(s.counts, counter{l.step, l.outcome})
		}
	}
}

// body returns the body of a loop.
func (m *Machine) body(c counter) set {
	i := slices.IndexFunc(m.loops, func(l loop) bool { return l.step == c.step && l.outcome == c.outcome })
	return m.loops[i].body
}

// inOrder returns the ids of steps in the order of the workflow.
func (m *Machine) inOrder(steps []int) (ids []int64) {
	slices.Sort(steps)
	for _, i := range steps {
		ids = append(ids, m.steps[i].ID)
	}
	return ids
}

// Skip ends a step without its being worked on, because a person said so.
func (s State) Skip(id int64) (State, Transition, error) {
	i, err := s.open(id)
	if err != nil {
		return s, Transition{}, err
	}
	return s.forward(i, Skipped, false)
}

// Reopen opens a step again, and every step that comes after it. If the workflow was ended,
// the steps that this ended are open again, too. The counters of the loops inside the
// opened steps are 0 again.
func (s State) Reopen(id int64) (State, Transition, error) {
	i, ok := s.machine.index[id]
	switch {
	case !ok:
		return s, Transition{}, fmt.Errorf("step %d: the workflow has no such step", id)
	case !s.done(i):
		return s, Transition{}, fmt.Errorf("step %d: the step is open", id)
	}
	s = s.clone()
	again := newSet(len(s.steps))
	for j := range s.steps {
		if s.done(j) && (j == i || s.machine.past[j].has(i) || s.steps[j].byStop) {
			again.add(j)
		}
	}
	s.reopen(again)
	ended := s.skipUnneeded()
	return s, Transition{Step: id, Reopens: s.machine.ids(again), NotNeeded: s.machine.inOrder(ended)}, nil
}

// Restart opens every step again, as in the beginning, with a round more. The counters of
// all loops are 0 again.
func (s State) Restart() State {
	again := s.machine.Start()
	for i := range again.steps {
		again.steps[i].round = s.steps[i].round + 1
	}
	return again
}

// End ends the workflow: its open steps are not needed any more.
func (s State) End() State {
	s = s.clone()
	s.end()
	return s
}

// Ready returns the steps that can be worked on: open, and every blocker done or not needed.
func (s *State) Ready() (ids []int64) {
	for i, step := range s.machine.steps {
		if !s.done(i) && s.unblocked(i) {
			ids = append(ids, step.ID)
		}
	}
	return ids
}

// Outcome returns the outcome in which a step ended, or "" while it is open.
func (s *State) Outcome(id int64) string {
	if i, ok := s.machine.index[id]; ok {
		return s.steps[i].outcome
	}
	return ""
}

// NotNeeded reports whether a step ended without being worked on and without a person's word.
func (s *State) NotNeeded(id int64) bool {
	i, ok := s.machine.index[id]
	return ok && s.steps[i].notNeeded
}

// Round returns 1 and how often a step was opened again.
func (s *State) Round(id int64) int {
	if i, ok := s.machine.index[id]; ok {
		return s.steps[i].round + 1
	}
	return 0
}

// Times returns how often an outcome has led back since the loop around it, if there is one,
// came round.
func (s *State) Times(id int64, outcome string) int {
	i, ok := s.machine.index[id]
	if !ok {
		return 0
	}
	return s.counts[counter{i, s.machine.steps[i].outcome(outcome)}]
}
