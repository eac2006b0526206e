package hook

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/permission"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/state"
)

// decides reports whether the rules about steps have something to say at the event.
func (h *hook) decides() bool {
	switch h.call.Moment {
	case agent.Typed:
		return false
	case agent.Before:
		return !slices.Contains(h.agent.Looks, h.call.ToolName)
	case agent.After:
		return h.agent.Session && !h.agent.Takes(h.call)
	}
	return true
}

// isUpdate reports whether the call changes a task of the agent's own list.
func (h *hook) isUpdate() bool { return h.agent.Updates != "" && h.call.ToolName == h.agent.Updates }

// before judges a tool that is about to run. A call that belongs to another step is denied before anything else is decided
// about it.
func (h *hook) before(ctx context.Context) client.Answer {
	v := h.called(ctx)
	h.noted(v)
	if v.Decision == state.Deny {
		return client.RefuseTelling(message.ForAgent(v.Reason), notice(v.Trouble))
	}
	return client.Join(h.call.Name, h.troubled(v.Trouble), h.tool(ctx))
}

// called decides whether the call belongs to a step that is not in progress. With its update and the tools of the server the
// agent works on the steps. Every tool of another agent that changes a file counts as Write, whatever it is called.
func (h *hook) called(ctx context.Context) (v gates.Verdict) {
	c := h.call
	if h.isUpdate() || settings.IsServed(c.ToolName) {
		return v
	}
	x := gates.ToolCall{Tool: c.ToolName, Line: c.InputText("command"),
		Path: cmp.Or(c.InputText("file_path"), c.InputText("notebook_path")),
		Cwd:  c.Cwd, Agent: c.AgentID, Use: c.ToolUseID}
	if c.Command != "" && c.ToolName != permission.PowerShell {
		x.Tool = "Bash"
	}
	if v = h.Call(ctx, x); h.agent.Native {
		return v
	}
	for _, path := range c.Paths {
		if x.Tool, x.Path = "Write", path; v.Allowed() {
			trouble := v.Trouble
			v = h.Call(ctx, x)
			v.Trouble = message.Join(trouble, v.Trouble)
		}
	}
	return v
}

// tool answers by the rules about the tool itself.
func (h *hook) tool(ctx context.Context) client.Answer {
	switch {
	case h.isUpdate():
		return h.update(ctx)
	case h.agent.Questions != "" && h.call.ToolName == h.agent.Questions:
		return h.decided(h.Asking(ctx, choices(h.call.Event)))
	case len(h.call.Paths) > 0 && h.call.Command == "":
		return h.decided(h.edit())
	case h.call.Command != "":
		if v := h.edit(); v.Decision == state.Deny { // by apply_patch
			return h.decided(v)
		}
		return h.shell(ctx)
	case h.agent.Session && settings.IsServed(h.call.ToolName):
		return h.served()
	case strings.HasSuffix(h.call.ToolName, "workflow_begin"), // of the MCP server; its name comes first
		strings.HasSuffix(h.call.ToolName, "workflow_continue"):
		return h.failed("the session could not be recorded", h.joins(ctx, ""))
	}
	return client.Answer{}
}

// update decides about a change of a task.
func (h *hook) update(ctx context.Context) client.Answer {
	c := h.call
	return h.decided(h.Update(ctx, gates.Update{
		Task:         c.InputText("taskId"),
		Status:       c.InputText("status"),
		Metadata:     c.Input("metadata"),
		Subject:      textOf(c.Input("subject")),
		Description:  textOf(c.Input("description")),
		AddBlocks:    textsOf(c.Input("addBlocks")),
		AddBlockedBy: textsOf(c.Input("addBlockedBy")),
		Agent:        c.AgentID,
		Cwd:          c.Cwd,
		Use:          c.ToolUseID,
		Calls:        client.Transcript(c.TranscriptPath),
	}))
}

// decided returns the answer with a verdict.
func (h *hook) decided(v gates.Verdict) client.Answer {
	h.noted(v)
	switch {
	case v.Decision == state.Deny:
		return client.RefuseTelling(message.ForAgent(v.Reason), notice(v.Trouble))
	case v.Decision == state.Ask:
		return client.Join(h.call.Name, h.troubled(v.Trouble), client.Ask(message.ForBoth(v.Reason), nil))
	case v.Turn != nil:
		return h.turn(v)
	case v.Told == "":
		return h.troubled(v.Trouble)
	}
	return client.Tell(h.call.Name, v.Told, notice(v.Trouble))
}

// notice returns a line for the person, or "".
func notice(trouble message.ForPerson) message.ForPerson {
	if trouble == "" {
		return ""
	}
	return "fsmtx: " + trouble
}

// turn rewrites an update that completes a step whose outcome leads back: the step becomes
// pending, and the outcome is removed from its metadata. The client replaces the whole input by
// the rewritten one, and no permission decision goes with it: an "allow" would skip a rule of
// the person (fact 157, client 2.1.329).
func (h *hook) turn(v gates.Verdict) client.Answer {
	metadata, err := jsonx.With(h.call.Input("metadata"), map[string]any{"outcome": nil})
	if err != nil {
		metadata = jsontext.Value(`{"outcome":null}`) // nothing is kept of a value of another type
	}
	input, err := jsonx.With(h.call.ToolInput, map[string]any{"status": "pending", "metadata": metadata})
	if err != nil {
		return client.Refuse(v.Turn.Text)
	}
	return client.Rewrite(input, v.Turn.Text, notice(v.Trouble))
}

// edit decides whether the agent may change the files of the call.
func (h *hook) edit() gates.Verdict {
	for _, path := range h.call.Paths {
		if v := h.Edit(path, h.call.Cwd); v.Decision != "" || v.Trouble != "" {
			return v
		}
	}
	return gates.Verdict{}
}

// served adds the calling session to the input of a tool of "fsmtx mcp": the server knows
// only the session in which it was started, and keeps running after /clear (fact 92, client
// 2.1.329). Where gates are evaluated it adds the agent's directory, too, if that is in a linked work
// tree: the server's does not change when the agent enters one.
func (h *hook) served() client.Answer {
	add := map[string]any{"session": h.call.SessionID}
	evaluates := strings.HasSuffix(h.call.ToolName, "__step_start") || strings.HasSuffix(h.call.ToolName, "__step_complete")
	if evaluates && state.InLinkedTree(h.call.Cwd) {
		add["cwd"] = h.call.Cwd
	}
	input, err := jsonx.With(h.call.ToolInput, add)
	if err != nil {
		return client.Answer{} // the tool itself reports invalid input
	}
	return client.Rewrite(input, "", "")
}

// textOf returns a text of a tool's input, nil if it has none. The client refuses a value
// of another type.
func textOf(value jsontext.Value) *string {
	if value.Kind() != '"' {
		return nil
	}
	text := jsonx.Text(value)
	return &text
}

// textsOf returns the texts of an array in a tool's input.
func textsOf(value jsontext.Value) (all []string) {
	_ = json.Unmarshal(value, &all, jsonx.Tolerant) // the client refuses anything else
	return all
}
