package guard

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

const (
	architectAgent = "product-planning:software-architect"
	minElements    = 3
)

func architect() Guard {
	return Guard{
		ID: "H08", Name: "H08_architect_validator", Event: event.SubagentStop, Matcher: architectAgent,
		Flag: "hooks_agent_validation", Timeout: 10,
		Brief: "the architect ends with a blueprint that has most of its parts",
		Rows: []string{
			"another agent, or no output",
			"fewer than 3 of 5 elements are there: component design, data flow, interfaces, files to create/modify, build sequence",
			"anything else",
		},
		judge: func(c *call) (Verdict, error) {
			if !c.about(architectAgent) {
				return passed(1, "Not the architect: "+c.event.AgentType), nil
			}
			return judgeBlueprint(c.event.LastAssistantMessage), nil
		},
	}
}

// judgeBlueprint is the table of H08.
func judgeBlueprint(output string) Verdict {
	if strings.TrimSpace(output) == "" {
		return passed(1, "No output to judge")
	}
	elements, found := readBlueprint(output), 0
	var missing []string
	for _, e := range elements {
		if e.found {
			found++
		} else {
			missing = append(missing, e.name)
		}
	}
	if found < minElements {
		list := strings.Join(missing, ", ")
		return blocked(2, "Blueprint incomplete: missing "+list, "Architect output lacks: "+list+". Re-run with more specific requirements.")
	}
	return passed(3, "Blueprint sufficiently complete, missing: "+orElse(strings.Join(missing, ", "), "nothing"))
}
