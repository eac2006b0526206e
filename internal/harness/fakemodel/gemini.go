package fakemodel

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// geminiRequest is a request to the Gemini API, with the fields that tests use. The model
// is in the path.
type geminiRequest struct {
	System   geminiContent   `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Functions []struct {
			Name string `json:"name"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string `json:"role"` // user or model
	Parts []struct {
		Text string `json:"text"`
		Call *struct {
			ID   string         `json:"id"`
			Name string         `json:"name"`
			Args jsontext.Value `json:"args"`
		} `json:"functionCall"`
		Response *struct {
			ID       string         `json:"id"`
			Response jsontext.Value `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (c geminiContent) message() Message {
	m := Message{Role: strings.Replace(c.Role, "model", "assistant", 1)}
	for _, p := range c.Parts {
		switch {
		case p.Call != nil:
			m.Content = append(m.Content, Content{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args})
		case p.Response != nil:
			m.Content = append(m.Content, Content{Type: "tool_result", ToolUseID: p.Response.ID,
				Content: Contents{{Type: "text", Text: string(p.Response.Response)}}})
		default:
			m.Content = append(m.Content, Content{Type: "text", Text: p.Text})
		}
	}
	return m
}

func readGemini(path string, body []byte) (*Request, error) {
	var c geminiRequest
	if err := json.Unmarshal(body, &c, jsonx.Tolerant); err != nil {
		return nil, err
	}
	_, model, _ := strings.Cut(path, "models/")
	model, method, _ := strings.Cut(model, ":")
	r := &Request{Model: model, Stream: method == "streamGenerateContent", System: c.System.message().Content}
	for _, content := range c.Contents {
		r.Messages = append(r.Messages, content.message())
	}
	for _, t := range c.Tools {
		for _, f := range t.Functions {
			r.Tools = append(r.Tools, Tool{Name: f.Name})
		}
	}
	return r, nil
}

// writeGemini writes the answer in the form of the Gemini API.
func (a reply) writeGemini(stream bool, b *bytes.Buffer) (string, error) {
	var parts []any
	for _, block := range a.blocks {
		if block.ID == "" {
			parts = append(parts, args{"text": block.Text})
			continue
		}
		parts = append(parts, args{"functionCall": args{"id": a.prefix + block.ID, "name": block.Tool, "args": block.Input}})
	}
	whole := args{
		"responseId": a.id, "modelVersion": cmp.Or(a.model, "fake"),
		"candidates":    []any{args{"index": 0, "content": args{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": args{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
	}
	if stream {
		return eventStream, sendData(b, whole)
	}
	return jsonText, json.MarshalWrite(b, whole, json.Deterministic(true))
}
