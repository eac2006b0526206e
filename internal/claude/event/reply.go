package event

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Reply is what a hook prints on standard output. The client ignores fields
// that do not apply to the event, but drops the whole reply if
// hookSpecificOutput names another event than the one it answers.
type Reply struct {
	Continue       *bool     `json:"continue,omitzero"`
	StopReason     string    `json:"stopReason,omitzero"`
	SuppressOutput bool      `json:"suppressOutput,omitzero"`
	Decision       string    `json:"decision,omitzero"` // "block" or absent
	Reason         string    `json:"reason,omitzero"`
	Specific       *Specific `json:"hookSpecificOutput,omitzero"`
	SystemMessage  string    `json:"systemMessage,omitzero"` // the user sees it, the model does not
}

// Specific is the part of a reply that belongs to one kind of event.
type Specific struct {
	HookEventName            string         `json:"hookEventName"`
	PermissionDecision       string         `json:"permissionDecision,omitzero"` // "deny" or absent: "allow" bypasses the user's prompt
	PermissionDecisionReason string         `json:"permissionDecisionReason,omitzero"`
	UpdatedInput             jsontext.Value `json:"updatedInput,omitzero"`
	AdditionalContext        string         `json:"additionalContext,omitzero"` // the model sees it
}

// GoOn returns the reply {"continue": true}, to which the caller may add.
func GoOn() Reply {
	yes := true
	return Reply{Continue: &yes}
}

// Write prints the reply as one line with a space after each colon and comma:
// the documented success reply is exactly {"continue": true} and a newline.
func (r Reply) Write(w io.Writer) error {
	line, err := json.Marshal(r, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
