package client

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Over reports whether a tool call, known by its tool_use_id, is over: its result is in the
// transcript, or a later message of the model is. known is false if the transcript has
// neither the call nor its result: it cannot be read, or is not written that far yet.
func Over(path, use string) (over, known bool) {
	quoted := []byte(`"` + use + `"`)
	later := ""
	backwards(path, maxTurn, func(raw []byte) bool {
		names := bytes.Contains(raw, quoted)
		if l, ok := parse(raw, "user"); ok && names {
			over = hasBlock(l.Content, "tool_result", "tool_use_id", use)
		} else if l, ok := parse(raw, "assistant"); ok {
			id := messageID(raw)
			if names && hasBlock(l.Content, "tool_use", "id", use) {
				over, known = later != "" && id != later, true
				return false
			}
			if later == "" {
				later = id
			}
		}
		known = over
		return !over
	})
	return over, known
}

// messageID returns the id of the message of which a line has one block.
func messageID(raw []byte) string {
	return jsonx.StringMember(jsonx.Member(raw, "message"), "id")
}

// hasBlock reports whether a message has a block of this type with this id.
func hasBlock(content jsontext.Value, kind, field, id string) bool {
	for _, b := range blocksOf(content) {
		if jsonx.StringMember(b, "type") == kind && jsonx.StringMember(b, field) == id {
			return true
		}
	}
	return false
}
