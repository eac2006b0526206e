package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// h11b keeps a turn from ending before the workflow is complete. h11_stop.go has the first
// rows of its table.
func h11b() guard.Rule {
	return stopRule(guard.Rule{
		ID: "H11b", Name: "H11b_workflow_completeness",
		Brief: "a turn does not end while the workflow is incomplete or a gate is RED",
		Rows: stopRows(
			"a gate is RED, by the first word of its verdict or status",
			"the phase is unreadable",
			"the workflow has no such phase: an error, reported once",
			"the phase is not COMPLETION, and the steps do not show that the phases from it on are done",
			"anything else",
		),
		Decide: decideBy(runH11b),
	})
}

func runH11b(c *call) (guard.Verdict, error) {
	stop := c.stopFacts()
	if v, ok := stop.decide(); ok {
		return v, nil
	}
	var done []string
	if len(stop.steps.Steps) > 0 {
		c.readPluginName()
		done = c.config.doneBySteps(stop.steps.Steps)
		c.Fact("phases done by steps", cmp.Or(strings.Join(done, ", "), "none"))
	}
	return stop.stopLike(workflowFacts{stop.state, done}.decide(c.config)), nil
}

// workflowFacts is what H11b looks at besides the stop: the state, and the phases that are done.
type workflowFacts struct {
	state stateFile
	done  []string // phases that steps with evidence show to be done
}

// decide picks among the rows that only H11b has.
func (f workflowFacts) decide(config configuration) guard.Verdict {
	phase := f.state.phase
	if failed := failedGates(f.state, config.failing); len(failed) > 0 {
		return guard.Block(firstOwnRow, "Validation failed ("+strings.Join(config.failing, ", ")+") at "+strings.Join(failed, ", "),
			"Needs revision before stopping.")
	}
	switch {
	case phase == "":
		return guard.Pass(firstOwnRow+1, "Phase unreadable")
	case config.isLast(phase):
		return guard.Pass(firstOwnRow+4, "Phase is "+config.lastPhase+", no gate is "+strings.Join(config.failing, ", "))
	case !config.knows(phase):
		return guard.Block(firstOwnRow+2, "Unknown phase "+phase, unknownPhase(phase, config)).Once()
	}
	left := slices.DeleteFunc(config.from(phase), func(p string) bool { return slices.Contains(f.done, p) })
	if len(left) == 0 || len(left) == 1 && config.isLast(left[0]) { // only steps have done the present phase
		return guard.Pass(firstOwnRow+4, "The steps of the workflow are done")
	}
	message := "Continue the planning workflow until phase " + config.lastPhase + " before stopping."
	if missing := slices.DeleteFunc(left, func(p string) bool { return samePhase(p, phase) }); len(missing) > 0 {
		message += " Missing phases: " + strings.Join(missing, ", ") + "."
	}
	return guard.Block(firstOwnRow+3, "Workflow at phase "+phase+", not complete", message)
}

// from returns a copy of the phases from a phase on, nil for an unknown one.
func (config configuration) from(phase string) []string {
	at := config.position(phase)
	if at < 0 {
		return nil
	}
	return slices.Clone(config.phases[at:])
}

// unknownPhase is the message to the model about a phase that the workflow does not have.
func unknownPhase(phase string, config configuration) string {
	return "ERROR: " + config.names.state + " names the phase '" + phase + "', which the workflow does not have. Its phases are " +
		strings.Join(config.phases, ", ") + ". Correct the phase."
}

// failedGates returns the phases of the gates that have one of the verdicts. A gate
// without a phase has that of the workflow.
func failedGates(state stateFile, verdicts []string) []string {
	var failed []string
	for _, g := range state.gates {
		if g.failed(verdicts) {
			failed = append(failed, cmp.Or(g.phase, state.phase, "unknown"))
		}
	}
	return failed
}
