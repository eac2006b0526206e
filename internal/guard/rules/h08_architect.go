package rules

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

var architectRows = []string{
	"another agent, or no output",
	"fewer than 3 of 5 elements are present: component design, data flow, interfaces, files to create/modify, build sequence",
	"anything else",
}

func architectOutput(c *call) (guard.Verdict, error) {
	if !c.concerns(architect) {
		return guard.Pass(1, "Not the architect: "+c.Event.AgentType), nil
	}
	return decideBlueprint(c.Event.LastAssistantMessage, c.config), nil
}

func decideBlueprint(output string, config Config) guard.Verdict {
	if strings.TrimSpace(output) == "" {
		return guard.Pass(1, "No output to judge")
	}
	found := 0
	var absent []string
	for _, e := range readBlueprint(output) {
		if e.found {
			found++
		} else {
			absent = append(absent, e.name)
		}
	}
	missing := strings.Join(absent, ", ")
	if found < config.MinElements {
		return guard.Block(2, "Blueprint incomplete: missing "+missing, "Architect output lacks: "+missing+". Re-run with more specific requirements.")
	}
	return guard.Pass(3, "Blueprint sufficiently complete, missing: "+cmp.Or(missing, "nothing"))
}
