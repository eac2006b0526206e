package dialect

import "time"

// LLxprt returns the dialect of LLxprt Code, as its requirements document describes
// it.
func LLxprt() Dialect {
	return Dialect{
		Name:   "llxprt",
		Title:  "LLxprt Code",
		Events: llxprtEvents(),

		Tools: append(geminiTools(), "task", "todo_read", "todo_write", "apply_patch", "ast_edit", "insert_at_line", "delete_line_range",
			"read_line_range", "list_subagents", "exa_web_search", "codesearch", "direct_web_fetch"),
		Settings: Settings{
			Files: []File{
				{Scope: Project, In: InProject, Path: ".llxprt/settings.json"},
				{Scope: User, In: InConfig, Path: ".llxprt/settings.json"},
				{Scope: System, Path: "/etc/llxprt-code/settings.json", Darwin: "/Library/Application Support/LLxprt-Code/settings.json",
					Variable: "LLXPRT_CODE_SYSTEM_SETTINGS_PATH"},
			},
			Extensions: []string{".llxprt/extensions"},
			Comments:   true,
			Switch:     Switch{settings: []Path{{"enableHooks"}}},
			ToEnable:   `"enableHooks": true`,
			Disabled:   []Path{{"disabledHooks"}},
		},
		Hooks: Hooks{
			Types:        []string{CommandType, "plugin"},
			Identity:     []Field{FieldType, FieldCommand},
			Timeout:      60 * time.Second,
			TimeoutUnit:  time.Millisecond,
			Sequential:   true,
			ToolMatcher:  MatchRegexp,
			OtherMatcher: MatchRegexp,
			Variables: []Variable{{"LLXPRT_PROJECT_DIR", ValueCwd}, {"GEMINI_PROJECT_DIR", ValueCwd}, {"CLAUDE_PROJECT_DIR", ValueCwd},
				{"extensionPath", ValuePluginRoot}, {"workspacePath", ValuePluginCwd}},
			Timestamps: true,
		},
		Answers: Answers{BlockDecision: "deny", SilentReason: "Blocked by hook", DecodesTwice: true, InputField: "tool_input"},
		Around:  Around{BeforeTool: BeforeTool, AfterTool: AfterTool, MessagesToModel: true, ContextFormat: "%s"},
	}
}

// llxprtEvents returns the table of LLxprt Code.
func llxprtEvents() []Event {
	all := Meanings{Text: SystemMessage, Broken: SystemMessage, Exit1: Warning, Exit2: Block, Failure: Warning, Signal: Warning}
	return []Event{
		{Name: BeforeTool, Subject: ToolName, Meanings: all, Merge: MergeAny, Chain: ChainToolInput, Effect: ChangesToolInput, Blocks: true,
			Permissions: true},
		{Name: AfterTool, Subject: ToolName, Meanings: all, Merge: MergeAny},
		{Name: BeforeModel, Meanings: all, Merge: MergeFields, Chain: ChainModelRequest, Effect: ChangesModelRequest, Blocks: true,
			StopBlocks: true},
		{Name: AfterModel, Meanings: all, Merge: MergeFields, Effect: ChangesModelResponse},
		{Name: BeforeToolSelection, Meanings: all, Merge: MergeSelection, Effect: ChangesToolConfig},
		{Name: "BeforeAgent", Meanings: all, Merge: MergeAny, Chain: ChainPrompt, Blocks: true},
		{Name: "AfterAgent", Meanings: all, Merge: MergeAny, Blocks: true},
		{Name: "SessionStart", Meanings: all, Merge: MergeAny, Blocks: true},
		{Name: "SessionEnd", Meanings: all, Merge: MergeLast},
		{Name: "PreCompress", Meanings: all, Merge: MergeLast},
		{Name: "Notification", Meanings: all, Merge: MergeLast},
	}
}
