package guard

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

const (
	techLeadAgent = "product-planning:tech-lead"
	minTasks      = 5
	minPhases     = 2
)

func techLead() Guard {
	return Guard{
		ID: "H07", Name: "H07_tech_lead_validator", Event: event.SubagentStop, Matcher: techLeadAgent,
		Flag: "hooks_agent_validation", Timeout: 10,
		Brief: "the tech lead ends with a tasks.md of phased tasks that name their tests",
		Rows: []string{
			"another agent, or no feature directory",
			"tasks.md is missing",
			"tasks.md is empty or blank",
			"fewer than 5 lines are tasks, - [ ] [T001]",
			"too few tasks name a test, UT-1, INT-1, E2E-1 or UAT-1",
			"fewer than 2 lines are phases, ## Phase",
			"self-critique is asked for and missing",
			"anything else",
		},
		judge: func(c *call) (Verdict, error) {
			if !c.about(techLeadAgent) {
				return passed(1, "Not the tech lead: "+c.event.AgentType), nil
			}
			tasks, err := c.document("tasks.md")
			if err != nil {
				return passed(0, "tasks.md unreadable: "+err.Error()), nil
			}
			return judgeTasks(c.place.feature, tasks, c.config), nil
		},
	}
}

// about reports whether the event is the agent's; one that names no agent came
// through the matcher, and is.
func (c *call) about(agent string) bool {
	c.fact("agent", orElse(c.event.AgentType, "not named"))
	return c.event.AgentType == "" || c.event.AgentType == agent
}

// judgeTasks is the table of H07 from row 1's second half.
func judgeTasks(feature string, tasks document, config Config) Verdict {
	switch {
	case feature == "":
		return passed(1, "No feature directory, cannot validate")
	case !tasks.exists:
		return blocked(2, "tasks.md not found", "Tech-lead agent did not produce tasks.md in "+feature+". Re-run task generation.")
	case strings.TrimSpace(tasks.text) == "":
		return blocked(3, "tasks.md is empty", "Tech-lead agent produced an empty tasks.md. Re-run task generation with more specific instructions.")
	}
	list := readTasks(tasks.text)
	switch percent := list.percent(); {
	case list.tasks < minTasks:
		return blocked(4, fmt.Sprintf("Too few tasks (%d)", list.tasks),
			fmt.Sprintf("Tech-lead output has only %d tasks with proper format (- [ ] [T###]). Minimum required: %d. Re-run with more detailed breakdown.", list.tasks, minTasks))
	case percent < config.TestPercent:
		return blocked(5, fmt.Sprintf("Insufficient TDD integration: %d%% (need >=%d%%)", percent, config.TestPercent),
			fmt.Sprintf("Tech-lead output has %d/%d tasks with test references (%d%%). Required: >=%d%%. Add UT-/INT-/E2E-/UAT- references to task Definition of Done sections.", list.tested, list.tasks, percent, config.TestPercent))
	case list.phases < minPhases:
		return blocked(6, "Missing phase structure",
			fmt.Sprintf("tasks.md has only %d '## Phase' headers. Expected at least %d implementation phases. Re-structure tasks into phased delivery.", list.phases, minPhases))
	case config.SelfCritique && !list.critique:
		return blocked(7, "Missing self-critique section", "s1_self_critique is enabled but tech-lead output has no self-critique section. Add self-assessment of task quality.")
	}
	return passed(8, fmt.Sprintf("tasks=%d, tdd=%d%%, phases=%d", list.tasks, list.percent(), list.phases))
}
