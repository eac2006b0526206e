package dialect

import (
	"math"
	"time"
)

// Gemini returns the dialect of Gemini CLI. LLxprt Code is derived from it, so only
// the differences are here.
func Gemini() Dialect {
	d := LLxprt()
	d.Name, d.Title = "gemini", "Gemini CLI"
	d.Events = geminiEvents()
	d.Tools = geminiTools()

	d.Settings.Files = []File{
		{Scope: Project, In: InProject, Path: ".gemini/settings.json"},
		{Scope: User, In: InConfig, Path: ".gemini/settings.json"},
		{Scope: System, Path: "/etc/gemini-cli/settings.json", Darwin: "/Library/Application Support/GeminiCli/settings.json",
			Variable: "GEMINI_CLI_SYSTEM_SETTINGS_PATH"},
	}
	d.Settings.ConfigVariable = "GEMINI_CLI_HOME"
	d.Settings.Extensions = []string{".gemini/extensions"}
	// The releases have the switch in different places.
	d.Settings.Switch = Switch{settings: []Path{{"hooksConfig", "enabled"}, {"tools", "enableHooks"}, {"hooks", "enabled"}}, byDefault: true}
	d.Settings.ToEnable = `"hooksConfig": {"enabled": true}`
	d.Settings.Disabled = []Path{{"hooksConfig", "disabled"}, {"hooks", "disabled"}}
	d.Settings.NotEvent = []string{"enabled", "disabled", "notifications"}

	d.Hooks.Types = []string{CommandType}
	d.Hooks.Identity = []Field{FieldName, FieldCommand}
	d.Hooks.Env = true
	d.Hooks.OtherMatcher = MatchExact
	d.Hooks.Shell = []string{"bash", "-c"}
	d.Hooks.ContinuesAfterBlock = true
	d.Hooks.TimerLimit = math.MaxInt32 * time.Millisecond // of Node.js
	d.Hooks.Variables = []Variable{{"GEMINI_PLANS_DIR", ValuePlans}, {"GEMINI_PROJECT_DIR", ValueCwd}, {"CLAUDE_PROJECT_DIR", ValueCwd},
		{"GEMINI_SESSION_ID", ValueSessionID}, {"GEMINI_CWD", ValueCwd}, {"extensionPath", ValuePluginRoot}, {"workspacePath", ValuePluginCwd}}

	d.Answers.SilentReason = ""
	d.Answers.Objects = ObjectsOnAnyStream
	d.Answers.StopReason, d.Answers.AskReason, d.Answers.Escapes, d.Answers.TailCalls = true, true, true, true
	d.Around.BlockAfterTool = BlockHidesResult
	d.Around.MessagesToModel = false
	d.Around.ContextFormat = "<hook_context>%s</hook_context>"
	d.Around.AnswersWithoutBlock = true
	return d
}

// geminiEvents returns the table of Gemini CLI. At all events an exit code above 1 blocks, and
// death by a signal is like exit 0.
func geminiEvents() []Event {
	events := llxprtEvents()
	for i := range events {
		events[i].Meanings = Meanings{Text: SystemMessage, Exit1: Warning, Exit2: Block, Failure: Block, Signal: SystemMessage}
		switch e := &events[i]; e.Name {
		case BeforeTool:
			e.Permissions = false
		case AfterTool, AfterModel:
			e.Blocks = true
		case "SessionStart":
			e.Subject, e.Blocks = "source", false
		case "SessionEnd":
			e.Subject = "reason"
		case "PreCompress":
			e.Subject = "trigger"
		}
		if events[i].Merge == MergeFields {
			events[i].Merge = MergeReplace
		}
	}
	return events
}

func geminiTools() []string {
	return []string{
		"read_file", "read_many_files", "write_file", "replace", "list_directory", "glob", "search_file_content", "grep_search",
		"run_shell_command", "web_fetch", "google_web_search", "save_memory", "write_todos", "activate_skill", "ask_user",
		"get_internal_docs", "enter_plan_mode", "exit_plan_mode",
	}
}
