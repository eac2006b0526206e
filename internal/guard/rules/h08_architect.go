package rules

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
)

func h08(config Config) guard.Rule {
	const id = "H08"
	return guard.Rule{
		ID: id, Name: "H08_architect_validator", Event: event.SubagentStop, Matcher: matcherOf(config, id),
		Flag: agentFlag, Timeout: 10,
		Brief: "the architect ends with a blueprint that has most of its parts",
		Rows:  architectRows, Decide: decide(architectOutput(id)),
		Settings: agentSettings,
	}
}

var architectRows = []string{
	"another agent, or no output",
	"fewer than 3 of 5 elements are present: component design, data flow, interfaces, files to create/modify, build sequence",
	"anything else",
}

func architectOutput(id string) func(c *call) (guard.Verdict, error) {
	return func(c *call) (guard.Verdict, error) {
		if !c.concerns(id) {
			return guard.Pass(1, "Not the architect: "+c.Event.AgentType), nil
		}
		return decideBlueprint(c.withNamedFiles(c.Event.LastAssistantMessage), c.config), nil
	}
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
