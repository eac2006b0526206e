package dialect

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/permission"
)

// Claude returns the dialect of Claude Code 2.1.
func Claude() Dialect {
	return Dialect{
		Name:   "claude",
		Title:  "Claude Code",
		Events: claudeEvents(),
		Tools:  permission.Tools(),
		Former: []string{"MultiEdit", "LS", "NotebookRead", "TodoRead", "BashOutput", "AgentOutput", "AgentOutputTool", "SlashCommand",
			"TaskOutput"},

		NoSkillHooks: []string{"SessionEnd"},

		Aliases: map[string][]string{
			"Agent": {"Task"}, "TaskStop": {"KillShell", "KillBash"}, "ListAgents": {"ListPeers"}, "SendUserMessage": {"Brief"},
			"ListMcpResourcesTool": {"ListMcpResources"}, "ReadMcpResourceTool": {"ReadMcpResource"},
			"ReadMcpResourceDirTool": {"ReadMcpResourceDir"},
			"SetGoal":                {"ProposeGoal"},
		},
		Settings: claudeSettings(),
		Hooks:    claudeHooks(),
		Answers: Answers{
			Objects: ObjectsOnAnyExit, Schema: claudeSchema(),
			BlockDecision: "block", SilentReason: "No stderr output", AskReason: true,
			InputField: "updatedInput", InputReplaces: true,
		},
		Around: Around{
			BeforeTool: "PreToolUse", AfterTool: "PostToolUse", AfterFailure: "PostToolUseFailure",
			BlockAfterTool: BlockAddsReason, BlockFormat: "PostToolUse hook blocking error: %s",
			ContextFormat: "<system-reminder>\n%s\n</system-reminder>",
			Results: map[string]map[string]Kind{"Bash": {
				"stdout": {Type: '"', Required: true}, "stderr": {Type: '"', Required: true}, "interrupted": {Type: 't', Required: true},
				"isImage": {Type: 't'},
			}},
		},
	}
}

// claudeSettings returns where Claude Code has hooks, and what turns them off.
func claudeSettings() Settings {
	return Settings{
		Files: []File{
			{Scope: System, In: Managed},
			{Scope: Project, In: InWorkTree, Path: ".claude/settings.local.json"}, // facts 52 and 66, Claude Code 2.1.329
			{Scope: Project, In: InProject, Path: ".claude/settings.local.json"},
			{Scope: Project, In: InProject, Path: ".claude/settings.json"},
			{Scope: User, In: InConfig, Path: "settings.json"},
		},
		ConfigDir: ".claude", ConfigVariable: "CLAUDE_CONFIG_DIR",
		Marked:  true, // facts 97 and 169, Claude Code 2.1.329
		Plugins: true,
		Skills:  []File{{In: InProject, Path: ".claude"}, {In: InConfig}},

		Kinds: map[string]Kind{"disableAllHooks": {Type: 't'}, "env": {Type: '{'}, "permissions": {Type: '{'},
			"cleanupPeriodDays": {Type: '0'}, "allowedHttpHookUrls": {Type: '['}, "httpHookAllowedEnvVars": {Type: '['}}, // measured with 2.1.329
		Env: "env",

		RequestURLs: "allowedHttpHookUrls", RequestEnv: "httpHookAllowedEnvVars",
		Options:      "pluginConfigs",
		OptionPrefix: "CLAUDE_PLUGIN_OPTION_",

		Switch:   Switch{settings: []Path{{"disableAllHooks"}}, disables: true, byDefault: true},
		ToEnable: `no "disableAllHooks": true`,
	}
}

// claudeHooks returns what the entry of a hook may contain.
func claudeHooks() Hooks {
	return Hooks{
		Entries: claudeEntries(),
		Types:   []string{CommandType, "http", "mcp_tool", "prompt", "agent"},
		// FieldRoot: two plugins may have the same command, each in its own directory.
		Identity:        []Field{FieldType, FieldRoot, FieldCommand, FieldTarget, FieldIf, FieldArgs},
		Timeout:         600 * time.Second,
		TimeoutUnit:     time.Second,
		Args:            true,
		PowerShell:      true,
		Async:           true,
		If:              true,
		OnFailure:       true,
		Requests:        true,
		PositiveTimeout: true,
		FinalNewline:    true,
		NoUnsetBraces:   true,
		ToolMatcher:     MatchNames,
		OtherMatcher:    MatchNames,
		Variables: []Variable{{"CLAUDECODE", ValueOne}, {"CLAUDE_PROJECT_DIR", ValueProject},
			{"CLAUDE_CODE_SESSION_ID", ValueSessionID}, {"CLAUDE_PLUGIN_ROOT", ValuePluginRoot},
			{"CLAUDE_PLUGIN_DATA", ValuePluginData}, {"CLAUDE_PID", ValueOther}, {"CLAUDE_EFFORT", ValueOther}, {"AI_AGENT", ValueOther},
			{"CLAUDE_CODE_ENTRYPOINT", ValueOther}, {"CLAUDE_CODE_SESSION_ATTENDED", ValueOther}, {"CLAUDE_CODE_CHILD_SESSION", ValueOther}},
		Moves: true,
	}
}

// claudeEvents returns the table of Claude Code. It only logs the standard error of a hook
// that failed: Exit1, Failure and Signal mean Nothing.
func claudeEvents() []Event {
	silent := Meanings{Exit2: Block}
	context := Meanings{Exit2: Block, Text: Context, OtherJSON: Context, Broken: Context}
	events := []Event{
		{Name: "PreToolUse", Subject: ToolName, Meanings: silent, Blocks: true, Permissions: true, DropsFile: true, Effect: ChangesToolInput},
		{Name: "PermissionRequest", Subject: ToolName, Blocks: true, Behavior: true, DropsFile: true, Effect: GrantsToolInput},
		{Name: "PermissionDenied", Subject: ToolName, Meanings: silent},
		{Name: "PostToolUse", Subject: ToolName, Meanings: silent, Blocks: true, Effect: ChangesToolOutput},
		{Name: "PostToolUseFailure", Subject: ToolName, Meanings: silent, Blocks: true, IgnoresStop: true},
		{Name: "PostToolBatch", Meanings: silent, Blocks: true},
		{Name: "UserPromptSubmit", Meanings: context, Blocks: true, Timeout: 30 * time.Second},
		{Name: "UserPromptExpansion", Subject: "command_name", Meanings: context, Blocks: true},
		{Name: "SessionStart", Subject: "source", Meanings: context,
			IgnoresStop: true},
		{Name: "SessionEnd", Subject: "reason", Meanings: silent, Timeout: 1500 * time.Millisecond},
		{Name: "Setup", Subject: "trigger", Meanings: silent},
		{Name: "Stop", Meanings: silent, Blocks: true, ContextBlocks: true},
		{Name: "StopFailure", Subject: "error", Meanings: silent},
		{Name: "SubagentStart", Subject: "agent_type", Meanings: silent, IgnoresStop: true},
		{Name: "SubagentStop", Subject: "agent_type", Meanings: silent, Blocks: true, ContextBlocks: true},
		{Name: "PreCompact", Subject: "trigger", Meanings: context, Blocks: true, IgnoresStop: true,
			Verbatim: true},
		{Name: "PostCompact", Subject: "trigger", Meanings: silent},
		{Name: "Notification", Subject: "notification_type", Meanings: silent},
		{Name: "ConfigChange", Subject: "source", Meanings: silent, Blocks: true},
		{Name: "InstructionsLoaded", Subject: "load_reason", Meanings: silent},
		{Name: "TaskCreated", Meanings: silent, Blocks: true},
		{Name: "TaskCompleted", Meanings: silent, Blocks: true},
		{Name: "TeammateIdle", Meanings: silent, Blocks: true},
		{Name: "Elicitation", Subject: "mcp_server_name", Meanings: silent, Blocks: true, Action: true},
		{Name: "ElicitationResult", Subject: "mcp_server_name", Meanings: silent, Blocks: true, Action: true},
		{Name: "CwdChanged", Meanings: silent},
		{Name: "FileChanged", Subject: "file_path", BaseName: true, Meanings: silent},
		{Name: "DirectoryAdded", Subject: "source", Meanings: silent},
		{Name: "WorktreeCreate", Meanings: silent},
		{Name: "WorktreeRemove", Meanings: silent},
		{Name: "MessageDisplay", Meanings: silent},
		{Name: "PreModelSwitch", Subject: "to_model", Meanings: silent, Blocks: true, Permissions: true, IgnoresStop: true},
		{Name: "PostModelSwitch", Subject: "to_model", Meanings: silent},
	}
	for i := range events {
		events[i].Merge, events[i].OnlyBlocks = MergeVotes, !events[i].Permissions
		switch events[i].Name {
		case "SessionStart", "Setup", "CwdChanged", "FileChanged":
			events[i].EnvFile = "CLAUDE_ENV_FILE"
		}
	}
	return events
}
