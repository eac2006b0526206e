package rules

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/jsonx"
)

var decisionRows = []string{
	"no state file",
	"no question with text",
	"the frontmatter is unreadable, or user_decisions is not a mapping with entries",
	"a question matches a decision",
	"anything else",
}

func decisions(c *call) (guard.Verdict, error) {
	state, questions := c.readState(), questionsOf(c.Event)
	c.Fact("questions", strings.Join(questions, " / "))
	c.Fact("decisions", fmt.Sprint(len(state.Decisions)))
	return decideQuestions(state, questions, c.config), nil
}

func decideQuestions(state State, questions []string, config Config) guard.Verdict {
	switch {
	case !state.Exists:
		return guard.Pass(1, "No state file, planning not started")
	case len(questions) == 0:
		return guard.Pass(2, "No question text found in tool input")
	case state.Err != nil:
		return guard.Pass(3, "State file unreadable: "+state.Err.Error())
	case len(state.Decisions) == 0:
		return guard.Pass(3, "No user_decisions in state")
	}
	var refusals, open []string
	for _, q := range questions {
		if m, ok := bestMatch(q, state.Decisions, config.Overlap, config.SubsetOverlap); ok {
			refusals = append(refusals, m.refusal())
		} else {
			open = append(open, "'"+q+"'")
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
	return fmt.Sprintf("DENIED: This question overlaps with an immutable decision already made. Previous decision: '%s' -> '%s'. Do not re-ask. Use the cached answer. (overlap %d/%d)",
		m.decision.Key, m.decision.Value, m.overlap, m.total)
}

// questionsOf returns the texts of tool_input.questions, or else that of
// tool_input.question, on one line each and without blank ones.
func questionsOf(e *event.Event) []string {
	var input struct {
		Questions []jsontext.Value `json:"questions"`
	}
	_ = json.Unmarshal(e.ToolInput, &input, jsonx.Tolerant) // an input of another shape has no questions
	var texts []string
	for _, q := range input.Questions {
		texts = appendText(texts, jsonx.StringMember(q, "question"))
	}
	if len(texts) == 0 {
		texts = appendText(texts, jsonx.StringMember(e.ToolInput, "question"))
	}
	return texts
}

func appendText(texts []string, text string) []string {
	if text = strings.TrimSpace(guard.OneLine(text)); text != "" {
		return append(texts, text)
	}
	return texts
}
