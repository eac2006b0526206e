package agent

import (
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Copilot is the GitHub Copilot CLI, measured with 1.0.102.
//
// Its hooks are registered under Claude Code's names of the events; the tools keep some of
// their own names, and matchers match whole names. Of a project it reads the .mcp.json that
// Claude Code reads too, which is that of "fsmtx install --project --mcp". It reads the reason of a refusal only from
// JSON at exit 0, and a text for the model only at the top level.
func Copilot() *Agent {
	return &Agent{
		Name:  "copilot",
		Title: "Copilot CLI", packages: []string{"@github/copilot"}, variables: []string{"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"},
		session: "COPILOT_AGENT_SESSION_ID",
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"UserPromptSubmit", "", Prompt},
			{"PreToolUse", "", Before},
			{"PostToolUse", "skill", After},
			{"Stop", "", Stop},
		},
		Holds:       maxHolds,
		TimeoutUnit: time.Second,
		Hooks:       Files{User: ".copilot/hooks/fsmtx.json", Project: ".github/hooks/fsmtx.json"},
		Server:      Files{User: ".copilot/mcp-config.json", Comments: true}, ServerPath: []string{"mcpServers"},
		ServerFields: map[string]any{"type": "local", "tools": []string{"*"}},
		Demands: Demands{
			Project: "Copilot CLI reads this file only in a folder that you trust: say so when it asks, or start it with --trust-folder",
		},
		Home: Home{".copilot", "COPILOT_HOME"},
		Skills: Dirs{Project: []string{".github/skills", ".agents/skills", ".claude/skills"},
			User: []string{".copilot/skills", ".agents/skills"}, Deep: true},
		heading: heading{named: given, strict: true},
		plugins: pluginsOfCopilot, anyCase: true,
		ownsEvent: func(e *client.Event) bool {
			return e.Has("timestamp") && !e.Has("turn_id") && (e.TranscriptPath == "" || strings.Contains(e.TranscriptPath, "/session-state/"))
		},
		skillTool: tool{"skill", "skill"},
		shells:    []string{"Bash", "bash"}, edits: []string{"Write", "Edit", "create", "edit"},
		typed: "/", context: topLevel,
	}
}
