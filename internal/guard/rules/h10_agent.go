package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/transcript"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

var agentRows = []string{
	"the event names no agent",
	"the agent has a guard of its own: H07, H08 or H09",
	"the agent does not belong to product-planning",
	"the answer has fewer than 100 words",
	"the answer has no heading (## or ###), list or table",
	"anything else",
}

func agentOutput(c *call) (guard.Verdict, error) {
	agent := guard.OneLine(c.Event.AgentType)
	c.Fact("agent", cmp.Or(agent, "not named"))
	answer := ""
	if isGeneric(agent) {
		answer = c.agentAnswer()
		c.Fact("words", fmt.Sprint(len(strings.Fields(answer))))
	}
	return decideAnswer(agent, answer, c.config), nil
}

// hasOwnRule reports whether H07, H08 or H09 decides on the agent.
func hasOwnRule(agent string) bool {
	return slices.Contains([]string{techLead, architect, qaStrategist}, agent)
}

func isGeneric(agent string) bool { return strings.HasPrefix(agent, agents) && !hasOwnRule(agent) }

// agentAnswer is the agent's last message.
func (c *call) agentAnswer() string {
	if text := c.Event.LastAssistantMessage; strings.TrimSpace(text) != "" {
		return text
	}
	return transcript.LastAssistantText(paths.Absolute(c.Event.AgentTranscriptPath, c.place.cwd))
}

func decideAnswer(agent, answer string, config Config) guard.Verdict {
	words := len(strings.Fields(answer))
	switch {
	case agent == "":
		return guard.Pass(1, "No agent named")
	case hasOwnRule(agent):
		return guard.Pass(2, "Dedicated hook handles "+agent)
	case !isGeneric(agent):
		return guard.Pass(3, "Not an agent of this plugin: "+agent)
	case words < config.MinWords:
		return guard.Block(4, fmt.Sprintf("Insufficient output (%d words)", words),
			fmt.Sprintf("Agent %s produced only %d words. Minimum required: %d words. Re-run with more specific instructions.", agent, words, config.MinWords))
	case !structured(answer):
		return guard.Block(5, "No structured sections found",
			fmt.Sprintf("Agent %s output lacks structure (no headers, lists, or tables). Agent output should use markdown formatting for clarity.", agent))
	}
	return guard.Pass(6, fmt.Sprintf("agent=%s, words=%d", agent, words))
}

func structured(text string) bool {
	return regexp.MustCompile(`(?m)^#{2,3}\s|^\s*[-*+]\s|^\s*\d+[.)]\s|\|.*\|`).MatchString(text)
}
