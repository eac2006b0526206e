package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
)

// Offered returns the outcomes of the step that can be chosen now: not those that have led back as
// often as they may.
func (s *State) Offered(c *Current) []string {
	return slices.DeleteFunc(slices.Clone(c.Choices()), func(name string) bool { return s.IsSpent(c, name) })
}

// IsSpent reports whether an outcome has led back as often as it may.
func (s *State) IsSpent(c *Current, outcome string) bool {
	_, err := s.Conclude(c, outcome)
	return errors.Is(err, machine.ErrSpent)
}

// SpentChoices says which outcomes cannot be chosen any more, in sentences.
func (s *State) SpentChoices(c *Current) (text string) {
	for _, name := range c.Choices() {
		if s.IsSpent(c, name) {
			text += fmt.Sprintf("It cannot end as %s any more, which has led back as often as it may (%s): tell them. ", message.Quote(name),
				message.Times(c.OutcomeNamed(name).Max))
		}
	}
	return text
}

// Question is what the agent asks the person, who decides how a step ends. Other words count, too, if they tell which step is meant.
func Question(c *Current) string {
	return fmt.Sprintf("How does the step %s of the workflow %s end?", c.Name(), message.Words(c.Workflow.Command))
}

// Choice returns what the person chose for the step in this round, or "", also if the step cannot end
// so any more.
func (s *State) Choice(c *Current) string {
	if outcome := s.LastChoice(c).Outcome; outcome != "" && !s.IsSpent(c, outcome) {
		return outcome
	}
	return ""
}

// LastChoice returns the line that records what the person chose for the step in this round.
func (s *State) LastChoice(c *Current) Evidence {
	e, _ := s.lastOf(c.ID, func(e Evidence) bool { return e.Verdict == Chosen && e.Round == c.Round })
	return e
}

// Yes returns the line that lets through what a person was asked about: what its gates have found stands, and what follows from how the
// step ends is as it is now.
func (s *State) Yes(asked Evidence, from, why string, by By) Evidence {
	e := asked
	e.Time, e.From, e.Verdict, e.Why, e.By = s.Time, from, Allow, why, by
	e.Use, e.Times, e.Note, e.Check, e.Gate, e.Of = "", 0, "", nil, "", ""
	if c := s.Step(e.Step); c != nil {
		tr, _ := s.Conclude(c, e.Outcome)
		e.NotNeeded = tr.NotNeeded
	}
	return e
}
