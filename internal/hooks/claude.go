package hooks

import (
	"cmp"
	"strings"
	"time"
)

// Claude returns the dialect of Claude Code, as version 2.1 behaves.
func Claude() Dialect {
	return Dialect{
		Name:  "claude",
		Title: "Claude Code",
		rules: rulesOf(claudeRules()...),

		files:       claudeFiles,
		extensions:  func(Where) []string { return nil },
		plugins:     true,
		tools:       claudeTools(),
		toEnable:    `no "disableAllHooks": true`,
		enabled:     func(settings object) bool { return !settings.isTrue("disableAllHooks") },
		disabled:    func(object) []string { return nil },
		types:       []string{commandType, "http", "mcp_tool", "prompt", "agent"},
		timeout:     600 * time.Second,
		timeoutUnit: time.Second,
		execForm:    true,
		async:       true,
		matcher:     namesMatcher,
		otherwise:   namesMatcher,
		identity:    claudeIdentity,

		variables: claudeVariables,

		interpret:  interpretClaude,
		inputField: "updatedInput",
		applyInput: func(_, updated object) object { return updated },
		context:    func(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" },
		tool:       toolEvents{"PreToolUse", "PostToolUse", feedBack},
	}
}

func claudeRules() []rule {
	rules := []rule{
		{name: "PreToolUse", subject: "tool_name", blocks: true, permissions: true, effects: toolInputEffect},
		{name: "PermissionRequest", subject: "tool_name", blocks: true},
		{name: "PermissionDenied", subject: "tool_name"},
		{name: "PostToolUse", subject: "tool_name", blocks: true},
		{name: "PostToolUseFailure", subject: "tool_name"},
		{name: "PostToolBatch", blocks: true},
		{name: "UserPromptSubmit", blocks: true, textIsContext: true},
		{name: "UserPromptExpansion", subject: "command_name", blocks: true},
		{name: "SessionStart", subject: "source", textIsContext: true},
		{name: "SessionEnd", subject: "reason"},
		{name: "Setup", subject: "trigger"},
		{name: "Stop", blocks: true},
		{name: "StopFailure", subject: "error"},
		{name: "SubagentStart", subject: "agent_type"},
		{name: "SubagentStop", subject: "agent_type", blocks: true},
		{name: "PreCompact", subject: "trigger", blocks: true, textIsContext: true},
		{name: "PostCompact", subject: "trigger"},
		{name: "Notification", subject: "notification_type"},
		{name: "ConfigChange", subject: "source", blocks: true},
		{name: "InstructionsLoaded", subject: "load_reason"},
		{name: "TaskCreated", blocks: true},
		{name: "TaskCompleted", blocks: true},
		{name: "TeammateIdle", blocks: true},
		{name: "Elicitation", subject: "mcp_server_name", blocks: true},
		{name: "ElicitationResult", subject: "mcp_server_name", blocks: true},
		{name: "CwdChanged"},
		{name: "FileChanged"},
		{name: "DirectoryAdded"},
		{name: "WorktreeCreate"},
		{name: "WorktreeRemove"},
		{name: "MessageDisplay"},
		{name: "PreModelSwitch"},
		{name: "PostModelSwitch"},
	}
	for i := range rules {
		rules[i].merge = mergeAny
	}
	return rules
}

// claudeIdentity takes the plugin in: two plugins may write the same command
// below their own root.
func claudeIdentity(h Hook) string {
	return strings.Join(append([]string{h.Type, h.Root, h.Command}, h.Args...), "\x00")
}

func claudeVariables(s Session, h Hook) []Variable {
	vars := []Variable{{"CLAUDE_PROJECT_DIR", cmp.Or(s.Project, s.Cwd)}, {"CLAUDE_CODE_SESSION_ID", s.ID}}
	if h.Root != "" {
		vars = append(vars, Variable{"CLAUDE_PLUGIN_ROOT", h.Root})
	}
	if h.Data != "" {
		vars = append(vars, Variable{"CLAUDE_PLUGIN_DATA", h.Data})
	}
	return vars
}

// feedBack keeps the result and tells the model what the hook objects to.
func feedBack(result, reason string) string {
	return join(result, "PostToolUse hook blocking error: "+reason)
}

func claudeTools() []string {
	return []string{
		"Agent", "Task", "Bash", "BashOutput", "KillShell", "PowerShell", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit",
		"Glob", "Grep", "LS", "LSP", "WebFetch", "WebSearch", "Skill", "SlashCommand", "TodoWrite", "TaskCreate", "TaskGet",
		"TaskList", "TaskUpdate", "TaskOutput", "TaskStop", "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EnterWorktree",
		"ExitWorktree", "ToolSearch", "SendMessage", "Monitor", "CronCreate", "CronDelete", "CronList", "ListMcpResourcesTool",
		"ReadMcpResourceTool",
	}
}
