package progress

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/graph"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Part is a part of the state of a list in one line.
type Part struct {
	Text string
	Mood Mood
}

// Mood is how a part is to be taken.
type Mood int

const (
	Plain  Mood = iota
	Done        // every step is done
	Busy        // a step is in progress
	Bad         // an update or a call was refused, or the steps are not enforced
	Person      // it waits for the person
)

// Limits of the texts in the line, in columns.
const (
	subjectColumns = 36
	reasonColumns  = 32
)

// Line returns the state of the list in a few words, the most important first: how many steps are
// done, whether it waits for the person, the current step and its round, and what was refused. It
// returns nothing for a list without a workflow.
func Line(s *state.State) (parts []Part) {
	if len(s.Steps) == 0 {
		return nil
	}
	parts = append(parts, count(s))
	if waitsForPerson(s) {
		parts = append(parts, Part{"waiting for you", Person})
	}
	now := current(s)
	for _, c := range now[:min(len(now), 1)] {
		text := terminal.Cut(fmt.Sprintf("#%d %s", c.ID, message.Words(c.Subject)), subjectColumns)
		if len(now) > 1 {
			text += fmt.Sprintf(" +%d", len(now)-1)
		}
		parts = append(parts, Part{Text: text})
		if rounds := c.MaxRounds(); c.Round > 1 && rounds > 1 {
			parts = append(parts, Part{Text: fmt.Sprintf("round %d/%d", c.Round, rounds)})
		} else if c.Round > 1 {
			parts = append(parts, Part{Text: fmt.Sprintf("round %d", c.Round)})
		}
		if over := s.OverText(c); over != "" {
			parts = append(parts, Part{over, Bad})
		}
	}
	if e, ok := s.Refusal(); ok {
		what := fmt.Sprintf("refused #%d", e.Step)
		if e.Rule != "" {
			what = "refused a call"
		}
		parts = append(parts, Part{what + ": " + terminal.Cut(message.Words(e.Why), reasonColumns), Bad})
	}
	if len(s.Troubles) > 0 {
		parts = append(parts, Part{"not fully enforced", Bad})
	}
	return parts
}

// count says how many steps are done, with the sign of what is going on.
func count(s *state.State) Part {
	n, mood, word := s.Count(), Plain, state.Blocked
	switch now := current(s); {
	case n.Open == 0 && len(s.Missing()) > 0:
		mood, word = Bad, state.IsGone
	case n.Open == 0 && slices.ContainsFunc(s.Roots(), func(w *workflow.Workflow) bool { return s.EndText(w) != "" }):
		word = state.IsNotNeeded
	case n.Open == 0:
		mood, word = Done, state.IsDone
	case len(now) > 0:
		word = s.Word(now[0])
		mood = map[bool]Mood{false: Busy}[word == state.Ready]
	}
	return Part{cmp.Or(graph.Sign(string(word)), "·") + " " + s.Counted(state.Count.Brief), mood}
}

// waitsForPerson reports whether the work waits for the person: they are asked for an approval, or
// they decide how a step in progress ends.
func waitsForPerson(s *state.State) bool {
	for _, c := range s.Steps {
		if s.Word(c) == state.Awaits {
			return true
		}
	}
	return false
}
