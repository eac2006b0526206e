package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/transcript"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
)

// genericRule is the id of the rule for agents without one of their own.
const genericRule = "H10"

func h10(config Config) guard.Rule {
	return guard.Rule{
		ID: genericRule, Name: "H10_agent_generic_validator", Event: event.SubagentStop, Matcher: "^" + regexp.QuoteMeta(config.Plugin) + ":",
		Flag: agentFlag, Timeout: 10,
		Brief: "every other agent of the plugin ends with a substantial, structured answer",
		Rows:  agentRows, Decide: decide(agentOutput),
		Settings: agentSettings,
	}
}

// agentFlag switches the rules for agents.
const agentFlag = "hooks_agent_validation"

// agentSettings are the keys that the rules for agents go by.
var agentSettings = []string{"feature_flags." + agentFlag, "feature_flags.s1_self_critique", "workflow"}

// matcherOf returns the matcher of a rule for the agents that are configured for it.
func matcherOf(config Config, id string) string {
	agents := config.agentsOf(id)
	if len(agents) == 0 {
		return config.agent("-") // a name that no agent has: an empty matcher would match all
	}
	return strings.Join(agents, "|")
}

// concerns reports whether the event is one of an agent that the rule judges. An event
// that names no agent is, because it passed the rule's matcher.
func (c *call) concerns(id string) bool {
	c.identify()
	c.Fact("agent", cmp.Or(c.Event.AgentType, "not named"))
	return c.Event.AgentType == "" || strings.EqualFold(c.config.ruleOf(c.Event.AgentType), id)
}

var agentRows = []string{
	"the event names no agent",
	"the agent has a guard of its own, H07, H08 or H09, or none",
	"the agent does not belong to product-planning",
	"the agent is a judge and the answer states a verdict",
	"the answer has fewer than 100 words",
	"the answer has no heading (## or ###), list or table",
	"anything else",
}

func agentOutput(c *call) (guard.Verdict, error) {
	c.identify()
	agent := guard.OneLine(c.Event.AgentType)
	c.Fact("agent", cmp.Or(agent, "not named"))
	answer := ""
	if strings.EqualFold(c.config.ruleOf(agent), genericRule) {
		answer = c.withNamedFiles(c.agentAnswer())
		c.Fact("words", fmt.Sprint(countWords(answer, c.config.MinWords)))
	}
	return decideAnswer(agent, answer, c.config), nil
}

// agentAnswer is the agent's last message.
func (c *call) agentAnswer() string {
	if text := c.Event.LastAssistantMessage; strings.TrimSpace(text) != "" {
		return text
	}
	return transcript.LastAssistantText(paths.Absolute(c.Event.AgentTranscriptPath, c.place.cwd))
}

func decideAnswer(agent, answer string, config Config) guard.Verdict {
	rule := config.ruleOf(agent)
	words := countWords(answer, config.MinWords)
	switch {
	case agent == "":
		return guard.Pass(1, "No agent named")
	case rule != "" && !strings.EqualFold(rule, genericRule):
		return guard.Pass(2, "Dedicated hook handles "+agent)
	case rule == "":
		return guard.Pass(3, "Not an agent of this plugin: "+agent)
	case config.isJudge(agent) && statesVerdict(answer):
		return guard.Pass(4, "A verdict of "+agent)
	case words < config.MinWords:
		return guard.Block(5, fmt.Sprintf("Insufficient output (%d words)", words),
			fmt.Sprintf("Agent %s produced only %d words. Minimum required: %d words. Re-run with more specific instructions.", agent, words, config.MinWords))
	case !structured(answer):
		return guard.Block(6, "No structured sections found",
			fmt.Sprintf("Agent %s output lacks structure (no headers, lists, or tables). Agent output should use markdown formatting for clarity.", agent))
	}
	return guard.Pass(7, fmt.Sprintf("agent=%s, words>=%d", agent, words))
}

// statesVerdict reports whether an answer says what was judged: a verdict, a decision,
// or a score.
func statesVerdict(text string) bool {
	return regexp.MustCompile(`(?i)\b(verdict|decision|ruling|winner|consensus|score|ranking|pass(ed|es)?|fail(ed|s)?|approved?|rejected?|accept(ed)?|green|yellow|red)\b|\d(\.\d+)?\s*/\s*\d`).MatchString(text)
}

func structured(text string) bool {
	return regexp.MustCompile(`(?m)^#{2,3}\s|^\s*[-*+]\s|^\s*\d+[.)]\s|\|.*\|`).MatchString(text)
}
