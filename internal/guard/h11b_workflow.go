package guard

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func workflowCompleteness() Guard {
	return Guard{
		ID: "H11b", Name: "H11b_workflow_completeness", Event: event.Stop,
		Flag: "hooks_stop_guard", Timeout: 5,
		Brief: "a turn does not end before the workflow is complete and no gate is RED",
		Rows: stopRows(
			"a gate is RED, by verdict or status",
			"the phase is unreadable",
			"the phase is not COMPLETION",
			"anything else",
		),
		judge: func(c *call) (Verdict, error) {
			stop := c.stopFacts()
			if v, ok := stop.decide(); ok {
				return v, nil
			}
			return judgeWorkflow(stop.state), nil
		},
	}
}

// judgeWorkflow is the table of H11b from row 4.
func judgeWorkflow(state State) Verdict {
	if red := redGates(state); len(red) > 0 {
		return blocked(4, "Validation failed (RED) at "+strings.Join(red, ", "), "Needs revision before stopping.")
	}
	switch {
	case state.Phase == "":
		return passed(5, "Phase unreadable")
	case !strings.EqualFold(state.Phase, completion):
		return blocked(6, "Workflow at phase "+state.Phase+", not complete", "Continue the planning workflow until phase COMPLETION before stopping.")
	}
	return passed(7, "Phase is COMPLETION, no gate is RED")
}

// redGates names the gates that failed, by their phase where they have one.
func redGates(state State) []string {
	var red []string
	for _, g := range state.Gates {
		if g.red {
			red = append(red, orElse(g.Phase, orElse(state.Phase, "unknown")))
		}
	}
	return red
}
