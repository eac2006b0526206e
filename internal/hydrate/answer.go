package hydrate

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// Limits of an announcement: the client replaces a context of more than about
// 10,000 characters by a reference to a file (fact 22).
const (
	announcedTasks = 20
	announcedRunes = 200 // of one subject
)

// Announcement tells the agent which tasks it has now. Newer clients load the task
// tools only on demand (fact 12), so an agent does not look by itself.
func Announcement(command string, created []fsmspec.Creation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The workflow of the skill %s is in your task list now:\n", clip(command))
	for i, c := range created {
		if i == announcedTasks {
			fmt.Fprintf(&b, "… and %d more\n", len(created)-i)
			break
		}
		fmt.Fprintf(&b, "#%d %s\n", c.ID, clip(c.Subject))
	}
	b.WriteString("Use TaskList to see them with their dependencies, and keep their status up to date with TaskUpdate as you work; if these tools are not at hand, load them with ToolSearch.")
	return b.String()
}

// clip returns a text on one line, cut to announcedRunes.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= announcedRunes {
		return s
	}
	return string(runes[:announcedRunes-1]) + "…"
}

// Failed is what the hook answers after a failure. The person's prompt is stopped
// only if the skill is known to have an fsm.json: UserPromptExpansion fires for
// every command, most of which have no tasks (fact 19).
func Failed(r Request, result Result, message, hint string) event.Answer {
	return event.Failure{
		Message: message,
		Hint:    hint,
		Context: "fsmtx could not look for the tasks of this skill, so none were put into the task list: " + message,
		Stop:    result.Spec != "",
	}.Answer(r.Event)
}
