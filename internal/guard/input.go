package guard

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// inputText returns a text member of tool_input, empty if it is none.
func inputText(e *event.Event, name string) string { return textMember(e.ToolInput, name) }

// textMember returns a text member of an object, empty if there is none.
func textMember(object jsontext.Value, name string) string {
	var text string
	if json.Unmarshal(member(object, name), &text, lenient) != nil {
		return ""
	}
	return text
}

// member returns a member of an object as it is written, nil if there is none.
func member(object jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members, lenient) != nil {
		return nil
	}
	return members[name]
}

// target returns the file that a tool call is about, resolved; empty if the
// event names none.
func (c *call) target(names ...string) string {
	for _, name := range names {
		if path := absolute(inputText(c.event, name), c.place.cwd); path != "" {
			resolved := resolve(path)
			c.fact("path", resolved)
			return resolved
		}
	}
	c.fact("path", "none")
	return ""
}
