package fakemodel

import (
	"bytes"
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// chatRequest is a request to OpenAI's Chat Completions API, with the fields that tests use.
type chatRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role       string   `json:"role"` // system, developer, user, assistant or tool
		Content    Contents `json:"content"`
		ToolCallID string   `json:"tool_call_id"` // of role tool
		ToolCalls  []struct {
			ID       string       `json:"id"`
			Function chatFunction `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function chatFunction `json:"function"`
	} `json:"tools"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func readChat(_ string, body []byte) (*Request, error) {
	var c chatRequest
	if err := json.Unmarshal(body, &c, jsonx.Tolerant); err != nil {
		return nil, err
	}
	r := &Request{Model: c.Model, Stream: c.Stream}
	for _, m := range c.Messages {
		to := Message{Role: m.Role, Content: m.Content.asText()}
		switch m.Role {
		case "system", "developer":
			r.System = append(r.System, to.Content...)
			continue
		case "tool":
			to = Message{Role: "user", Content: Contents{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: to.Content}}}
		}
		for _, call := range m.ToolCalls {
			to.Content = append(to.Content, Content{Type: "tool_use", ID: call.ID, Name: call.Function.Name,
				Input: jsontext.Value(call.Function.Arguments)})
		}
		r.Messages = append(r.Messages, to)
	}
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name})
	}
	return r, nil
}

// asText returns the blocks as blocks of text: each API has its own names for these.
func (c Contents) asText() (texts Contents) {
	for _, b := range c {
		texts = append(texts, Content{Type: "text", Text: b.Text})
	}
	return texts
}

// writeChat writes the answer in the form of the Chat Completions API.
func (a reply) writeChat(stream bool, b *bytes.Buffer) (string, error) {
	message, finish := args{"role": "assistant"}, "stop"
	var text string
	var calls []any
	for _, block := range a.blocks {
		if block.ID == "" {
			text += block.Text
			continue
		}
		input, err := json.Marshal(block.Input, json.Deterministic(true))
		if err != nil {
			return "", err
		}
		finish = "tool_calls"
		calls = append(calls, args{"index": len(calls), "id": a.prefix + block.ID, "type": "function",
			"function": args{"name": block.Tool, "arguments": string(input)}})
	}
	message["content"] = text
	if calls != nil {
		message["tool_calls"] = calls
	}
	whole := args{"id": a.id, "created": 1, "model": cmp.Or(a.model, "fake"),
		"usage": args{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
	if !stream {
		whole["object"], whole["choices"] = "chat.completion", []any{args{"index": 0, "message": message, "finish_reason": finish}}
		return jsonText, json.MarshalWrite(b, whole, json.Deterministic(true))
	}
	whole["object"] = "chat.completion.chunk"
	for _, choice := range []args{
		{"index": 0, "delta": message, "finish_reason": nil},
		{"index": 0, "delta": args{}, "finish_reason": finish},
	} {
		whole["choices"] = []any{choice}
		if err := sendData(b, whole); err != nil {
			return "", err
		}
	}
	b.WriteString("data: [DONE]\n\n")
	return eventStream, nil
}

// sendData writes one server-sent event without a name.
func sendData(b *bytes.Buffer, data args) error {
	line, err := json.Marshal(data, json.Deterministic(true))
	b.WriteString("data: " + string(line) + "\n\n")
	return err
}
