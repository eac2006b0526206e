package gates

import (
	"context"
	"slices"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// Approve completes a step that needs a person, at their word in a terminal, if all its other gates hold: that is a yes, and nothing is
// gone past. The open steps before it are skipped first, if the word is for them, too. done is false if it is not such a step or such a
// word, and also, with why, if another gate does not hold.
//
// Errors: that the list cannot be read.
func (f *Frame) Approve(ctx context.Context, p Past, cwd string, by state.By) (done bool, why string, err error) {
	s, err := f.Now(ctx)
	if err != nil {
		return false, "", err
	}
	c := s.Step(p.Step)
	if by.Who != state.ThePerson || by.How != state.AtTerminal || !p.Done || MayPass(s, p) != nil {
		return false, "", nil
	}
	outcome, err := impliedOutcome(c, p)
	if err != nil || !slices.Contains(c.Choices(), outcome) || !needsPerson(c, outcome) {
		return false, "", nil // GoPast says why
	}
	if len(s.OpenBlockers(c)) > 0 {
		if Try(s, p) != nil {
			return false, "", nil
		}
		if s, err = f.overrule(ctx, c.ID, by, func(s *state.State, c *state.Current, by state.By) ([]state.Evidence, error) {
			return skipBlockers(s, c, p.Because, by), nil
		}); err != nil {
			return false, "", err
		}
		c = s.Step(c.ID)
	}
	at := *f
	at.Apply, at.Via, at.agreed = true, by, true
	if c.Decides == fsmspec.ByPerson {
		by.Session = f.Session
		if err := at.Note(ctx, s, state.Evidence{Time: s.Time, Step: c.ID, From: c.Status, To: c.Status, Verdict: state.Chosen,
			Why: "the person chose " + outcome, Outcome: outcome, Round: c.Round, By: by}); err != nil {
			return false, "", err
		}
	}
	u := Update{Task: message.Itoa(p.Step), Status: workflow.Completed, Outcome: p.Outcome, Note: p.Because, Cwd: cwd}
	if len(p.Values) > 0 {
		u.Values = jsonx.Marshal(p.Values)
	}
	v := at.Update(ctx, u)
	return v.Allowed(), v.Why, nil
}

// needsPerson reports whether a step needs a person's yes or choice to end so.
func needsPerson(c *state.Current, outcome string) bool {
	o := c.OutcomeNamed(outcome)
	return c.Approval != "" || c.Decides == fsmspec.ByPerson || o != nil && o.Approval != ""
}
