package rules

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// h01 keeps the model from asking the user again what the state file has decided. match.go
// compares questions with decisions.
func h01() guard.Rule {
	return guard.Rule{
		ID: "H01", Name: "H01_immutable_guard", Event: client.PreToolUse, Matcher: "AskUserQuestion",
		Flag: "hooks_immutable_guard", Timeout: 5,
		Brief: "a question whose answer is already decided is not asked again",
		Rows:  decisionRows, Decide: decideBy(runH01),
	}
}

var decisionRows = []string{
	"no state file",
	"no question with text",
	"the frontmatter is unreadable, or user_decisions is not a mapping with entries",
	"a question matches a decision",
	"anything else",
}

func runH01(c *call) (guard.Verdict, error) {
	return c.decisionFacts().decide(c.config), nil
}

type decisionFacts struct {
	state     stateFile
	questions []question
}

func (c *call) decisionFacts() decisionFacts {
	facts := decisionFacts{c.readState(), questionsOf(c.Event)}
	for _, q := range facts.questions {
		c.Fact("question", q.text)
	}
	c.Fact("decisions", fmt.Sprint(len(facts.state.decisions)))
	return facts
}

func (f decisionFacts) decide(config configuration) guard.Verdict {
	switch {
	case !f.state.exists:
		return guard.Pass(1, "No state file, planning not started")
	case len(f.questions) == 0:
		return guard.Pass(2, "No question text found in tool input")
	case f.state.err != nil:
		return guard.Pass(3, "State file unreadable: "+f.state.err.Error())
	case len(f.state.decisions) == 0:
		return guard.Pass(3, "No user_decisions in state")
	}
	var refusals, open []string
	for _, q := range f.questions {
		if m, ok := bestMatch(q, f.state.decisions, config.thresholds); ok {
			refusals = append(refusals, m.refusal())
		} else {
			open = append(open, "'"+q.text+"'")
		}
	}
	if len(refusals) == 0 {
		return guard.Pass(5, "No matching decisions found")
	}
	message := strings.Join(refusals, " ")
	if len(open) > 0 {
		message += " Ask again with only: " + strings.Join(open, "; ")
	}
	return guard.Deny(4, message)
}

func (m match) refusal() string {
	return fmt.Sprintf("DENIED: This question overlaps with an immutable decision already made. Previous decision: '%s' -> '%s'. Do not "+
		"re-ask. Use the cached answer. (overlap %d/%d)",
		m.decision.key, m.decision.value, m.overlap, m.total)
}

// question is one question of the AskUserQuestion tool.
type question struct {
	text    string   // on one line
	options []string // the labels of the offered answers
}

// questionsOf returns the questions in tool_input.questions that have a text. If there are
// none, it returns the one in tool_input.question.
func questionsOf(e *client.Event) []question {
	var input struct {
		Questions []jsontext.Value `json:"questions"`
	}
	_ = json.Unmarshal(e.ToolInput, &input, jsonx.Tolerant) // input of another type has no questions
	var all []question
	for _, q := range input.Questions {
		all = appendQuestion(all, q)
	}
	if len(all) == 0 {
		all = appendQuestion(all, e.ToolInput)
	}
	return all
}

func appendQuestion(all []question, value jsontext.Value) []question {
	q := question{text: strings.TrimSpace(guard.OneLine(jsonx.StringMember(value, "question")))}
	if q.text == "" {
		return all
	}
	var options []jsontext.Value
	_ = json.Unmarshal(jsonx.Member(value, "options"), &options, jsonx.Tolerant) // options of another type are ignored
	for _, o := range options {
		q.options = append(q.options, jsonx.StringMember(o, "label"))
	}
	return append(all, q)
}
