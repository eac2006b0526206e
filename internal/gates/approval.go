package gates

import (
	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// approval asks a person before a step is completed.
func approval(c *state.Current) Verdict {
	return Verdict{
		Decision: state.Ask, Step: c.ID, gate: fsmspec.PersonApproves, of: state.OfText(c.Approval), question: c.Approval,
		Why: "approval: " + message.Clip(message.Words(c.Approval), message.MaxSubject),
		Reason: message.Clip(c.Approval, state.MaxReason) + "\n(Yes completes the step " + c.Name() + " of " +
			message.Words(c.Workflow.Command) + ".)",
	}
}

// unanswered is added to a question, for where nobody can answer it: there the client
// refuses the call with the question as the reason (fact 37, client 2.1.329). n is how often
// the completion was tried, whether a person was asked or not.
func unanswered(n int, commands string) string {
	text := "\n"
	if n >= state.MaxRepeats {
		text += "Its completion was tried " + message.Itoa(int64(n)) + " times, and nobody has said yes so far. "
	}
	return text + "Without a yes it stays open; a person can approve it in a terminal, not with !: " + commands
}

// unattended denies a step that needs approval at an event at which the client cannot ask
// a person.
func unattended(c *state.Current) Verdict {
	return deny(c, "nobody could be asked", c.Name()+" needs the approval of a person, who cannot be asked here: "+
		message.Clip(c.Approval, state.MaxReason))
}

// unapproved denies a step that was completed in another way and needs approval. The
// person cannot be asked about a completed step, so it has to be completed again.
func unapproved(c *state.Current) Verdict {
	return deny(c, "completed without approval",
		c.Name()+" was completed without the approval that it needs. Set it to in_progress and complete it again, "+
			"so that the person is asked")
}
