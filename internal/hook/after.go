package hook

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
)

// after answers the event after a tool ran.
func (h *hook) after(ctx context.Context) client.Answer {
	var text message.ForAgent
	var v gates.Verdict
	switch h.call.ToolName {
	case h.agent.Updates:
		text, v = h.Seen(ctx, h.call.InputText("taskId"), h.call.AgentID)
	case h.agent.Questions:
		// It says what the person chose, where a step asks for that.
		if who := h.who(); h.PersonDecides() && !who.FromClient() {
			return client.Feedback("this event does not come from the client, so nobody has chosen anything: " + who.Why)
		}
		h.Answerers = func() []state.Answerer { return Answerers(h.streams.Getenv, h.directory(), h.agent.Questions) }
		text, v = h.Chosen(ctx, choices(h.call.Event), state.ByQuestion, h.call.AgentID)
	}
	if text == "" {
		return h.troubled(v.Trouble)
	}
	return client.Tell(h.call.Name, text, notice(v.Trouble))
}

// approved answers the event that the agent is about to complete a task. It says that the person has approved a step, if they
// were asked.
func (h *hook) approved(ctx context.Context) client.Answer {
	if who := h.who(); !who.FromClient() {
		return client.Feedback("this event does not come from the client, so it approves nothing: " + who.Why)
	}
	h.Answerers = func() []state.Answerer { return Answerers(h.streams.Getenv, h.directory(), h.agent.Updates) }
	v := h.Completed(ctx, gates.Update{Task: h.call.Text("task_id"), Status: "completed", Agent: h.call.AgentID,
		Cwd: h.call.Cwd})
	h.noted(v)
	if v.Decision == state.Deny {
		return client.Feedback(v.Reason)
	}
	return h.troubled(v.Trouble)
}

// choices returns what a person is asked by AskUserQuestion, and, after they have answered, what they chose. Answers that the model
// forged in its input are overwritten in the response (fact 186, client 2.1.329).
func choices(e *client.Event) (all []gates.Choice) {
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
		c := gates.Choice{Question: q.Question, Use: e.ToolUseID}
		if err := json.Unmarshal(answers[q.Question], &c.Chosen, jsonx.Tolerant); e.ToolResponse != nil && (err != nil || c.Chosen == "") {
			continue
		}
		for _, o := range q.Options {
			c.Options = append(c.Options, o.Label)
		}
		all = append(all, c)
	}
	return all
}
