package guard

import (
	"regexp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/event"
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
	var missing []string
	elements := blueprint()
	for _, e := range elements {
		if !e.in(output) {
			missing = append(missing, e.name)
		}
	}
	if len(elements)-len(missing) < minElements {
		list := strings.Join(missing, ", ")
		return blocked(2, "Blueprint incomplete: missing "+list, "Architect output lacks: "+list+". Re-run with more specific requirements.")
	}
	return passed(3, "Blueprint sufficiently complete, missing: "+orElse(strings.Join(missing, ", "), "nothing"))
}

// element is one part of a blueprint: it is there if all its patterns match.
type element struct {
	name     string
	patterns []string
}

func (e element) in(text string) bool {
	for _, p := range e.patterns {
		if !regexp.MustCompile(p).MatchString(text) {
			return false
		}
	}
	return true
}

// filePath matches src/models/user.ts: a folder, a name and a suffix.
const filePath = `[\w@.\[\]-]+/(?:[\w@.\[\]-]+/)*[\w@\[\]-]+(?:\.[A-Za-z]\w{0,7})+\b`

// blueprint lists the elements in the words of the workflow: headings, phrases
// and code forms, in any case where a person would not mind the case.
func blueprint() []element {
	return []element{
		{"component design", []string{filePath, `(?i)\b(component|module|service|class|model|layer|controller|repository)s?\b|\b[A-Z][a-z0-9]+[A-Z]\w*`}},
		{"data flow", []string{`(?i)\bdata[\s_-]*flows?\b|\bflow of data\b|\bdata (moves|passes|travels|goes)\b|\bflows? (from|into|through)\b|\w\s*(->|→|=>)\s*[\w ]+?\s*(->|→|=>)\s*\w`}},
		{"interfaces", []string{`(?i)\binterfaces?\b|\bapi contracts?\b|\bcontracts?\b|\bsignatures?\b|\bprops\b|\b(func|function|def|fn)\s+\w+\s*\(|\w\([^()\n]*\)\s*(:|->|→|=>)\s*\S`}},
		{"files to create/modify", []string{`(?i)\bfiles?\s+(to\s+(be\s+)?)?(create|creat|modif|add|chang|touch|updat|delet)\w*|\b(new|modified|created|changed|affected)\s+files?\b|\b(create|modify|add|update)\s*:?\s*` + "`?" + filePath}},
		{"build sequence", []string{`(?i)\b(build|implementation|development|delivery|construction)\s+(sequence|order|steps?|plan|phases?)\b|\border of (implementation|work|construction)\b|\bsequence of (implementation|work|construction)\b|\b(step|phase) 1\b`}},
	}
}
