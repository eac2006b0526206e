package gates

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// observed lets through, where nothing is refused, what a gate refuses or asks about: that it would have done so is on record with its
// name and its reason. What could not be decided, and what another call is deciding just now, is refused as ever.
func (c *call) observed(v Verdict) (_ Verdict, refused bool) {
	if !c.observes() || v.undecided || v.until || v.declined {
		return v, false
	}
	v.gaps = append(slices.Clone(v.gaps), state.Observing)
	if v.Decision != state.Deny && v.Decision != state.Ask {
		return v, false
	}
	return Verdict{Decision: state.Allow, Step: v.Step, Why: v.Why, Check: v.Check, Trouble: v.Trouble, unchanged: v.unchanged, gate: v.gate,
		watched: v.watched, gaps: v.gaps}, true
}

// endsObserved adds to the line of a completion that would have been refused how the step ends: as the agent says, else in the first
// outcome that goes forward.
func (c *call) endsObserved(s *state.State, target *state.Current, line *state.Evidence) {
	if line.To != workflow.Completed || target.Done() {
		return
	}
	e := &ending{c: c, s: s, step: target}
	names := append([]string{c.update.Outcome, state.OutcomeIn(c.update.Metadata)}, e.forward()...)
	for _, name := range append(names, machine.Done) {
		if tr, err := s.Conclude(target, name); name != "" && err == nil && !state.IsBack(tr) {
			line.Outcome, line.Round, line.NotNeeded = tr.Outcome, target.Round, tr.NotNeeded
			return
		}
	}
}

// observeCall lets a call through that belongs to another step.
func (c *call) observeCall(v Verdict, lines []state.Evidence) (Verdict, []state.Evidence) {
	v, _ = c.observed(v)
	for i := range lines {
		if lines[i].Refuses() {
			lines[i].Verdict, lines[i].Gate, lines[i].Times = state.Allow, "", 0
		}
		lines[i].Gaps = append(slices.Clone(lines[i].Gaps), state.Observing)
	}
	return v, lines
}
