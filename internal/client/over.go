package client

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Transcript is the path of what the client has written of a session.
type Transcript string

// Over reports whether a tool call, known by its tool_use_id, is over: its result is in the
// transcript, or a later message of the model is. known is false if the transcript has
// neither the call nor its result: it cannot be read, or is not written that far yet.
func (t Transcript) Over(use string) (over, known bool) {
	quoted := []byte(`"` + use + `"`)
	later := ""
	backwards(string(t), maxTurn, func(raw []byte) bool {
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

// Rejected reports whether the person said no when the client asked them about a tool call, and not the client itself because nobody can
// be asked (fact 195, client 2.1.329).
func (t Transcript) Rejected(use string) (rejected bool) {
	quoted := []byte(`"` + use + `"`)
	backwards(string(t), maxTurn, func(raw []byte) bool {
		if !bytes.Contains(raw, quoted) {
			return true
		}
		l, ok := parse(raw, "user")
		rejected = ok && hasBlock(l.Content, "tool_result", "tool_use_id", use) &&
			jsonx.StringMember(raw, "toolDenialKind") == "user-rejected" &&
			jsonx.StringMember(jsonx.Member(raw, "permissionDecision"), "source") != "config"
		return false
	})
	return rejected
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
