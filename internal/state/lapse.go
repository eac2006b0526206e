package state

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// A decision that lets a step be completed stands until the list shows the step as completed.
// Another hook, a rule of the person or an interruption can still stop the client's call. Then
// the decision lapses, which is on record as a line of its own: a step that is completed later, by
// a script or by another call, has to pass its gates again.

// MayLapse reports whether the decision lets a step be completed, or asks a person whether it may
// be. One that leads back counts at once.
func (e Evidence) MayLapse() bool {
	return e.To == workflow.Completed && (e.Verdict == Allow || e.Verdict == Ask) && len(e.Reopens) == 0
}

// NotCarriedOut returns the decisions that the list does not show to be carried out yet.
func (s *State) NotCarriedOut() (all []Evidence) {
	judged := map[int64]bool{}
	for _, e := range slices.Backward(s.Evidence) {
		if judged[e.Step] || !e.Lets() && e.Verdict != Ask && e.Verdict != Declined && e.Verdict != Lapsed {
			continue
		}
		judged[e.Step] = true
		if c := s.Step(e.Step); c != nil && e.MayLapse() && c.Status != workflow.Completed && !c.Gone() && !c.Unread {
			all = append(all, e)
		}
	}
	return all
}

// Lapse returns the lines that record which decisions have lapsed, and folds them. no reports whether the person said no to a call;
// nil if that is not known.
func (s *State) Lapse(all []Evidence, by By, no func(use string) bool) (lines []Evidence) {
	by.Who, by.How, by.TTY = Fsmtx, ByUpdate, nil
	for _, e := range all {
		status := s.Step(e.Step).Status
		line := Evidence{Time: s.Time, Step: e.Step, From: status, To: status, Verdict: Lapsed,
			Why: "the update was not carried out", Agent: e.Agent, By: by}
		if e.Verdict == Ask && no != nil && no(e.Use) {
			line.To, line.Verdict, line.Why, line.By.Who, line.By.How = e.To, Declined, "a person said no", ThePerson, ByQuestion
			if e.By.How == ByUpdate {
				line.By.How = ByApproval
			}
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		s.Evidence = append(s.Evidence[:len(s.Evidence):len(s.Evidence)], lines...)
		s.Fold()
	}
	return lines
}
