package guard

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func requiredArtifacts() Guard {
	return Guard{
		ID: "H11a", Name: "H11a_required_artifacts", Event: event.Stop,
		Flag: "hooks_stop_guard", Timeout: 5,
		Brief: "a turn does not end before design, plan, tasks and test plan exist",
		Rows: stopRows(
			"the phase is COMPLETION",
			"design.md, plan.md, tasks.md or test-plan.md is missing or empty",
			"anything else",
		),
		judge: func(c *call) (Verdict, error) {
			stop := c.stopFacts()
			missing := c.missingArtifacts()
			c.fact("missing", orElse(strings.Join(missing, ", "), "none"))
			if v, ok := stop.decide(); ok {
				return v, nil
			}
			return judgeArtifacts(stop.state.Phase, missing), nil
		},
	}
}

func (c *call) missingArtifacts() []string {
	var missing []string
	for _, name := range []string{"design.md", "plan.md", "tasks.md", "test-plan.md"} {
		if !hasContent(c.place.in(name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// judgeArtifacts is the table of H11a from row 4. A state file that cannot be
// read, whose phase is empty, excuses nothing.
func judgeArtifacts(phase string, missing []string) Verdict {
	list := strings.Join(missing, ", ")
	switch {
	case strings.EqualFold(phase, completion):
		return passed(4, "Phase is COMPLETION")
	case len(missing) > 0:
		return blocked(5, "Missing artifacts: "+list,
			fmt.Sprintf("Planning incomplete (phase: %s). Missing required artifacts: %s. Continue workflow to generate these artifacts before stopping.", orElse(phase, "unknown"), list))
	}
	return passed(6, "All required artifacts present, phase="+orElse(phase, "unknown"))
}
