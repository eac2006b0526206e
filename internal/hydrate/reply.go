package hydrate

import (
	"fmt"
	"strings"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/claude/event"
)

// Bounds of an announcement. The client replaces a context of more than about
// 10,000 characters by a file reference.
const (
	announcedTasks = 20
	announcedRunes = 200 // of one subject
)

// Announcement tells the agent which tasks it has now. Newer clients load the
// task tools only on demand, so that an agent does not look by itself.
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

// clip keeps a text on one line and within announcedRunes.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	runes := []rune(s)
	if len(runes) <= announcedRunes {
		return s
	}
	return string(runes[:announcedRunes-1]) + "…"
}

// Reply is the hook's answer: go on, and with a context if there is something
// that the model should know.
func Reply(eventName, context string) event.Reply {
	r := event.GoOn()
	if context != "" {
		r.Specific = &event.Specific{HookEventName: eventName, AdditionalContext: context}
	}
	return r
}
