package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

func h11a() guard.Rule {
	return stopRule(guard.Rule{
		ID: "H11a", Name: "H11a_required_artifacts",
		Brief: "a turn does not end before design, plan, tasks and test plan exist",
		Rows:  artifactRows, Decide: decide(requiredArtifacts),
	})
}

var artifactRows = stopRows(
	"the phase is COMPLETION",
	"design.md, plan.md, tasks.md or test-plan.md is missing or empty",
	"anything else",
)

func requiredArtifacts(c *call) (guard.Verdict, error) {
	stop := c.stopFacts()
	missing := c.missingArtifacts()
	c.Fact("missing", cmp.Or(strings.Join(missing, ", "), "none"))
	if v, ok := stop.decide(c.config); ok {
		return v, nil
	}
	return decideArtifacts(stop.state.Phase, missing, c.config).WithProgress(stop.progress, stop.asked), nil
}

func (c *call) missingArtifacts() []string {
	var missing []string
	for _, name := range c.config.Required {
		if !paths.HasContent(c.place.path(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// decideArtifacts is the table from the first row of its own on. An unreadable state
// file, whose phase is empty, does not excuse missing files.
func decideArtifacts(phase string, missing []string, config Config) guard.Verdict {
	list := strings.Join(missing, ", ")
	switch {
	case config.isLast(phase):
		return guard.Pass(firstOwnRow, "Phase is "+config.Last)
	case len(missing) > 0:
		return guard.Block(firstOwnRow+1, "Missing artifacts: "+list,
			fmt.Sprintf("Planning incomplete (phase: %s). Missing required artifacts: %s. Continue workflow to generate these artifacts before stopping.", cmp.Or(phase, "unknown"), list))
	}
	return guard.Pass(firstOwnRow+2, "All required artifacts present, phase="+cmp.Or(phase, "unknown"))
}
