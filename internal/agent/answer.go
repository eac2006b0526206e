package agent

import "github.com/fsmtx/fsmtx/internal/claude/event"

// Reply is what a hook has to say. At most one of Deny and Hold is set.
type Reply struct {
	Deny    string // refuses the tool call, for the model
	Hold    string // keeps the turn from ending, for the model
	Context string // for the model
	Person  string // for the person
}

// Answer returns the answer to a call in the form that the agent reads: JSON at exit 0, in
// which Codex accepts no unknown key. Exit 2 would be enough for Codex and Gemini, but Copilot
// does not read the reason then. None of them is asked to put a question to the person: Codex
// runs the tool then.
func (a *Agent) Answer(c Call, r Reply) event.Answer {
	reply := event.Reply{SystemMessage: r.Person}
	switch {
	case r.Deny != "" && a.denies == topLevel:
		reply.Decision, reply.Reason = "deny", r.Deny
	case r.Deny != "":
		reply.Specific = &event.Specific{HookEventName: c.Event, PermissionDecision: "deny", PermissionDecisionReason: r.Deny}
	case r.Hold != "":
		reply.Decision, reply.Reason = "block", r.Hold
	case r.Context != "" && a.context == topLevel:
		reply.AdditionalContext = r.Context
	case r.Context != "":
		reply.Specific = &event.Specific{HookEventName: c.Event, AdditionalContext: r.Context}
	case r.Person == "":
		return event.Answer{}
	}
	return reply.Answer()
}
