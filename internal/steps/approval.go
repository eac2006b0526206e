package steps

import "github.com/fsmtx/fsmtx/internal/visible"

// approval asks a person before a step is completed.
func approval(c *Current) Verdict {
	if c.Approval == "" {
		return Verdict{}
	}
	return Verdict{
		Decision: Ask, Step: c.ID, Why: "approval: " + visible.Clip(visible.Words(c.Approval), maxSubject),
		Reason: visible.Clip(c.Approval, maxReason) + "\n(Yes completes the step " + c.Name() + " of " + visible.Words(c.Workflow.Command) + ".)",
	}
}

// unattended denies a step that needs approval at an event at which the client cannot ask
// a person.
func unattended(c *Current) Verdict {
	if c.Approval == "" {
		return Verdict{}
	}
	return deny(c, "nobody could be asked", c.Name()+" needs the approval of a person, who cannot be asked here: "+c.Approval)
}

// unapproved denies a step that was completed in another way and needs approval. The
// person cannot be asked about a completed step, so it has to be completed again.
func unapproved(c *Current) Verdict {
	if c.Approval == "" {
		return Verdict{}
	}
	return deny(c, "completed without approval", c.Name()+" was completed without the approval that it needs. Set it to in_progress and complete it again, so that the person is asked")
}
