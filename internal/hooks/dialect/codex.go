package dialect

import "time"

// Codex returns the dialect of Codex 0.169. Its hooks are modelled on those of Claude
// Code; what differs was measured.
func Codex() Dialect {
	d := Claude()
	d.Name, d.Title = "codex", "Codex"
	d.Events = codexEvents()
	d.Tools = []string{"Bash", "apply_patch", "Edit", "Write"}
	d.Aliases = nil
	d.Unrecorded = nil
	d.Settings = Settings{
		Files: []File{
			{Scope: Project, In: InProject, Path: ".codex/hooks.json"},
			{Scope: User, In: InHome, Path: ".codex/hooks.json"},
		},
		Reviewed: File{Scope: User, In: InHome, Path: ".codex/config.toml"},
		Switch:   Switch{Settings: []Path{{"disabled"}}, Disables: true, Default: true},
		ToEnable: `[features] hooks = true in config.toml`,
	}
	d.Answers.Heard, d.Answers.SilentReason, d.Answers.NeedsReason = false, "", true
	d.Answers.Schema.Closed, d.Answers.Schema.AnyEvent = true, true
	d.Around.BlockAfterTool, d.Around.AfterFailure = BlockHidesResult, ""
	d.Hooks = Hooks{
		Types:        []string{CommandType, "prompt", "agent"},
		Fields:       []string{"type", "command", "timeout", "statusMessage", "async", "prompt", "model", "description"},
		Identity:     []Field{FieldPlace},
		Timeout:      600 * time.Second,
		TimeoutUnit:  time.Second,
		Async:        true,
		ToolMatcher:  MatchNames,
		OtherMatcher: MatchNames,
	}
	return d
}

func codexEvents() []Event {
	silent := Said{Exit2: Block}
	context := Said{Exit2: Block, Text: Context}
	events := []Event{
		{Name: "PreToolUse", Subject: ToolName, Said: silent, Blocks: true, Permissions: true, IgnoresStop: true, Effect: ChangesToolInput},
		{Name: "PermissionRequest", Subject: ToolName, Blocks: true, Behavior: true},
		{Name: "PostToolUse", Subject: ToolName, Said: silent, Blocks: true, StopBlocks: true},
		{Name: "UserPromptSubmit", Said: context, Blocks: true},
		{Name: "SessionStart", Subject: "source", Said: context},
		{Name: "Stop", Said: silent, Blocks: true},
		{Name: "SubagentStart", Subject: "agent_type", Said: silent},
		{Name: "SubagentStop", Subject: "agent_type", Said: silent, Blocks: true},
		{Name: "PreCompact", Subject: "trigger", Said: silent},
		{Name: "PostCompact", Subject: "trigger", Said: silent},
	}
	for i := range events {
		events[i].Merge, events[i].Guards = MergeVotes, true // a mistake anywhere drops the file
	}
	return events
}
