package dialect

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/js"
)

// Sample returns an event as the agent sends it, with its usual fields. cwd is the working
// directory in it.
func (d Dialect) Sample(e Event, cwd string) jsontext.Value {
	o := js.Object{}.
		WithText("session_id", "0f4c2d1e-5a3b-4c6d-8e7f-9a0b1c2d3e4f").
		WithText("transcript_path", cwd+"/transcript.jsonl").
		WithText("cwd", cwd).
		WithText("hook_event_name", e.Name)
	fields, _ := js.ParseObject(jsontext.Value(samples()[e.Name]))
	if e.Subject == ToolName && !fields.Has(ToolName) {
		tool, _ := js.ParseObject(jsontext.Value(d.SampleTool))
		fields = tool.Merged(fields)
	}
	if d.Hooks.Timestamps {
		o = o.WithText("timestamp", "2026-01-31T12:00:00.000Z")
	}
	return o.Merged(fields).Raw()
}

// samples maps the name of an event to its fields. A name that several agents have gets the
// fields of all of them.
func samples() map[string]string {
	const request = `{"model": "model-1", "contents": [{"role": "user", "parts": [{"text": "Delete the build directory."}]}]}`
	const response = `{"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}]}`
	return map[string]string{
		"PreToolUse":        `{"permission_mode": "default", "tool_use_id": "toolu_01"}`,
		"PermissionRequest": `{"permission_mode": "default"}`,
		"PermissionDenied":  `{"permission_mode": "auto", "tool_use_id": "toolu_01", "reason": "outside of the project"}`,
		"PostToolUse": `{"permission_mode": "default", "tool_use_id": "toolu_01", "tool_response": {"stdout": "done", "stderr": "", ` +
			`"interrupted": false, "isImage": false}, "duration_ms": 12}`,
		"PostToolUseFailure": `{"permission_mode": "default", "tool_use_id": "toolu_01", "error": "Exit code 1", "is_interrupt": false}`,
		"UserPromptSubmit":   `{"permission_mode": "default", "prompt": "Delete the build directory."}`,
		"UserPromptExpansion": `{"permission_mode": "default", "expansion_type": "slash_command", "command_name": "release", ` +
			`"command_args": "1.2", "command_source": "projectSettings", "prompt": "/release 1.2"}`,
		"SessionStart":        `{"source": "startup"}`,
		"SessionEnd":          `{"reason": "exit"}`,
		"Setup":               `{"trigger": "init"}`,
		"Stop":                `{"permission_mode": "default", "stop_hook_active": false, "last_assistant_message": "Done."}`,
		"StopFailure":         `{"error": "rate_limit"}`,
		"SubagentStart":       `{"agent_id": "a1", "agent_type": "general-purpose"}`,
		"SubagentStop":        `{"agent_id": "a1", "agent_type": "general-purpose", "stop_hook_active": false}`,
		"PreCompact":          `{"trigger": "manual", "custom_instructions": ""}`,
		"PostCompact":         `{"trigger": "manual", "compact_summary": "The work so far."}`,
		"Notification":        `{"notification_type": "ToolPermission", "message": "A tool needs your permission.", "details": {}}`,
		"ConfigChange":        `{"source": "project_settings", "file_path": "/project/.claude/settings.json"}`,
		"InstructionsLoaded":  `{"load_reason": "session_start", "file_path": "/project/CLAUDE.md"}`,
		"TaskCreated":         `{"task_id": "1", "task_subject": "Write the test"}`,
		"TaskCompleted":       `{"task_id": "1", "task_subject": "Write the test"}`,
		"TeammateIdle":        `{"teammate_name": "reviewer", "team_name": "release"}`,
		"Elicitation":         `{"mcp_server_name": "forms", "message": "Which branch?", "mode": "form", "requested_schema": {"type": "object"}}`,
		"ElicitationResult":   `{"mcp_server_name": "forms", "action": "accept", "content": {"branch": "main"}}`,
		"CwdChanged":          `{"old_cwd": "/project", "new_cwd": "/project/sub"}`,
		"FileChanged":         `{"file_path": "/project/.env", "event": "change"}`,
		"DirectoryAdded":      `{"source": "slash_command", "directory": "/other"}`,
		"WorktreeCreate":      `{"name": "fix"}`,
		"WorktreeRemove":      `{"worktree_path": "/project/.claude/worktrees/fix"}`,
		"PreModelSwitch":      `{"from_model": "model-1", "to_model": "model-2"}`,
		"PostModelSwitch":     `{"from_model": "model-1", "to_model": "model-2"}`,
		"BeforeTool":          `{}`,
		"AfterTool":           `{"tool_response": {"llmContent": "done", "returnDisplay": "done"}}`,
		"BeforeAgent":         `{"prompt": "Delete the build directory."}`,
		"AfterAgent":          `{"prompt": "Delete the build directory.", "prompt_response": "Done.", "stop_hook_active": false}`,
		"PreCompress":         `{"trigger": "manual"}`,
		"BeforeModel":         `{"sdk_request": ` + request + `}`,
		"AfterModel":          `{"sdk_request": ` + request + `, "sdk_response": ` + response + `}`,
		"BeforeToolSelection": `{"sdk_request": ` + request + `}`,
	}
}
