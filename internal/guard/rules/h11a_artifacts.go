package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// h11a keeps a turn from ending while an artifact of the workflow is missing. h11_stop.go
// has the first rows of its table.
func h11a() guard.Rule {
	return stopRule(guard.Rule{
		ID: "H11a", Name: "H11a_required_artifacts",
		Brief: "a turn does not end before design, plan, tasks and test plan exist",
		Rows: stopRows(
			"the phase is COMPLETION",
			"design.md, plan.md, tasks.md or test-plan.md is missing or empty",
			"anything else",
		),
		Decide: decideBy(runH11a),
	})
}

func runH11a(c *call) (guard.Verdict, error) {
	stop := c.stopFacts()
	missing := c.missingArtifacts()
	c.Fact("missing", cmp.Or(strings.Join(missing, ", "), "none"))
	if v, ok := stop.decide(); ok {
		return v, nil
	}
	return stop.stopLike(artifactFacts{stop.state.phase, missing}.decide(c.config)), nil
}

// artifactFacts is what H11a looks at besides the stop: the phase and the missing files.
type artifactFacts struct {
	phase   string   // empty if the state file cannot be read
	missing []string // required artifacts that are missing or empty
}

func (c *call) missingArtifacts() []string {
	return slices.DeleteFunc(slices.Clone(c.config.required), func(name string) bool { return safefile.HasContent(c.place.path(name)) })
}

// decide picks among the rows that only H11a has. Missing files block the turn even if the state
// file cannot be read.
func (f artifactFacts) decide(config configuration) guard.Verdict {
	phase, missing := cmp.Or(f.phase, "unknown"), strings.Join(f.missing, ", ")
	switch {
	case config.isLast(f.phase):
		return guard.Pass(firstOwnRow, "Phase is "+config.lastPhase)
	case len(f.missing) > 0:
		return guard.Block(firstOwnRow+1, "Missing artifacts: "+missing,
			fmt.Sprintf("Planning incomplete (phase: %s). Missing required artifacts: %s. Continue workflow to generate "+
				"these artifacts before stopping.",
				phase, missing))
	}
	return guard.Pass(firstOwnRow+2, "All required artifacts present, phase="+phase)
}
