package state

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A workflow is a machine, whose state is a fold over the evidence. The list only shows it: a
// status in a task's file is a request until it is on record. The steps of an array have the one
// outcome done.
//
// A decision that goes forward counts when the client's update is seen done, because another
// hook, a rule of the person or an interruption can still stop the call. One that leads back
// counts at once: it only opens steps again.

// Fold computes the states of the workflows from the evidence. Steps that were completed past the hooks, and that
// no gate holds up, are folded as if that were on record; s.otherwise has the lines.
func (s *State) Fold() {
	s.EndedOtherwise = nil
	for {
		s.foldOnce()
		more := s.plainlyDone()
		if len(more) == 0 {
			return
		}
		s.EndedOtherwise = append(s.EndedOtherwise, more...)
	}
}

func (s *State) foldOnce() {
	s.Flows, s.Unseen, s.Unshown = map[*workflow.Workflow]machine.State{}, nil, false
	var given []Evidence
	lines := s.foldedLines()
	for _, w := range s.downward() {
		given = append(given, s.foldOf(w, lines)...)
	}
	s.setCalled()
	s.value(given)
}

// plainlyDone returns the lines that record the unverified steps that can only end as done, without a gate, and those that are
// unverified once these are done.
func (s *State) plainlyDone() (lines []Evidence) {
	for again := true; again; {
		again = false
		for _, c := range s.unverified() {
			if !c.isPlain() {
				continue
			}
			lines = append(lines, Evidence{Time: s.Time, Step: c.ID, From: workflow.Completed, To: workflow.Completed, Verdict: SeenDone,
				Why: "it was completed past the hooks", Gaps: []Gap{Otherwise}, Outcome: machine.Done, Round: c.Round})
			c.Outcome, again = machine.Done, true // which may make another step unverified
		}
	}
	return lines
}

// isPlain reports whether the step can only end as done, and no gate holds up its completion.
func (c *Current) isPlain() bool {
	return len(c.Outcomes) == 0 && len(c.Set) == 0 && c.Each == nil &&
		!slices.ContainsFunc(c.Gates(), func(g fsmspec.Gate) bool { return g.When == fsmspec.AtCompletion })
}

// foldOf computes the state of a workflow. Decisions that have been carried out in the list
// and are not on record as seen are folded as if they were; s.unseen has them. It returns the
// lines that gave values.
func (s *State) foldOf(w *workflow.Workflow, lines foldedLines) (given []Evidence) {
	f := newFolding(w)
	for e := range lines.about(w) {
		c := s.Step(e.Step)
		switch {
		case c != nil && c.Unread && e.Verdict != End: // its status is believed
		case e.Verdict == Shown && (e.With == "" || e.With == w.With), c != nil && c.Workflow == w:
			f.pass(s.goneBefore(w, e))
			f.add(e)
		case e.Lets() && s.restarts(w, e.Reopens), e.IsReopen() && s.isAfter(w, e.Step) && f.anyDone(w):
			f.restart(w)
		}
		if e.IsReopen() {
			f.halt(s, w, e.Step)
		}
	}
	steps, p := s.In(w), s.Parent(w)
	under := p != nil && p.NotNeeded
	f.pass(s.goneUnder(w, p))
	for _, c := range steps {
		e, ok := f.decided[c.ID]
		c.over = ok || f.state.Outcome(c.ID) != "" && !f.gone[c.ID] || c.Step.Status == fsmspec.Completed && !f.opened[c.ID]
		switch {
		case c.Unread && c.Status == workflow.Completed:
			f.state = f.state.After(machine.Event{Kind: machine.Concluded, Step: c.ID, Outcome: machine.Done})
		case c.Gone() && !ok && under: // its end follows
		case c.Gone() && !ok:
			f.state = f.state.After(machine.Event{Kind: machine.Passed, Step: c.ID})
		case ok && (c.Status == workflow.Completed || c.Gone()) && !f.stale[c.ID]:
			f.state = f.state.After(machine.Event{Kind: machine.Concluded, Step: c.ID, Outcome: e.Outcome})
			f.ended(e)
			s.Unseen = append(s.Unseen, e)
		default:
			s.expire(c, &f)
		}
	}
	before, closed := f.state, s.IsClosed(w)
	if closed {
		f.state = f.state.End()
	}
	s.Flows[w] = f.state
	s.Unshown = s.Unshown || f.unshown
	for _, c := range steps {
		c.Outcome, c.NotNeeded, c.Round = f.state.Outcome(c.ID), f.state.NotNeeded(c.ID), f.state.Round(c.ID)
		if c.NotNeeded {
			if c.because = s.whyNot(c); c.because == "" && closed && !before.NotNeeded(c.ID) {
				c.because = s.WhyClosed(w)
			}
		}
		c.Begun, c.started, c.told = f.begun[c.ID], f.started[c.ID], f.told[c.ID]
		// A step that was opened again and is not needed at once stays completed in the list.
		c.stale = !c.NotNeeded && c.File != nil &&
			(f.stale[c.ID] && c.File.Status == workflow.Completed || f.left[c.ID] && c.File.Status == workflow.InProgress ||
				c.Outcome == "" && c.wasNotNeeded())
		if c.stale {
			c.Status = workflow.Pending // the list does not show yet that it is open again
		}
	}
	return f.given
}

// foldedLines has the evidence by the workflows whose states depend on it, so that a fold of a hundred workflows goes over
// it once. Numbers are those of lines in all, in order.
type foldedLines struct {
	all   []Evidence
	of    map[*workflow.Workflow][]int // those about steps of a workflow alone
	every []int                        // those that may concern any workflow

	out map[*workflow.Workflow]time.Time // State.out
}

func (s *State) foldedLines() foldedLines {
	l := foldedLines{all: s.Evidence, of: map[*workflow.Workflow][]int{}, out: s.out}
	if len(s.EndedOtherwise) > 0 {
		l.all = slices.Concat(s.Evidence, s.EndedOtherwise)
	}
	for i := range l.all {
		e := &l.all[i]
		if e.kept { // the step is done from the beginning
			continue
		}
		if e.Verdict == Shown || e.IsReopen() || len(e.Reopens) > 0 {
			l.every = append(l.every, i)
		} else if c := s.Step(e.Step); c != nil {
			l.of[c.Workflow] = append(l.of[c.Workflow], i)
		}
	}
	return l
}

// about yields the lines on which the state of a workflow depends, in order. What became of other steps since its tasks were taken out
// changes nothing of it.
func (l foldedLines) about(w *workflow.Workflow) iter.Seq[Evidence] {
	out, isOut := l.out[w]
	return func(yield func(Evidence) bool) {
		own, every := l.of[w], l.every
		for len(own)+len(every) > 0 {
			next := &own
			if len(own) == 0 || len(every) > 0 && every[0] < own[0] {
				next = &every
			}
			e := l.all[(*next)[0]]
			isLater := isOut && e.Time.After(out) && !slices.ContainsFunc(w.Steps, func(x workflow.Step) bool { return x.ID == e.Step })
			if !isLater && !yield(e) {
				return
			}
			*next = (*next)[1:]
		}
	}
}

// folding is a fold over the evidence of a workflow.
type folding struct {
	state   machine.State
	decided map[int64]Evidence // completions that were let through and not seen done
	stale   map[int64]bool     // steps that were opened again since the list was last seen to show that
	left    map[int64]bool     // such steps that nobody has started since: their files may be left in progress from before
	unshown bool               // there are such steps
	opened  map[int64]bool     // steps that were opened again
	gone    map[int64]bool     // steps that were gone when a person ended what they are in

	given   []Evidence          // the lines that gave values
	started map[int64]bool      // steps that were started, and neither ended nor opened again since
	begun   map[int64]time.Time // when a step was started in its present round
	told    map[int64][]string  // the sessions whose person knows that the time limit of the step has passed
}

func newFolding(w *workflow.Workflow) folding {
	return folding{state: w.Machine.Start(), decided: map[int64]Evidence{}, stale: map[int64]bool{}, left: map[int64]bool{},
		gone: map[int64]bool{}, opened: map[int64]bool{}, started: map[int64]bool{}, begun: map[int64]time.Time{}, told: map[int64][]string{}}
}

func (f *folding) add(e Evidence) {
	if e.From == workflow.InProgress || e.To == workflow.InProgress && e.Lets() {
		delete(f.left, e.Step)
	}
	if e.Lets() {
		f.started[e.Step] = e.To == workflow.InProgress
	}
	event, is := e.toMachine()
	switch {
	case e.Verdict == Shown:
		clear(f.stale)
		clear(f.left)
		f.unshown = false
		return
	case is:
		f.state = f.state.After(event)
		f.ended(e)
		f.reopened(e)
	case e.Verdict == Over && e.Time.Before(f.begun[e.Step]): // the clock was ahead at the start: see TellOver
		f.begun[e.Step] = e.Time
		return
	case e.Verdict == Over:
		f.told[e.Step] = append(f.told[e.Step], e.By.Session)
		return
	case e.begins():
		f.began(e)
		return
	case e.Verdict == Lapsed:
	case e.Verdict != Allow:
		return
	case len(e.Reopens) > 0:
		f.state = f.state.After(machine.Event{Kind: machine.Concluded, Step: e.Step, Outcome: e.Outcome})
		f.reopened(e)
	case e.To == workflow.Completed && e.Outcome != "":
		f.decided[e.Step] = e
		return
	}
	delete(f.decided, e.Step)
}

// restart opens every step of the workflow again, because the step that it is under has come
// round again.
func (f *folding) restart(w *workflow.Workflow) {
	f.state = f.state.Restart()
	for _, s := range w.Steps {
		delete(f.decided, s.ID)
		f.again(s.ID)
		f.stale[s.ID], f.left[s.ID], f.unshown = true, true, true
	}
}

// pass passes steps that are gone, as far as they are open.
func (f *folding) pass(steps []*Current) {
	for _, c := range steps {
		if _, ok := f.decided[c.ID]; !ok && f.state.Outcome(c.ID) == "" {
			f.state = f.state.After(machine.Event{Kind: machine.Passed, Step: c.ID})
			f.gone[c.ID] = true
		}
	}
}

// anyDone reports whether a step of the workflow is done, or has led back.
func (f *folding) anyDone(w *workflow.Workflow) bool {
	return slices.ContainsFunc(w.Steps, func(s workflow.Step) bool {
		return f.state.Outcome(s.ID) != "" || slices.ContainsFunc(s.Outcomes,
			func(o fsmspec.Outcome) bool { return f.state.Times(s.ID, o.Name) > 0 })
	})
}

func (f *folding) reopened(e Evidence) {
	for _, id := range e.Reopens {
		delete(f.decided, id)
		f.again(id)
		f.stale[id], f.left[id], f.unshown = true, true, true
	}
}

// halt takes the steps of a workflow that are under way, and come after a step that a person has opened again, back to
// pending: they wait for it again, their calls do not go through, and their time does not run.
func (f *folding) halt(s *State, w *workflow.Workflow, opened int64) {
	waits := s.after([]int64{opened}, true)
	for _, c := range s.In(w) {
		if f.state.Outcome(c.ID) == "" && waits(c) {
			delete(f.decided, c.ID)
			f.again(c.ID)
			f.left[c.ID], f.unshown = true, true
		}
	}
}

// Choices returns the outcomes of the step that can be chosen; see machine.Choices.
func (c *Current) Choices() []string { return new(c.ForMachine()).Choices() }

// Conclude returns what ending the step in an outcome would do.
func (s *State) Conclude(c *Current, outcome string) (machine.Transition, error) {
	_, tr, err := s.Flows[c.Workflow].Conclude(c.ID, outcome)
	return tr, err
}

// IsBack reports whether a transition opens steps again.
func IsBack(tr machine.Transition) bool { return len(tr.Reopens) > 0 }

// RecordSeen returns the lines that record the decisions which the list shows to be carried
// out, and that the list shows what was opened again.
func (s *State) RecordSeen(by By) (lines []Evidence) {
	by.Who, by.How = Fsmtx, ByUpdate
	for _, e := range s.Unseen {
		seen := Evidence{Time: s.Time, Step: e.Step, From: e.From, To: workflow.Completed, Verdict: Reached, Why: "it has reached the list",
			Outcome: e.Outcome, Round: e.Round, By: by, Values: e.Values}
		if e.IsLate() {
			seen.Verdict, seen.Why, seen.By.Who, seen.NotNeeded = Late, e.Why, TheClock, e.NotNeeded
		}
		lines = append(lines, seen)
	}
	for _, e := range s.EndedOtherwise {
		e.By = by
		lines = append(lines, e)
	}
	s.Unseen, s.EndedOtherwise = nil, nil
	lines = append(lines, s.seenBegun(by)...)
	if s.Unshown && !slices.ContainsFunc(s.Steps, func(c *Current) bool { return c.stale }) {
		lines = append(lines, Evidence{Time: s.Time, Step: s.Steps[0].ID, Verdict: Shown, Why: "the list shows what was opened again",
			By: by})
		s.Unshown = false
	}
	s.Evidence = append(s.Evidence, lines...)
	return lines
}

// Rounds returns " (round 2)" for a step that was opened again, with the largest number of
// rounds if the step is in exactly one loop, and "" for another one.
func (c *Current) Rounds() string {
	if c.Round < 2 {
		return ""
	}
	if most := c.MaxRounds(); most > 0 {
		return fmt.Sprintf(" (round %d of %d)", c.Round, most)
	}
	return fmt.Sprintf(" (round %d)", c.Round)
}

// MaxRounds returns the largest number of rounds of a step that is in exactly one loop, and
// otherwise 0, also if a person has opened the step more often.
func (c *Current) MaxRounds() int {
	around := slices.DeleteFunc(c.Workflow.Machine.Loops(), func(l machine.Loop) bool { return !slices.Contains(l.Body, c.ID) })
	if len(around) != 1 || c.Round > 1+around[0].Max {
		return 0
	}
	return 1 + around[0].Max
}

// notNeeded begins what the list shows behind the subject of a step that is not needed.
const notNeeded = " (not needed"

// wasNotNeeded reports whether the list shows that the step is not needed: what it is under was over.
func (c *Current) wasNotNeeded() bool {
	return c.File.Status == workflow.Completed && strings.Contains(strings.TrimPrefix(c.File.Subject, c.Subject), notNeeded)
}

// ShownSubject returns the subject of the task in the list.
func (c *Current) ShownSubject() string {
	if c.NotNeeded {
		return c.Subject + notNeeded + c.because + ")"
	}
	return c.Subject + c.Rounds()
}

// whyNot returns ": #2 ended as patch" for a step that is not needed because of how another
// one ended.
func (s *State) whyNot(c *Current) string {
	b := s.Unmet(c)
	switch {
	case b == nil:
		return ""
	case b.Outcome == machine.Skipped:
		return ": #" + message.Itoa(b.ID) + " was not worked on"
	}
	return ": #" + message.Itoa(b.ID) + " ended as " + b.Outcome
}

// Unmet returns the step because of whose end a step is not needed; nil if there is none.
func (s *State) Unmet(c *Current) *Current {
	for _, w := range c.When {
		if b := s.Step(w.Step); b != nil && b.Outcome != "" && !slices.Contains(w.Outcomes, b.Outcome) {
			return b
		}
	}
	return nil
}

// WhyNotNeeded returns, for example, "#2 ended as patch" for a step that is not needed, and "" if
// that is not known.
func (c *Current) WhyNotNeeded() string { return strings.TrimPrefix(c.because, ": ") }

// OutcomeIn returns the outcome that a change of the metadata, or a task's metadata, names.
func OutcomeIn(metadata jsontext.Value) string {
	return strings.TrimSpace(jsonx.StringMember(metadata, "outcome"))
}

// Choosable is an outcome of a step, with who chooses it.
type Choosable struct {
	Name     string `json:"name"`
	Back     int64  `json:"back"` // number of the step to which it leads back; 0 if it goes forward
	Max      int    `json:"max"`
	Used     int    `json:"used"` // how often it has led back
	Then     string `json:"then"`
	ChosenBy string `json:"chosenBy"` // agent, person, command, or machine
}

// Choosable returns the outcomes of a step, with an implied done as the last. A step that
// declares none has none to choose from.
func (s *State) Choosable(c *Current) []Choosable {
	all := []Choosable{}
	if len(c.Outcomes) == 0 {
		return all
	}
	choices, state := c.Choices(), s.Flows[c.Workflow]
	who := func(name string) string {
		if !slices.Contains(choices, name) {
			return "machine"
		}
		return c.Decides.String()
	}
	for _, o := range c.Outcomes {
		all = append(all, Choosable{o.Name, o.Back, o.Max, state.Times(c.ID, o.Name), o.Then, who(o.Name)})
	}
	if c.OutcomeNamed(machine.Done) == nil && slices.Contains(choices, machine.Done) {
		all = append(all, Choosable{Name: machine.Done, ChosenBy: who(machine.Done)})
	}
	return all
}

// Undecided reports whether a person decides how the step ends, and has not in this round.
func (s *State) Undecided(c *Current) bool {
	return c.Decides == fsmspec.ByPerson && s.Choice(c) == ""
}
