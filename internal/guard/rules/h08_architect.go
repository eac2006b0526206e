package rules

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// h08 judges the blueprint in the architect's answer. blueprint.go finds its elements.
func h08(config configuration) guard.Rule {
	return agentRule(guard.Rule{
		ID: "H08", Name: "H08_architect_validator", Matcher: matcherOf(config, "H08"),
		Brief: "the architect's answer is a blueprint with most of its elements",
		Rows:  architectRows, Decide: decideBy(runH08),
	})
}

var architectRows = []string{
	"another agent, or no output",
	"fewer than 3 of 5 elements are present: component design, data flow, interfaces, files to create/modify, build sequence",
	"anything else",
}

func runH08(c *call) (guard.Verdict, error) {
	if !c.judges("H08") {
		return guard.Pass(1, "Not the architect: "+c.Event.AgentType), nil
	}
	return architectFacts{c.withNamedFiles(c.Event.LastAssistantMessage)}.decide(c.config), nil
}

type architectFacts struct {
	output string // the answer, and the documents that it names
}

// decide picks the row; that another agent is meant is decided before.
func (f architectFacts) decide(config configuration) guard.Verdict {
	if strings.TrimSpace(f.output) == "" {
		return guard.Pass(1, "No output to judge")
	}
	found := 0
	var absent []string
	for _, e := range readBlueprint(f.output) {
		if e.found {
			found++
		} else {
			absent = append(absent, e.name)
		}
	}
	missing := strings.Join(absent, ", ")
	if found < config.minElements {
		return guard.Block(2, "Blueprint incomplete: missing "+missing, "Architect output lacks: "+missing+
			". Re-run with more specific requirements.")
	}
	if missing == "" {
		return guard.Pass(3, "Blueprint complete")
	}
	return guard.Pass(3, "Blueprint complete enough; missing: "+missing)
}
