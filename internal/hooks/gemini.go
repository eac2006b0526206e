package hooks

import "time"

// Gemini returns the dialect of Gemini CLI.
func Gemini() Dialect {
	d := LLxprt()
	d.Name, d.Title = "gemini", "Gemini CLI"
	d.rules = geminiRules()

	d.files = settingsIn(".gemini", "gemini-cli", "GeminiCli", "GEMINI_CLI_SYSTEM_SETTINGS_PATH")
	d.extensions = extensionsIn(".gemini")
	d.tools = geminiTools()
	d.enabled = geminiEnabled
	d.toEnable = `"hooksConfig": {"enabled": true}`
	d.disabled = func(settings object) []string {
		return append(stringsIn(settings.object("hooksConfig"), "disabled"), stringsIn(settings.object("hooks"), "disabled")...)
	}
	d.settings = []string{"enabled", "disabled", "notifications"}
	d.types = []string{commandType}
	d.timeout = 60 * time.Second
	d.handlerEnv = true
	d.otherwise = exactMatcher
	d.identity = func(h Hook) string { return h.Name + "\x00" + h.Command }

	d.variables = func(s Session, _ Hook) []Variable {
		return []Variable{{"GEMINI_PROJECT_DIR", s.Cwd}, {"CLAUDE_PROJECT_DIR", s.Cwd}, {"GEMINI_SESSION_ID", s.ID}, {"GEMINI_CWD", s.Cwd}}
	}
	// Exit 2 without a word on standard error says nothing there.
	d.interpret = interpretWith("")
	d.toModel = false
	d.context = func(text string) string { return "<hook_context>" + text + "</hook_context>" }
	d.tool.blockedAfter = func(_, reason string) string { return reason }
	d.answersUnasked = true
	return d
}

func geminiRules() map[string]rule {
	rules := rulesOf(documentedRules()...)
	for name, change := range map[string]func(*rule){
		AfterTool:      func(r *rule) { r.blocks = true },
		"SessionStart": func(r *rule) { r.subject = "source"; r.blocks = false },
		"SessionEnd":   func(r *rule) { r.subject = "reason" },
		"PreCompress":  func(r *rule) { r.subject = "trigger" },
		"Notification": func(r *rule) { r.subject = "notification_type" },
	} {
		r := rules[name]
		change(&r)
		rules[name] = r
	}
	return rules
}

// geminiEnabled follows the setting's several homes over its releases. Where
// none of them speaks, hooks are on.
func geminiEnabled(settings object) bool {
	for _, place := range []struct{ section, name string }{
		{"hooksConfig", "enabled"}, {"tools", "enableHooks"}, {"hooks", "enabled"},
	} {
		if section := settings.object(place.section); section.has(place.name) {
			return section.isTrue(place.name)
		}
	}
	return true
}

func geminiTools() []string {
	return []string{
		"read_file", "read_many_files", "write_file", "replace", "list_directory", "glob", "search_file_content", "grep_search",
		"run_shell_command", "web_fetch", "google_web_search", "save_memory", "write_todos", "activate_skill", "ask_user",
		"get_internal_docs", "enter_plan_mode", "exit_plan_mode",
	}
}
