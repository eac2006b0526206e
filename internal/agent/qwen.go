package agent

import (
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Qwen is Qwen Code, measured with 0.24.4.
//
// It comes from the Gemini CLI, has Claude Code's names of events and its answers, and counts
// time limits in milliseconds. UserPromptSubmit comes before every request to the model, with
// an empty prompt after the first. In -p SessionStart does not come (0.15.10) or tells the model
// nothing (0.24.4).
func Qwen() *Agent {
	return &Agent{
		Name: "qwen", Title: "Qwen Code", packages: []string{"@qwen-code/qwen-code"}, variables: []string{"QWEN_CODE"},
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"UserPromptSubmit", "", Prompt},
			{"PreToolUse", "", Before},
			{"PostToolUse", "skill", After},
			{"Stop", "", Stop},
		},
		Holds:       maxHolds,
		TimeoutUnit: time.Millisecond,
		Hooks:       Files{User: ".qwen/settings.json", Project: ".qwen/settings.json", Comments: true},
		Server:      Files{User: ".qwen/settings.json", Project: ".qwen/settings.json"}, ServerPath: []string{"mcpServers"},
		Home:    Home{".qwen", "QWEN_HOME"},
		Skills:  Dirs{Project: []string{".qwen/skills", ".agents/skills"}, User: []string{".qwen/skills", ".agents/skills"}, Hidden: true},
		heading: heading{named: filled, described: filled}, plugins: below(".qwen/extensions"), scoped: true,
		ownsEvent: func(e *client.Event) bool { return strings.Contains(e.TranscriptPath, "/.qwen/") },
		skillTool: tool{"skill", "skill"},
		shells:    []string{"run_shell_command"}, edits: []string{"write_file", "edit", "replace"},
		sent:  "submitted_prompt",
		typed: "/",
	}
}
