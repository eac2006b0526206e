package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

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
	return decideArtifacts(stop.state.Phase, missing, c.config), nil
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

// decideArtifacts is the table from row 4 on. An unreadable state file, whose phase
// is empty, does not excuse missing files.
func decideArtifacts(phase string, missing []string, config Config) guard.Verdict {
	list := strings.Join(missing, ", ")
	switch {
	case strings.EqualFold(phase, config.LastPhase):
		return guard.Pass(4, "Phase is "+config.LastPhase)
	case len(missing) > 0:
		return guard.Block(5, "Missing artifacts: "+list,
			fmt.Sprintf("Planning incomplete (phase: %s). Missing required artifacts: %s. Continue workflow to generate these artifacts before stopping.", cmp.Or(phase, "unknown"), list))
	}
	return guard.Pass(6, "All required artifacts present, phase="+cmp.Or(phase, "unknown"))
}
