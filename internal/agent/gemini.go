package agent

import (
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Gemini is the Gemini CLI, measured with 0.61.0.
//
// It has names of its own for events and tools, counts time limits in milliseconds, reads a
// refusal at the top level, and never ends a turn whose hook always blocks. Its shell tool
// refuses $(…) and backticks, so no text may ask the model to type them.
func Gemini() *Agent {
	return &Agent{
		Name: "gemini", Title: "Gemini CLI", packages: []string{"@google/gemini-cli"}, variables: []string{"GEMINI_CLI"},
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"BeforeAgent", "", Prompt},
			{"BeforeTool", "", Before},
			{"AfterTool", "activate_skill", After},
			{"AfterAgent", "", Stop},
		},
		Holds:       maxHolds,
		TimeoutUnit: time.Millisecond,
		Hooks:       Files{User: ".gemini/settings.json", Project: ".gemini/settings.json", Comments: true},
		Server:      Files{User: ".gemini/settings.json", Project: ".gemini/settings.json"}, ServerPath: []string{"mcpServers"},
		Demands: Demands{
			Project: "Gemini CLI reads this file only in a folder that you trust (/permissions trust, or ~/.gemini/trustedFolders.json); " +
				"--skip-trust alone is not enough",
		},
		Home:    Home{"", "GEMINI_CLI_HOME"},
		Skills:  Dirs{Project: []string{".gemini/skills", ".agents/skills"}, User: []string{".gemini/skills", ".agents/skills"}},
		heading: heading{named: filled, described: given},
		plugins: below(".gemini/extensions"),
		ownsEvent: func(e *client.Event) bool {
			return strings.HasPrefix(e.Name, "Before") || strings.HasPrefix(e.Name, "After") || strings.Contains(e.TranscriptPath, "/.gemini/")
		},
		skillTool: tool{"activate_skill", "name"},
		shells:    []string{"run_shell_command"}, edits: []string{"write_file", "replace"},
		said:  "prompt_response",
		typed: "/", denies: topLevel,
	}
}
