package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// genericRule is the id of the rule that judges the agents that are not configured.
const genericRule = "H10"

// h10 judges the answer of every agent of the plugin that no other rule judges.
func h10(config configuration) guard.Rule {
	return agentRule(guard.Rule{
		ID: genericRule, Name: "H10_agent_generic_validator", Matcher: "^" + regexp.QuoteMeta(config.plugin) + ":",
		Brief: "every other agent of the plugin gives a substantial, structured answer",
		Rows:  agentRows, Decide: decideBy(runH10),
	})
}

// agentRule fills in the fields that the rules for agents share, H07 to H10.
func agentRule(r guard.Rule) guard.Rule {
	r.Event, r.Flag, r.Timeout = client.SubagentStop, "hooks_agent_validation", 10
	return r
}

// matcherOf returns a matcher for the agents that the rule with that id judges.
func matcherOf(config configuration, id string) string {
	agents := config.agentsOf(id)
	if len(agents) == 0 {
		return config.agent("-") // the name of no agent; an empty matcher would match all
	}
	return strings.Join(agents, "|")
}

// judges reports whether the rule with that id judges the event's agent. It judges an
// agent without a name, because the event matched the rule's matcher.
func (c *call) judges(id string) bool {
	c.readPluginName()
	c.Fact("agent", cmp.Or(c.Event.AgentType, "not named"))
	return c.Event.AgentType == "" || strings.EqualFold(c.config.ruleOf(c.Event.AgentType), id)
}

var agentRows = []string{
	"the event names no agent",
	"another guard judges the agent (H07, H08 or H09), or none does",
	"the agent does not belong to product-planning",
	"the agent is a judge and the answer states a verdict",
	"the answer has fewer than 100 words",
	"the answer has no heading (## or ###), list or table",
	"anything else",
}

func runH10(c *call) (guard.Verdict, error) {
	return c.agentFacts().decide(c.config), nil
}

type agentFacts struct {
	agent  string // full name, on one line
	answer string // with the documents that it names; read only if H10 judges the agent
}

func (c *call) agentFacts() agentFacts {
	c.readPluginName()
	facts := agentFacts{agent: guard.OneLine(c.Event.AgentType)}
	c.Fact("agent", cmp.Or(facts.agent, "not named"))
	if strings.EqualFold(c.config.ruleOf(facts.agent), genericRule) {
		facts.answer = c.withNamedFiles(c.lastMessage())
		c.Fact("words", fmt.Sprint(countWords(facts.answer, c.config.minWords)))
	}
	return facts
}

// lastMessage returns the agent's last message, from the event or else its transcript.
func (c *call) lastMessage() string {
	if text := c.Event.LastAssistantMessage; strings.TrimSpace(text) != "" {
		return text
	}
	return client.LastAssistantText(safefile.Absolute(c.Event.AgentTranscriptPath, c.place.cwd))
}

func (f agentFacts) decide(config configuration) guard.Verdict {
	rule := config.ruleOf(f.agent)
	words := countWords(f.answer, config.minWords)
	switch {
	case f.agent == "":
		return guard.Pass(1, "No agent named")
	case rule != "" && !strings.EqualFold(rule, genericRule):
		return guard.Pass(2, "Dedicated hook handles "+f.agent)
	case rule == "":
		return guard.Pass(3, "Not an agent of this plugin: "+f.agent)
	case config.isJudge(f.agent) && statesVerdict(f.answer):
		return guard.Pass(4, "A verdict of "+f.agent)
	case words < config.minWords:
		return guard.Block(5, fmt.Sprintf("Insufficient output (%d words)", words),
			fmt.Sprintf("Agent %s produced only %d words. Minimum required: %d words. Re-run with more specific instructions.", f.agent, words,
				config.minWords))
	case !isStructured(f.answer):
		return guard.Block(6, "No structured sections found",
			fmt.Sprintf("Agent %s output lacks structure (no headers, lists, or tables). Agent output should use markdown formatting for clarity.",
				f.agent))
	}
	return guard.Pass(7, fmt.Sprintf("agent=%s, words>=%d", f.agent, words))
}

// statesVerdict reports whether an answer contains a word for a verdict or decision, or a
// score such as 4/5.
func statesVerdict(text string) bool {
	return regexp.MustCompile(`(?i)\b(verdict|decision|ruling|winner|consensus|score|ranking|pass(ed|es)?|fail(ed|s)?|approved?|rejected?|` +
		`accept(ed)?|green|yellow|red)\b|\d(\.\d+)?\s*/\s*\d`).MatchString(text)
}

// isStructured reports whether an answer has a heading (## or ###), a list or a table.
func isStructured(text string) bool {
	return regexp.MustCompile(`(?m)^#{2,3}\s|^\s*[-*+]\s|^\s*\d+[.)]\s|\|.*\|`).MatchString(text)
}
