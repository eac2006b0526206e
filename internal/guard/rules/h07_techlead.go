package rules

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// h07 judges the tasks.md that the tech lead leaves. tasklist.go counts its tasks.
func h07(config configuration) guard.Rule {
	return agentRule(guard.Rule{
		ID: "H07", Name: "H07_tech_lead_validator", Matcher: matcherOf(config, "H07"),
		Brief: "the tech lead leaves a tasks.md with phases and tasks that name their tests",
		Rows:  techLeadRows, Decide: decideBy(runH07),
	})
}

var techLeadRows = []string{
	"another agent, or no feature directory",
	"tasks.md is missing",
	"tasks.md is empty or blank",
	"fewer than 5 lines are tasks (- [ ] [T001])",
	"too few tasks name a test (UT-1, INT-1, E2E-1 or UAT-1)",
	"fewer than 2 lines are phases (## Phase)",
	"self-critique is required and missing",
	"anything else",
}

func runH07(c *call) (guard.Verdict, error) {
	if !c.judges("H07") {
		return guard.Pass(1, "Not the tech lead: "+c.Event.AgentType), nil
	}
	tasks, err := c.document(c.config.names.tasks)
	if err != nil {
		return guard.Pass(0, "tasks.md unreadable: "+err.Error()), nil
	}
	return techLeadFacts{c.place.feature, tasks}.decide(c.config), nil
}

type techLeadFacts struct {
	feature string // the feature directory, empty if there is none
	tasks   document
}

// decide picks the row; that another agent is meant is decided before.
func (f techLeadFacts) decide(config configuration) guard.Verdict {
	switch {
	case f.feature == "":
		return guard.Pass(1, "No feature directory, cannot validate")
	case !f.tasks.exists:
		return guard.Block(2, config.names.tasks+" not found", "Tech-lead agent did not produce "+config.names.tasks+" in "+f.feature+
			". Re-run task generation.")
	case strings.TrimSpace(f.tasks.text) == "":
		return guard.Block(3, config.names.tasks+" is empty", "Tech-lead agent produced an empty "+config.names.tasks+
			". Re-run task generation with more specific instructions.")
	}
	list := readTasks(f.tasks.text, config.testIDs)
	switch percent := list.percent(); {
	case list.tasks < config.minTasks:
		return guard.Block(4, fmt.Sprintf("Too few tasks (%d)", list.tasks),
			fmt.Sprintf("Tech-lead output has only %d tasks with proper format (- [ ] [T###]). Minimum required: %d. "+
				"Re-run with more detailed breakdown.",
				list.tasks, config.minTasks))
	case percent < config.testPercent:
		return guard.Block(5, fmt.Sprintf("Insufficient TDD integration: %d%% (need >=%d%%)", percent, config.testPercent),
			fmt.Sprintf("Tech-lead output has %d/%d tasks with test references (%d%%). Required: >=%d%%. Add %s references to task "+
				"Definition of Done sections.",
				list.tested, list.tasks, percent, config.testPercent, strings.Join(config.testIDs, "-/")+"-"))
	case list.phases < config.minPhases:
		return guard.Block(6, "Missing phase structure",
			fmt.Sprintf("%s has only %d '## Phase' headers. Expected at least %d implementation phases. Re-structure tasks into phased delivery.",
				config.names.tasks, list.phases, config.minPhases))
	case config.selfCritique && !list.critique:
		return guard.Block(7, "Missing self-critique section",
			"s1_self_critique is enabled but tech-lead output has no self-critique section. Add self-assessment of task quality.")
	}
	return guard.Pass(8, fmt.Sprintf("tasks=%d, tdd=%d%%, phases=%d", list.tasks, list.percent(), list.phases))
}
