package dialect

import "time"

// Claude returns the dialect of Claude Code 2.1.
func Claude() Dialect {
	return Dialect{
		Name:   "claude",
		Title:  "Claude Code",
		Events: claudeEvents(),
		Tools:  claudeTools(),

		SampleTool: `{"tool_name": "Bash", "tool_input": {"command": "rm -rf build", "description": "Delete the build directory"}}`,
		Unrecorded: []string{"WorktreeCreate"}, // its hook makes the worktree

		Unskilled: []string{"SessionEnd"},

		Aliases: map[string][]string{"Agent": {"Task"}, "TaskStop": {"KillShell", "KillBash"}},
		Settings: Settings{
			Files: []File{
				{Scope: System, Path: "/etc/claude-code/managed-settings.json", Darwin: "/Library/Application Support/ClaudeCode/managed-settings.json"},
				{Scope: Project, In: InProject, Path: ".claude/settings.local.json"},
				{Scope: Project, In: InProject, Path: ".claude/settings.json"},
				{Scope: User, In: InConfig, Path: "settings.json"},
			},
			Plugins: true,
			Skills:  true,

			Options:      "pluginConfigs",
			OptionPrefix: "CLAUDE_PLUGIN_OPTION_",

			ManagedOnly: "allowManagedHooksOnly",

			Switch:   Switch{Settings: []Path{{"disableAllHooks"}}, Disables: true, Default: true},
			ToEnable: `no "disableAllHooks": true`,
		},
		Hooks: Hooks{
			Fields: []string{
				"type", "command", "args", "timeout", "async", "asyncRewake", "once", "shell", "statusMessage", "if", "onFailure",
				"url", "headers", "allowedEnvVars", "prompt", "model", "server", "tool", "input", "description",
			},
			Types: []string{CommandType, "http", "mcp_tool", "prompt", "agent"},
			// Two plugins may have the same command below their own directories.
			Identity:     []Field{FieldType, FieldRoot, FieldCommand, FieldTarget, FieldIf, FieldArgs},
			Timeout:      600 * time.Second,
			TimeoutUnit:  time.Second,
			Args:         true,
			Async:        true,
			Once:         true,
			If:           true,
			OnFailure:    true,
			Requests:     true,
			Positive:     true,
			Newline:      true,
			Blank:        true,
			Braces:       true,
			ToolMatcher:  MatchNames,
			OtherMatcher: MatchNames,
			Variables:    []Variable{{"CLAUDE_PROJECT_DIR", ValueProject}, {"CLAUDE_CODE_SESSION_ID", ValueSessionID}, {"CLAUDE_PLUGIN_ROOT", ValuePluginRoot}, {"CLAUDE_PLUGIN_DATA", ValuePluginData}},
		},
		Answers: Answers{BlockDecision: "block", SilentReason: "No stderr output", Heard: true, Schema: claudeSchema(), InputField: "updatedInput", InputReplaces: true},
		Around: Around{
			BeforeTool: "PreToolUse", AfterTool: "PostToolUse", AfterFailure: "PostToolUseFailure", BlockAfterTool: BlockIsToldModel,
			ContextFormat: "<system-reminder>\n%s\n</system-reminder>",
		},
	}
}

// claudeEvents returns the table of Claude Code. Standard error of a failed hook
// is only logged.
func claudeEvents() []Event {
	silent := Said{Exit2: Block}
	submitted := Said{Exit2: Block, Text: Context, OtherJSON: Context, Broken: Context}
	context := Said{Exit2: Block, Text: Context, OtherJSON: Context}
	events := []Event{
		{Name: "PreToolUse", Subject: ToolName, Said: silent, Blocks: true, Permissions: true, Guards: true, Effect: ChangesToolInput},
		{Name: "PermissionRequest", Subject: ToolName, Blocks: true, Behavior: true, Guards: true},
		{Name: "PermissionDenied", Subject: ToolName, Said: silent},
		{Name: "PostToolUse", Subject: ToolName, Said: silent, Blocks: true, Effect: ChangesToolOutput},
		{Name: "PostToolUseFailure", Subject: ToolName, Said: silent, Blocks: true, IgnoresStop: true},
		{Name: "PostToolBatch", Said: silent, Blocks: true},
		{Name: "UserPromptSubmit", Said: submitted, Blocks: true, Timeout: 30 * time.Second},
		{Name: "UserPromptExpansion", Subject: "command_name", Said: context, Blocks: true},
		{Name: "SessionStart", Subject: "source", Values: []string{"startup", "resume", "clear", "compact"}, Said: context},
		{Name: "SessionEnd", Subject: "reason", Values: []string{"clear", "resume", "logout", "prompt_input_exit", "bypass_permissions_disabled", "other"}, Said: silent, Timeout: 1500 * time.Millisecond},
		{Name: "Setup", Subject: "trigger", Values: []string{"init", "maintenance"}, Said: silent},
		{Name: "Stop", Said: silent, Blocks: true},
		{Name: "StopFailure", Subject: "error", Said: silent},
		{Name: "SubagentStart", Subject: "agent_type", Said: silent},
		{Name: "SubagentStop", Subject: "agent_type", Said: silent, Blocks: true},
		{Name: "PreCompact", Subject: "trigger", Values: []string{"manual", "auto"}, Said: context, Blocks: true, IgnoresStop: true, Verbatim: true},
		{Name: "PostCompact", Subject: "trigger", Values: []string{"manual", "auto"}, Said: silent},
		{Name: "Notification", Subject: "notification_type", Said: silent},
		{Name: "ConfigChange", Subject: "source", Said: silent, Blocks: true},
		{Name: "InstructionsLoaded", Subject: "load_reason", Said: silent},
		{Name: "TaskCreated", Said: silent, Blocks: true},
		{Name: "TaskCompleted", Said: silent, Blocks: true},
		{Name: "TeammateIdle", Said: silent, Blocks: true},
		{Name: "Elicitation", Subject: "mcp_server_name", Said: silent, Blocks: true, Action: true},
		{Name: "ElicitationResult", Subject: "mcp_server_name", Said: silent, Blocks: true, Action: true},
		{Name: "CwdChanged", Said: silent},
		{Name: "FileChanged", Subject: "file_path", Base: true, Said: silent},
		{Name: "DirectoryAdded", Subject: "source", Said: silent},
		{Name: "WorktreeCreate", Said: silent},
		{Name: "WorktreeRemove", Said: silent},
		{Name: "MessageDisplay", Said: silent},
		{Name: "PreModelSwitch", Subject: "to_model", Said: silent, Blocks: true, Permissions: true, IgnoresStop: true},
		{Name: "PostModelSwitch", Subject: "to_model", Said: silent},
	}
	for i := range events {
		events[i].Merge = MergeVotes
		switch events[i].Name {
		case "SessionStart", "Setup", "CwdChanged", "FileChanged":
			events[i].EnvFile = "CLAUDE_ENV_FILE"
		}
	}
	return events
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
