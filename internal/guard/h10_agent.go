package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

const minWords = 100

func anyAgent() Guard {
	return Guard{
		ID: "H10", Name: "H10_agent_generic_validator", Event: event.SubagentStop, Matcher: "^product-planning:",
		Flag: "hooks_agent_validation", Timeout: 10,
		Brief: "every other agent of the plugin ends with a substantial, structured answer",
		Rows: []string{
			"the event names no agent",
			"the agent has a guard of its own: H07, H08 or H09",
			"the agent is not one of product-planning",
			"the answer has fewer than 100 words",
			"the answer has no heading (## or ###), list or table",
			"anything else",
		},
		judge: func(c *call) (Verdict, error) {
			agent := oneLine(c.event.AgentType)
			c.fact("agent", orElse(agent, "not named"))
			text := ""
			if judgedHere(agent) {
				text = c.lastWords()
				c.fact("words", fmt.Sprint(len(strings.Fields(text))))
			}
			return judgeAgent(agent, text), nil
		},
	}
}

// dedicated are the agents that have a guard of their own.
var dedicated = [...]string{techLeadAgent, architectAgent, qaAgent}

func judgedHere(agent string) bool {
	return strings.HasPrefix(agent, "product-planning:") && !slices.Contains(dedicated[:], agent)
}

// lastWords is what the agent ended with.
func (c *call) lastWords() string {
	if text := c.event.LastAssistantMessage; strings.TrimSpace(text) != "" {
		return text
	}
	return lastAssistantText(absolute(c.event.AgentTranscriptPath, c.place.cwd))
}

// judgeAgent is the table of H10.
func judgeAgent(agent, text string) Verdict {
	words := len(strings.Fields(text))
	switch {
	case agent == "":
		return passed(1, "No agent named")
	case slices.Contains(dedicated[:], agent):
		return passed(2, "Dedicated hook handles "+agent)
	case !judgedHere(agent):
		return passed(3, "Not an agent of this plugin: "+agent)
	case words < minWords:
		return blocked(4, fmt.Sprintf("Insufficient output (%d words)", words),
			fmt.Sprintf("Agent %s produced only %d words. Minimum required: %d words. Re-run with more specific instructions.", agent, words, minWords))
	case !structured(text):
		return blocked(5, "No structured sections found",
			fmt.Sprintf("Agent %s output lacks structure (no headers, lists, or tables). Agent output should use markdown formatting for clarity.", agent))
	}
	return passed(6, fmt.Sprintf("agent=%s, words=%d", agent, words))
}

func structured(text string) bool {
	return regexp.MustCompile(`(?m)^#{2,3}\s|^\s*[-*+]\s|^\s*\d+[.)]\s|\|.*\|`).MatchString(text)
}
