package client

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Reply is the JSON object a hook prints on standard output. The client ignores
// fields that do not apply to the event.
type Reply struct {
	Continue      *bool     `json:"continue,omitzero"`
	Decision      string    `json:"decision,omitzero"` // "block" or absent
	Reason        string    `json:"reason,omitzero"`
	Specific      *Specific `json:"hookSpecificOutput,omitzero"`
	SystemMessage string    `json:"systemMessage,omitzero"` // the person sees it, the model does not

	AdditionalContext string `json:"additionalContext,omitzero"` // only for agents that do not read it in Specific
}

// Answer returns the reply at exit 0, for agents other than Claude Code.
func (r Reply) Answer() Answer { return r.answer(ExitOK, "") }

// Specific is the part of a reply that belongs to one kind of event. The client drops
// it if HookEventName is not the event's name (fact 22, client 2.1.197).
type Specific struct {
	HookEventName            string `json:"hookEventName"`
	PermissionDecision       string `json:"permissionDecision,omitzero"`
	PermissionDecisionReason string `json:"permissionDecisionReason,omitzero"`
	AdditionalContext        string `json:"additionalContext,omitzero"` // the model sees it

	UpdatedInput jsontext.Value `json:"updatedInput,omitzero"` // replaces the tool's whole input (fact 37, client 2.1.329)
}

// withContext returns the part that holds context, nil if context is empty.
func withContext(name, context string) *Specific {
	if context == "" {
		return nil
	}
	return &Specific{HookEventName: name, AdditionalContext: context}
}

// visible returns the reply with its texts escaped by message.Text, because the model
// and the person see the decoded strings. UpdatedInput goes to a tool and is not changed.
func (r Reply) visible() Reply {
	r.Decision, r.Reason, r.SystemMessage = message.Text(r.Decision), message.Text(r.Reason), message.Text(r.SystemMessage)
	r.AdditionalContext = message.Text(r.AdditionalContext)
	if r.Specific != nil {
		s := *r.Specific
		s.PermissionDecisionReason, s.AdditionalContext = message.Text(s.PermissionDecisionReason), message.Text(s.AdditionalContext)
		r.Specific = &s
	}
	return r
}

// answer encodes the reply as one line with a space after each colon and comma: the
// documented success reply is exactly {"continue": true} and a newline.
func (r Reply) answer(exit int, errorText string) Answer {
	// Marshal cannot fail: a reply holds strings and a boolean, and text that is
	// not UTF-8 is allowed.
	line, _ := json.Marshal(r.visible(), jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.AllowInvalidUTF8(true))
	return Answer{Output: string(message.JSON(line)) + "\n", ErrorText: message.Text(errorText), Exit: exit}
}
