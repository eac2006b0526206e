package rules

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

func h11b() guard.Rule {
	return stopRule(guard.Rule{
		ID: "H11b", Name: "H11b_workflow_completeness",
		Brief: "a turn does not end before the workflow is complete and no gate is RED",
		Rows:  completenessRows, Decide: decide(workflowCompleteness),
	})
}

var completenessRows = stopRows(
	"a gate is RED, by the first word of its verdict or status",
	"the phase is unreadable",
	"the phase is none of the workflow's: an error, reported once",
	"the phase is not COMPLETION",
	"anything else",
)

func workflowCompleteness(c *call) (guard.Verdict, error) {
	stop := c.stopFacts()
	if v, ok := stop.decide(c.config); ok {
		return v, nil
	}
	return decideWorkflow(stop.state, c.config).WithProgress(stop.progress, stop.asked), nil
}

// decideWorkflow is the table from the first row of its own on.
func decideWorkflow(state State, config Config) guard.Verdict {
	if failed := failedGates(state, config.Failing); len(failed) > 0 {
		return guard.Block(firstOwnRow, "Validation failed ("+strings.Join(config.Failing, ", ")+") at "+strings.Join(failed, ", "), "Needs revision before stopping.")
	}
	switch {
	case state.Phase == "":
		return guard.Pass(firstOwnRow+1, "Phase unreadable")
	case config.isLast(state.Phase):
		return guard.Pass(firstOwnRow+4, "Phase is "+config.Last+", no gate is "+strings.Join(config.Failing, ", "))
	case !config.knows(state.Phase):
		return guard.Block(firstOwnRow+2, "Unknown phase "+state.Phase, unknownPhase(state.Phase, config)).Once()
	}
	message := "Continue the planning workflow until phase " + config.Last + " before stopping."
	if missing := config.after(state.Phase); len(missing) > 0 {
		message += " Missing phases: " + strings.Join(missing, ", ") + "."
	}
	return guard.Block(firstOwnRow+3, "Workflow at phase "+state.Phase+", not complete", message)
}

// after returns the phases that follow a phase.
func (config Config) after(phase string) []string {
	at := config.position(phase)
	if at < 0 {
		return nil
	}
	return config.Phases[at+1:]
}

// unknownPhase tells the model what to write instead.
func unknownPhase(phase string, config Config) string {
	return "ERROR: " + config.Names.State + " names the phase '" + phase + "', which the workflow does not have. Its phases are " +
		strings.Join(config.Phases, ", ") + ". Correct the phase."
}

// failedGates names the gates with such a verdict by their phase, or else by the
// workflow's.
func failedGates(state State, verdicts []string) []string {
	var failed []string
	for _, g := range state.Gates {
		if g.failed(verdicts) {
			failed = append(failed, cmp.Or(g.Phase, state.Phase, "unknown"))
		}
	}
	return failed
}
