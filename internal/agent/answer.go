package agent

import (
	"cmp"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Answer returns the answer to a call, which is in the form of Claude Code, in the form that the agent reads. Another agent
// gets JSON at exit 0, in which Codex accepts no unknown key. Exit 2 would be enough for Codex and Gemini, but Copilot
// does not read the reason then. Standard error is for the person, if the answer decides nothing.
func (a *Agent) Answer(c Call, r client.Answer) client.Answer {
	if a.Native {
		return r
	}
	told, text := r.Reply(), r.ErrorText
	out, s := client.Reply{SystemMessage: told.SystemMessage}, cmp.Or(told.Specific, new(client.Specific))
	s.HookEventName = c.Name
	denied := s.PermissionDecision == "deny"
	if r.Exit == client.ExitBlock && !denied { // about what has been done already
		s.AdditionalContext = text
	}
	switch {
	case denied && a.denies == topLevel:
		out.Decision, out.Reason = "deny", s.PermissionDecisionReason
	case s.AdditionalContext != "" && c.Moment == Stop:
		out.Decision, out.Reason = "block", s.AdditionalContext
	case s.AdditionalContext != "" && a.context == topLevel:
		out.AdditionalContext = s.AdditionalContext
	case s.AdditionalContext != "" || denied:
		out.Specific = s
	case out.SystemMessage == "":
		return client.Answer{}
	}
	answer := out.Answer()
	if r.Exit == client.ExitOK {
		answer.ErrorText = text
	}
	return answer
}
