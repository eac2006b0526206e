package rules

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

var completenessRows = stopRows(
	"a gate is RED, by verdict or status",
	"the phase is unreadable",
	"the phase is not COMPLETION",
	"anything else",
)

func workflowCompleteness(c *call) (guard.Verdict, error) {
	stop := c.stopFacts()
	if v, ok := stop.decide(c.config); ok {
		return v, nil
	}
	return decideWorkflow(stop.state, c.config), nil
}

// decideWorkflow is the table from row 4 on.
func decideWorkflow(state State, config Config) guard.Verdict {
	if failed := failedGates(state, config.RedVerdict); len(failed) > 0 {
		return guard.Block(4, "Validation failed ("+config.RedVerdict+") at "+strings.Join(failed, ", "), "Needs revision before stopping.")
	}
	switch {
	case state.Phase == "":
		return guard.Pass(5, "Phase unreadable")
	case !strings.EqualFold(state.Phase, config.LastPhase):
		return guard.Block(6, "Workflow at phase "+state.Phase+", not complete", "Continue the planning workflow until phase "+config.LastPhase+" before stopping.")
	}
	return guard.Pass(7, "Phase is "+config.LastPhase+", no gate is "+config.RedVerdict)
}

// failedGates names the gates with the verdict by their phase, or else by the
// workflow's.
func failedGates(state State, verdict string) []string {
	var failed []string
	for _, g := range state.Gates {
		if g.has(verdict) {
			failed = append(failed, cmp.Or(g.Phase, state.Phase, "unknown"))
		}
	}
	return failed
}
