package rules

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func h06() guard.Rule {
	return guard.Rule{
		ID: "H06", Name: "H06_context_injection", Event: event.UserPromptSubmit,
		Flag: "hooks_context_preservation", Timeout: 5,
		Brief: "every prompt comes with the state of the workflow",
		Rows:  injectionRows, Decide: decide(contextInjection),
		Settings: []string{"feature_flags.hooks_context_preservation", "workflow"},
	}
}

var injectionRows = append([]string{"the prompt is a notification of a background agent"}, summaryRows("the state is given to the model with the prompt")...)

// notification begins a prompt that the client sends when a background agent has
// finished (fact 42).
const notification = "<task-notification>"

func contextInjection(c *call) (guard.Verdict, error) {
	if strings.HasPrefix(strings.TrimSpace(c.Event.Prompt), notification) {
		return guard.Pass(1, "A notification, not a prompt"), nil
	}
	return c.summaryFacts().decide(2, "INJECT", ""), nil
}

// H06 and H12 share their table but for its last row.

func summaryRows(last string) []string {
	return []string{"no state file", "the frontmatter is unreadable", last}
}

// summaryFacts returns only the state if it cannot be summarised.
func (c *call) summaryFacts() snapshot {
	state := c.readState()
	if !state.Readable() {
		return snapshot{state: state}
	}
	return c.snapshot(state)
}

// decide puts lead before the summary. The first of the rows has the number first.
func (s snapshot) decide(first int, word, lead string) guard.Verdict {
	switch {
	case !s.state.Exists:
		return guard.Pass(first, "No state file")
	case s.state.Err != nil:
		return guard.Pass(first+1, "State file unreadable: "+s.state.Err.Error())
	}
	detail := fmt.Sprintf("phase=%s, mode=%s, decisions=%d", s.state.Phase, s.state.Mode, len(s.state.Decisions))
	return guard.Inject(first+2, word, detail, lead+s.summary(maxContext-event.Length(lead)), "")
}
