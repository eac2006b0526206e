package command

import (
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/steps"
)

// served adds the calling session to the input of a tool of "fsmtx mcp": the server knows
// only the session in which it was started, and keeps running after /clear (fact 92, client
// 2.1.329). Where gates are evaluated it adds the agent's directory, too, if that is in a linked work
// tree: the server's does not change when the agent enters one.
//
// A folder is not a skill that the client knows, so the person has never allowed the commands of its
// checks. They are asked, even if a rule of theirs allows the tool.
func (h *stepHook) served() event.Answer {
	add := map[string]any{"session": h.event.SessionID}
	if evaluatesGates(h.event.ToolName) && steps.InLinkedTree(h.event.Cwd) {
		add["cwd"] = h.event.Cwd
	}
	input, err := withMembers(h.event.ToolInput, add)
	if err != nil {
		return event.Answer{} // the tool itself reports invalid input
	}
	if folder := jsonx.StringMember(h.event.ToolInput, "skill"); hydrate.IsPath(folder) {
		return event.AskAbout(message.Sprintf("fsmtx: the agent wants to begin the workflow in the folder %s. The checks in its fsm.json are "+
			"commands, which run without a further question. Begin it?",
			folder), input)
	}
	return event.Rewrite(input)
}

// evaluatesGates reports whether a tool of "fsmtx mcp" changes the status of a step.
func evaluatesGates(tool string) bool {
	return strings.HasSuffix(tool, "__step_start") || strings.HasSuffix(tool, "__step_complete")
}
