package fidelity

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

const claudeSettings = ".claude/settings.json"

// claudeTool is the call that the fake model makes for an event of a tool.
type claudeTool struct {
	name  string
	input map[string]any
}

// otherModel is the model that cases switch to.
const otherModel = "claude-sonnet-5"

// notes is a file in the project.
const notes = "notes.txt"

// callFor returns the call of a tool for a case. If it needs no permission, the user is
// asked only because of a hook; if it needs one, its result shows whether a hook grants it.
func callFor(c fidelityCase, project string, needsPermission bool) claudeTool {
	switch {
	case c.tool == "Read":
		return claudeTool{"Read", map[string]any{"file_path": filepath.Join(project, notes)}}
	case c.tool == "TaskStop":
		return claudeTool{"TaskStop", map[string]any{"task_id": "x"}}
	case c.tool == "Agent":
		return claudeTool{"Agent", map[string]any{"description": "x", "prompt": "be a helper", "subagent_type": "general-purpose",
			"run_in_background": false}}
	case c.event == "PostToolUseFailure":
		return claudeTool{"Bash", map[string]any{"command": "cat case:" + c.name, "description": "x"}}
	case c.event == "PermissionRequest", c.event == "PermissionDenied", needsPermission:
		return claudeTool{"Bash", map[string]any{"command": "touch case:" + c.name, "description": "x"}}
	}
	return claudeTool{"Bash", map[string]any{"command": "echo " + toolOutput + " case:" + c.name, "description": "x"}}
}

// fireAsClaude returns what fire answers to a case.
func fireAsClaude(t testing.TB, c fidelityCase) answer {
	w := newWorld(t)
	writeFile(t, filepath.Join(w.project, notes), toolOutput+"\n")
	call := callFor(c, w.project, false)
	event := map[string]any{"session_id": "s", "hook_event_name": c.event}
	switch c.event {
	case "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest":
		event["tool_name"], event["tool_input"] = call.name, call.input
	}
	switch c.event {
	case "PostToolUse":
		if call.name == "Bash" {
			event["tool_response"] = map[string]any{"stdout": toolOutput, "stderr": "", "interrupted": false, "isImage": false}
		}
	case "UserPromptSubmit":
		event["prompt"] = "go"
	case "UserPromptExpansion":
		event["command_name"], event["expansion_type"], event["prompt"] = "plain", "slash_command", "/plain"
	case "SessionStart":
		event["source"] = "startup"
	case "SessionEnd":
		event["reason"] = "other"
	case "Stop":
		event["stop_hook_active"] = false
	case "SubagentStart", "SubagentStop":
		event["agent_type"] = "general-purpose"
	case "PreCompact", "PostCompact":
		event["trigger"] = "manual"
	case "FileChanged":
		event["file_path"], event["event"] = filepath.Join(w.project, notes), "change"
	case "PreModelSwitch", "PostModelSwitch":
		event["from_model"], event["to_model"], event["source"] = "claude-opus-5-5", otherModel, "command"
	case "Elicitation":
		event["mcp_server_name"], event["message"], event["mode"] = "forms", "Which branch?", "form"
	case "ElicitationResult":
		event["mcp_server_name"], event["mode"], event["action"] = "forms", "form", "cancel"
	}
	text, err := json.Marshal(event)
	require.NoError(t, err)
	p, ran := w.fire(t, c, "claude", claudeSettings, string(text))
	a := answer{verdict: undecided, ran: ran}
	texts := []string{p.AdditionalContext}
	if strings.HasPrefix(c.event, "Elicitation") {
		a.verdict, a.model = p.Verdict, c.marksOf(string(p.Content))
		return a
	}
	switch {
	case p.Blocking && p.Stop:
		a.verdict = stopped
	case p.Blocking:
		a.verdict = denied
	case p.Stop:
		a.verdict = stopped
	case p.Verdict == asks, p.Verdict == allowed:
		a.verdict = p.Verdict
	case p.ToolInput != nil:
		a.verdict = allowed // the cases change the input to one that needs no permission
	}
	if a.verdict == stopped && strings.HasSuffix(c.event, "Stop") {
		a.verdict = undecided // the turn ends with and without it
	}
	if strings.HasSuffix(c.event, "ModelSwitch") {
		switch a.verdict {
		case asks:
			a.verdict = denied // nobody can be asked
		case allowed:
			a.verdict = undecided // the switch needs no permission
		}
		return a // the model is not asked
	}
	switch {
	case c.event == "PreCompact" && a.verdict == denied:
		texts = nil // the person reads it
	case a.verdict == stopped && isPrompt(c.event):
		a.verdict, texts = denied, nil // for the client the same
	case a.verdict == denied && isPrompt(c.event), p.Stop:
		texts = nil // the model is not asked any more
	case a.verdict == denied, a.verdict == asks: // nobody can be asked
		texts = append(texts, p.Reason)
	}
	if ranTool(c, a.verdict) || c.event == "PermissionRequest" && p.ToolInput != nil {
		output := toolOutput
		if p.ToolInput != nil {
			output = string(p.ToolInput)
		}
		if p.ToolOutput != nil {
			output = string(p.ToolOutput)
		}
		texts = append(texts, output)
	}
	a.model = c.marksOf(texts...)
	return a
}

// isPrompt reports whether an event is about what the user writes; if it is blocked, the
// model is not asked.
func isPrompt(event string) bool { return strings.HasPrefix(event, "UserPrompt") }

// ranTool reports whether the tool of a case ran that prints something.
func ranTool(c fidelityCase, verdict string) bool {
	switch c.event {
	case "PreToolUse":
		return (verdict == undecided || verdict == allowed) && c.tool != "Agent" && c.tool != "TaskStop"
	case "PostToolUse":
		return verdict != stopped && c.tool != "Agent"
	}
	return false
}
