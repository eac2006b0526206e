package command

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// turn rewrites an update that completes a step whose outcome leads back: the step becomes
// pending, and the outcome is removed from its metadata. The client replaces the whole input by
// the rewritten one, and no permission decision goes with it: an "allow" would skip a rule of
// the person (fact 157, client 2.1.329).
func (h *stepHook) turn(v steps.Verdict) event.Answer {
	metadata, err := withMembers(jsonx.Member(h.event.ToolInput, "metadata"), map[string]any{"outcome": nil})
	if err != nil {
		metadata = jsontext.Value(`{"outcome":null}`) // nothing is kept of a value of another type
	}
	input, err := withMembers(h.event.ToolInput, map[string]any{"status": "pending", "metadata": metadata})
	if err != nil {
		return event.Refuse(v.Turn.Text)
	}
	return event.RewriteTelling(input, v.Turn.Text, h.notice(v.Trouble))
}

// notice returns a line for the person, or "".
func (h *stepHook) notice(trouble string) string {
	if trouble == "" {
		return ""
	}
	return "fsmtx: " + trouble
}

// after answers the event after a tool ran.
func (h *stepHook) after(ctx context.Context) event.Answer {
	var text string
	var v steps.Verdict
	switch h.event.ToolName {
	case "TaskUpdate":
		text, v = h.Seen(ctx, jsonx.StringMember(h.event.ToolInput, "taskId"), h.event.AgentID)
	case client.QuestionTool:
		// It says what the person chose, where a step asks for that.
		if who := h.streams.Who(); h.PersonDecides() && !who.FromClient() {
			return event.Feedback("this event does not come from the client, so nobody has chosen anything: " + who.Why)
		}
		h.Answers = func() []steps.Answerer { return answerers(h.streams, h.directory(), client.QuestionTool) }
		text, v = h.Chosen(ctx, choices(h.event), steps.ByQuestion, h.event.AgentID)
	}
	if text == "" {
		return h.troubled(v.Trouble)
	}
	return event.Tell(event.PostToolUse, text, h.notice(v.Trouble))
}

// choices returns what a person was asked by AskUserQuestion, and what they chose. Answers
// that the model forged in its input are overwritten in the response (fact 186, client
// 2.1.329).
func choices(e *event.Event) (all []steps.Choice) {
	var input struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	_ = json.Unmarshal(e.ToolInput, &input, jsonx.Tolerant) // without options the answer alone decides
	answers := map[string]jsontext.Value{}
	_ = json.Unmarshal(jsonx.Member(e.ToolResponse, "answers"), &answers, jsonx.Tolerant)
	for _, q := range input.Questions {
		var chosen string
		if json.Unmarshal(answers[q.Question], &chosen, jsonx.Tolerant) != nil || chosen == "" {
			continue
		}
		c := steps.Choice{Question: q.Question, Chosen: chosen}
		for _, o := range q.Options {
			c.Options = append(c.Options, o.Label)
		}
		all = append(all, c)
	}
	return all
}
