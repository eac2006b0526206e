package guard

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func contextInjection() Guard {
	return Guard{
		ID: "H06", Name: "H06_context_injection", Event: event.UserPromptSubmit,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "every prompt comes with the state of the workflow",
		Rows:  summaryRows("the state is given to the model with the prompt"),
		judge: func(c *call) (Verdict, error) {
			return c.tell("INJECT", "", c.readState()), nil
		},
	}
}

// summaryRows is the table that H06 and H12 share.
func summaryRows(told string) []string {
	return []string{"no state file", "the frontmatter is unreadable", told}
}

// tell is that table. lead comes before the summary.
func (c *call) tell(word, lead string, state State) Verdict {
	switch {
	case !state.Exists:
		return passed(1, "No state file")
	case state.Err != nil:
		return passed(2, "State file unreadable: "+state.Err.Error())
	}
	return Verdict{
		Row: 3, Word: word,
		Detail:  fmt.Sprintf("phase=%s, mode=%s, decisions=%d", state.Phase, state.Mode, len(state.Decisions)),
		Message: lead + c.snapshot(state).summary(maxContext-units(lead)),
		kind:    inject,
	}
}
