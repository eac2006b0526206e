package guard

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

func immutableDecisions() Guard {
	return Guard{
		ID: "H01", Name: "H01_immutable_guard", Event: event.PreToolUse, Matcher: "AskUserQuestion",
		Flag: "hooks_immutable_guard", Timeout: 5,
		Brief: "a question whose answer is already decided is not asked again",
		Rows: []string{
			"no state file",
			"no question with text",
			"the frontmatter is unreadable, or user_decisions is no mapping with entries",
			"a question matches a decision",
			"anything else",
		},
		judge: func(c *call) (Verdict, error) {
			state, questions := c.readState(), questionsOf(c.event)
			c.fact("questions", strings.Join(questions, " / "))
			c.fact("decisions", fmt.Sprint(len(state.Decisions)))
			return guardDecisions(state, questions, c.config.Overlap), nil
		},
	}
}

// guardDecisions is the table of H01.
func guardDecisions(state State, questions []string, threshold float64) Verdict {
	switch {
	case !state.Exists:
		return passed(1, "No state file, planning not started")
	case len(questions) == 0:
		return passed(2, "No question text found in tool input")
	case state.Err != nil:
		return passed(3, "State file unreadable: "+state.Err.Error())
	case len(state.Decisions) == 0:
		return passed(3, "No user_decisions in state")
	}
	var matched, open []string
	for _, q := range questions {
		if m, ok := bestMatch(q, state.Decisions, threshold); ok {
			matched = append(matched, m.refusal())
		} else {
			open = append(open, "'"+q+"'")
		}
	}
	if len(matched) == 0 {
		return passed(5, "No matching decisions found")
	}
	message := strings.Join(matched, " ")
	if len(open) > 0 {
		message += " Ask again with only: " + strings.Join(open, "; ")
	}
	return denied(4, message)
}

func (m match) refusal() string {
	return fmt.Sprintf("DENIED: This question overlaps with an immutable decision already made. Previous decision: '%s' -> '%s'. Do not re-ask. Use the cached answer. (overlap %d/%d)",
		m.decision.Key, m.decision.Value, m.overlap, m.total)
}

// questionsOf returns the texts of tool_input.questions, else that of
// tool_input.question, on one line each; blank ones are left out.
func questionsOf(e *event.Event) []string {
	var input struct {
		Questions []jsontext.Value `json:"questions"`
	}
	_ = json.Unmarshal(e.ToolInput, &input, lenient) // an input of another shape asks nothing
	var texts []string
	for _, q := range input.Questions {
		texts = appendText(texts, textMember(q, "question"))
	}
	if len(texts) == 0 {
		texts = appendText(texts, inputText(e, "question"))
	}
	return texts
}

func appendText(texts []string, text string) []string {
	if text = strings.TrimSpace(oneLine(text)); text != "" {
		return append(texts, text)
	}
	return texts
}
