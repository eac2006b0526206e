package fakemodel

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// responsesRequest is a request to OpenAI's Responses API, with the fields that tests use.
type responsesRequest struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions"`
	Input        []struct {
		Type      string   `json:"type"` // message, function_call or function_call_output
		Role      string   `json:"role"`
		Content   Contents `json:"content"`
		CallID    string   `json:"call_id"`
		Name      string   `json:"name"`
		Arguments string   `json:"arguments"`
		Output    Contents `json:"output"`
	} `json:"input"`
	Tools []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"tools"`
}

func readResponses(_ string, body []byte) (*Request, error) {
	var c responsesRequest
	if err := json.Unmarshal(body, &c, jsonx.Tolerant); err != nil {
		return nil, err
	}
	r := &Request{Model: c.Model, Stream: true, System: Contents{{Type: "text", Text: c.Instructions}}}
	for _, item := range c.Input {
		switch item.Type {
		case "function_call":
			r.Messages = append(r.Messages, Message{"assistant", Contents{{Type: "tool_use", ID: item.CallID, Name: item.Name,
				Input: jsontext.Value(item.Arguments)}}})
		case "function_call_output":
			r.Messages = append(r.Messages, Message{"user", Contents{{Type: "tool_result", ToolUseID: item.CallID, Content: item.Output.asText()}}})
		default:
			r.Messages = append(r.Messages, Message{cmp.Or(item.Role, "user"), item.Content.asText()})
		}
	}
	for _, t := range c.Tools {
		r.Tools = append(r.Tools, Tool{Name: cmp.Or(t.Name, t.Type)})
	}
	return r, nil
}

// writeResponse writes the answer in the form of the Responses API, as server-sent events.
func (a reply) writeResponse(_ bool, b *bytes.Buffer) (string, error) {
	s := sender{w: b}
	s.send("response.created", args{"response": args{"id": a.id}})
	for i, block := range a.blocks {
		item := args{"type": "message", "id": fmt.Sprint("m", i), "role": "assistant",
			"content": []any{args{"type": "output_text", "text": block.Text}}}
		if block.ID != "" {
			input, err := json.Marshal(block.Input, json.Deterministic(true))
			if err != nil {
				return "", err
			}
			item = args{"type": "function_call", "id": fmt.Sprint("f", i), "call_id": a.prefix + block.ID, "name": block.Tool,
				"arguments": string(input)}
			if space, name, ok := strings.Cut(block.Tool, "/"); ok { // a tool in a namespace
				item["namespace"], item["name"] = space, name
			}
		}
		s.send("response.output_item.done", args{"output_index": i, "item": item})
	}
	s.send("response.completed", args{"response": args{"id": a.id,
		"usage": args{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": nil, "output_tokens_details": nil}}})
	return eventStream, s.err
}
