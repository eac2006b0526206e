package rules

import (
	"fmt"

	"github.com/fsmtx/fsmtx/internal/guard"
)

var injectionRows = summaryRows("the state is given to the model with the prompt")

func contextInjection(c *call) (guard.Verdict, error) {
	return c.summaryFacts().decide("INJECT", ""), nil
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

// decide puts lead before the summary.
func (s snapshot) decide(word, lead string) guard.Verdict {
	switch {
	case !s.state.Exists:
		return guard.Pass(1, "No state file")
	case s.state.Err != nil:
		return guard.Pass(2, "State file unreadable: "+s.state.Err.Error())
	}
	detail := fmt.Sprintf("phase=%s, mode=%s, decisions=%d", s.state.Phase, s.state.Mode, len(s.state.Decisions))
	return guard.Inject(3, word, detail, lead+s.summary(maxContext-units(lead)), "")
}
