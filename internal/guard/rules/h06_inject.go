package rules

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// h06 gives the model a summary of the workflow's state with every prompt. summary.go
// writes the summary.
func h06() guard.Rule {
	return guard.Rule{
		ID: "H06", Name: "H06_context_injection", Event: client.UserPromptSubmit,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "every prompt comes with the state of the workflow",
		Rows: append([]string{"the prompt is a notification of a background agent"},
			summaryRows("the state is given to the model with the prompt")...),
		Decide: decideBy(runH06),
	}
}

// notification begins the prompt that the client sends when a background agent has
// finished (fact 42).
const notification = "<task-notification>"

// runH06 decides row 1, and the others by the table that H06 and H12 share.
func runH06(c *call) (guard.Verdict, error) {
	if strings.HasPrefix(strings.TrimSpace(c.Event.Prompt), notification) {
		return guard.Pass(1, "A notification, not a prompt"), nil
	}
	return c.summaryFacts().decide(2, "INJECT", ""), nil
}

// summaryRows are the rows that H06 and H12 share, with the condition of the last one.
func summaryRows(last string) []string {
	return []string{"no state file", "the frontmatter is unreadable", last}
}

// decide is the table that H06 and H12 share. first is the number of its first row; lead
// is put before the summary.
func (f summaryFacts) decide(first int, word, lead string) guard.Verdict {
	switch {
	case !f.state.exists:
		return guard.Pass(first, "No state file")
	case f.state.err != nil:
		return guard.Pass(first+1, "State file unreadable: "+f.state.err.Error())
	}
	detail := fmt.Sprintf("phase=%s, mode=%s, decisions=%d", f.state.phase, f.state.mode, len(f.state.decisions))
	return guard.Inject(first+2, word, detail, lead+f.summary(maxContext-client.Length(lead)), "")
}
