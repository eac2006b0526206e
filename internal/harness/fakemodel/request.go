package fakemodel

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Request is a request to the Messages API, with the fields that tests use.
type Request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	System    Contents  `json:"system"`
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools"`
}

// Message is one message of the conversation. Newer models get reminders as separate
// messages with the role "system".
type Message struct {
	Role    string   `json:"role"` // user, assistant or system
	Content Contents `json:"content"`
}

// Tool is a tool offered to the model.
type Tool struct {
	Name     string `json:"name"`
	Deferred bool   `json:"defer_loading"`
}

// Contents are the blocks of a message. A string is one block of text.
type Contents []Content

// Content is one block of a message: text, a tool call, or its result.
type Content struct {
	Type  string         `json:"type"`
	Text  string         `json:"text"`
	ID    string         `json:"id"`    // tool_use
	Name  string         `json:"name"`  // tool_use
	Input jsontext.Value `json:"input"` // tool_use

	ToolUseID string   `json:"tool_use_id"` // tool_result
	IsError   bool     `json:"is_error"`    // tool_result
	Content   Contents `json:"content"`     // tool_result

	ToolName string `json:"tool_name"` // tool_reference, a result of ToolSearch
}

// UnmarshalJSONFrom reads a string, an array of blocks, or null.
func (c *Contents) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '[' {
		return json.UnmarshalDecode(d, (*[]Content)(c))
	}
	var text string
	if err := json.UnmarshalDecode(d, &text); err != nil {
		return err
	}
	*c = Contents{{Type: "text", Text: text}}
	return nil
}

func parseRequest(body []byte) (*Request, error) {
	var r Request
	err := json.Unmarshal(body, &r, jsonx.Tolerant)
	return &r, err
}

// text returns the text of the blocks, results included, one block a line.
func (c Contents) text() string {
	var lines []string
	for _, b := range c {
		switch b.Type {
		case "text":
			lines = append(lines, b.Text)
		case "tool_result":
			lines = append(lines, b.Content.text())
		case "tool_reference":
			lines = append(lines, b.ToolName)
		}
	}
	return strings.Join(lines, "\n")
}

// News returns what the model was told since its last answer: results, reminders and
// output of hooks.
func (r *Request) News() string {
	var lines []string
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			lines = nil
			continue
		}
		lines = append(lines, m.Content.text())
	}
	return strings.Join(lines, "\n")
}

// Text returns the text of the whole conversation, including the answers, without the
// system prompt.
func (r *Request) Text() string {
	var lines []string
	for _, m := range r.Messages {
		lines = append(lines, m.Content.text())
	}
	return strings.Join(lines, "\n")
}

// Says reports whether the conversation contains the text.
func (r *Request) Says(text string) bool { return strings.Contains(r.Text(), text) }

// Offers reports whether the tool is offered with its schema, so that it can be called.
func (r *Request) Offers(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// result returns the result of the call.
func (r *Request) result(id string) (Content, bool) {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" && b.ToolUseID == id {
				return b, true
			}
		}
	}
	return Content{}, false
}
