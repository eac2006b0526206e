package agent

import (
	"time"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
)

// Claude is Claude Code.
//
// It alone keeps a list of tasks in files, asks its person when a hook wants that, and names the session to all that it
// starts. Rules of steps have its names of tools, and every hook of this program answers in its form first. Where it looks for
// skills is in package locator, and what fsmtx install writes into its settings is in package settings.
func Claude() *Agent {
	return &Agent{
		Name: caller.Claude, Title: "Claude Code",
		Native: true, Session: true, Asks: true, Updates: "TaskUpdate", Questions: client.QuestionTool,
		Looks: []string{"TaskCreate", "TaskGet", "TaskList"},
		Registrations: []Registration{
			{"SessionStart", "", Start},
			{"UserPromptSubmit", "", Prompt},
			{"UserPromptExpansion", "", Typed},
			{"PreToolUse", "", Before},
			{"PostToolUse", "", After},
			{"", "", After}, // as the requirements have it
			{"PostToolUseFailure", "", Failed},
			{"TaskCompleted", "", Approved},
			{"Stop", "", Stop},
			{"SubagentStop", "", SubStop},
		},
		TimeoutUnit: time.Second,
		ownsEvent:   func(e *client.Event) bool { return !e.Foreign() },
		skillTool:   tool{name: "Skill"},
		shells:      []string{"Bash", "PowerShell"}, edits: []string{"Write", "Edit", "MultiEdit", "NotebookEdit"},
	}
}
