package hooks

import "time"

// LLxprt returns the dialect of LLxprt Code: the documented one, after which the
// others are described.
func LLxprt() Dialect {
	return Dialect{
		Name:  "llxprt",
		Title: "LLxprt Code",
		rules: rulesOf(documentedRules()...),

		files:       settingsIn(".llxprt", "llxprt-code", "LLxprt-Code", "LLXPRT_CODE_SYSTEM_SETTINGS_PATH"),
		extensions:  extensionsIn(".llxprt"),
		comments:    true,
		tools:       append(geminiTools(), "task", "todo_read", "todo_write", "apply_patch", "ast_edit", "insert_at_line", "delete_line_range", "read_line_range", "list_subagents", "exa_web_search", "codesearch", "direct_web_fetch"),
		toEnable:    `"enableHooks": true`,
		enabled:     func(settings object) bool { return settings.isTrue("enableHooks") },
		disabled:    func(settings object) []string { return stringsIn(settings, "disabledHooks") },
		types:       []string{commandType, "plugin"},
		timeout:     60 * time.Second,
		timeoutUnit: time.Millisecond,
		sequential:  true,
		matcher:     regexMatcher,
		otherwise:   regexMatcher,
		identity:    func(h Hook) string { return h.Type + ":" + h.Command },

		variables: func(s Session, _ Hook) []Variable {
			return []Variable{{"LLXPRT_PROJECT_DIR", s.Cwd}, {"GEMINI_PROJECT_DIR", s.Cwd}, {"CLAUDE_PROJECT_DIR", s.Cwd}}
		},
		timestamps: true,

		interpret:  interpretWith("Blocked by hook"),
		inputField: "tool_input",
		applyInput: object.merged,
		toModel:    true,
		context:    func(text string) string { return text },
		tool:       toolEvents{BeforeTool, AfterTool, keepResult},
	}
}

// documentedRules are LLxprt's events, which Gemini CLI shares.
func documentedRules() []rule {
	return []rule{
		{name: BeforeTool, subject: "tool_name", merge: mergeAny, chain: chainToolInput, effects: toolInputEffect, blocks: true, permissions: true},
		{name: AfterTool, subject: "tool_name", merge: mergeAny},
		{name: BeforeModel, merge: mergeFields, chain: chainRequest, effects: beforeModelEffect, blocks: true, stopBlocks: true},
		{name: AfterModel, merge: mergeFields, effects: afterModelEffect},
		{name: BeforeToolSelection, merge: mergeSelection, effects: selectionEffect},
		{name: "BeforeAgent", merge: mergeAny, chain: chainPrompt, blocks: true},
		{name: "AfterAgent", merge: mergeAny, blocks: true},
		{name: "SessionStart", merge: mergeAny, blocks: true},
		{name: "SessionEnd", merge: mergeLast},
		{name: "PreCompress", merge: mergeLast},
		{name: "Notification", merge: mergeLast},
	}
}

// keepResult ignores a block after the tool ran: LLxprt does not support it.
func keepResult(result, _ string) string { return result }
