package dialect

import "time"

// Codex returns the dialect of Codex 0.169. Its hooks are modelled on those of Claude
// Code; the differences were measured.
func Codex() Dialect {
	d := Claude()
	d.Name, d.Title = "codex", "Codex"
	d.Events = codexEvents()
	d.Tools = []string{"Bash", "apply_patch", "Edit", "Write"}
	d.Aliases, d.Former = nil, nil
	d.Settings = Settings{
		Files: []File{
			{Scope: Project, In: InProject, Path: ".codex/hooks.json"},
			{Scope: User, In: InConfig, Path: "hooks.json"},
		},
		ConfigDir: ".codex", ConfigVariable: "CODEX_HOME",
		Features: &File{In: InConfig, Path: "config.toml"},
		Switch:   Switch{settings: []Path{{"disabled"}}, disables: true, byDefault: true},
		ToEnable: `[features] hooks = true in config.toml`,
		Members:  []string{"description", "hooks"},
	}
	d.Answers.Objects = ObjectsOnSuccess
	d.Answers.Schema = codexSchema()
	d.Answers.TextByLook, d.Answers.SilentReason, d.Answers.AskReason = true, "", false
	d.Around.BlockAfterTool, d.Around.AfterFailure = BlockHidesResult, ""
	d.Hooks = Hooks{
		Types:        []string{CommandType, "mcp_tool", "prompt", "agent"},
		Entries:      codexEntries(),
		NullIsAbsent: true,
		EmptyGroups:  true,
		Shell:        []string{"bash", "-c"},
		UserShell:    true,
		Identity:     []Field{FieldPlace},
		Timeout:      600 * time.Second,
		TimeoutUnit:  time.Second,
		WholeTimeout: true,
		MinTimeout:   time.Second,
		Async:        true,
		ToolMatcher:  MatchRustNames,
		OtherMatcher: MatchRustNames,
		Variables: []Variable{{"PLUGIN_ROOT", ValuePluginRoot}, {"PLUGIN_DATA", ValuePluginData}, {"CLAUDE_PLUGIN_ROOT", ValuePluginRoot},
			{"CLAUDE_PLUGIN_DATA", ValuePluginData}},
		Moves: true,
	}
	return d
}

// codexEvents returns the table of Codex.
func codexEvents() []Event {
	silent := Meanings{Exit2: Block}
	context := Meanings{Exit2: Block, Text: Context}
	events := []Event{
		{Name: "PreToolUse", Subject: ToolName, Meanings: silent, Blocks: true, Permissions: true, IgnoresStop: true, Effect: ChangesToolInput},
		{Name: "PermissionRequest", Subject: ToolName, Blocks: true, Behavior: true},
		{Name: "PostToolUse", Subject: ToolName, Meanings: silent, Blocks: true, StopBlocks: true},
		{Name: "UserPromptSubmit", Meanings: context, Blocks: true},
		{Name: "SessionStart", Subject: "source", Meanings: context},
		{Name: "Stop", Meanings: silent, Blocks: true},
		{Name: "SubagentStart", Subject: "agent_type", Meanings: silent},
		{Name: "SubagentStop", Subject: "agent_type", Meanings: silent, Blocks: true},
		{Name: "PreCompact", Subject: "trigger", Meanings: silent},
		{Name: "PostCompact", Subject: "trigger", Meanings: silent},
	}
	for i := range events {
		events[i].Merge, events[i].DropsFile, events[i].OnlyBlocks = MergeVotes, true, !events[i].Permissions
	}
	return events
}
