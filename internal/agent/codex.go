package agent

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Codex is OpenAI's Codex CLI, measured with 0.169.0.
//
// It has no tool for skills: its model reads SKILL.md in the shell, or the person writes
// $name. It runs a hook only after the person has trusted it, and skips it in silence until
// then; it reads a project's files only if the project is trusted. It knows no "ask": the
// tool runs. An unknown key in an answer discards all of it.
func Codex() *Agent {
	return &Agent{
		Name:  "codex",
		Title: "Codex", packages: []string{"@openai/codex"}, variables: []string{"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_CI"},
		session: "CODEX_SESSION_ID",
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"UserPromptSubmit", "", Prompt},
			{"PreToolUse", "", Before},
			{"PostToolUse", "Bash", After},
			{"Stop", "", Stop},
		},
		PowerShell:  true,
		Holds:       maxHolds,
		TimeoutUnit: time.Second,
		Hooks:       Files{User: ".codex/hooks.json", Project: ".codex/hooks.json"},
		Server:      Files{User: ".codex/config.toml", Project: ".codex/config.toml"},
		Demands: Demands{
			User:  "Codex skips a hook in silence until you trust it: start codex, and trust the hooks of fsmtx when it asks, or with /hooks",
			Unmet: untrustedByCodex,
			Project: `Codex reads this file only in a project that you trust ([projects."DIR"] trust_level = "trusted" in ~/.codex/config.toml), ` +
				`and skips a hook in silence until you trust it too: start codex, and trust the hooks of fsmtx when it asks, or with /hooks`,
		},
		Home: Home{".codex", "CODEX_HOME"},
		Skills: Dirs{Project: []string{".agents/skills", ".codex/skills"}, User: []string{".agents/skills", ".codex/skills"},
			Deep: true, Inside: true},
		heading: heading{described: filled}, plugins: below(".codex/plugins/cache"), scoped: true,
		ownsEvent: func(e *client.Event) bool {
			return e.Has("turn_id") || strings.HasPrefix(filepath.Base(e.TranscriptPath), "rollout-")
		},
		shells: []string{"Bash"}, edits: []string{"apply_patch", "Edit", "Write"}, patches: true,
		typed: "$", anywhereInPrompt: true, takenByReading: true,
	}
}

// untrustedByCodex reports whether nobody has trusted the hooks of a file, or the project.
func untrustedByCodex(t Trust) bool {
	config, hooks := filepath.Join(t.Config, "config.toml"), false
	for key := range t.Table(config, "hooks", "state") {
		hooks = hooks || strings.HasPrefix(key, t.File+":")
	}
	return !hooks || t.Project != "" && t.Table(config, "projects", t.Project)["trust_level"] != "trusted"
}
