package client

import (
	"path/filepath"
	"strings"
)

// Foreign reports whether another agent has sent the event: some agents read the hooks of
// Claude Code's settings and plugins, or their users copy them. Such an event may have
// Claude Code's names, and its session has none of our lists, so a hook does nothing with it
// and prints nothing, because other agents read other things into an answer.
//
// The marks were measured with Codex 0.169.0 and 0.171.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0
// and Qwen Code 0.15.10 and 0.24.4 (fact 128). An event without any of them counts as Claude
// Code's.
func (e *Event) Foreign() bool {
	switch {
	case e.Name == "":
		return e.hasAny("hookName", "hookEventName", "sessionId", "toolName", "agent_action_name")
	case isCamelCase(e.Name), strings.HasPrefix(e.Name, "Before"), strings.HasPrefix(e.Name, "After"):
		return true // as Copilot, Cursor and Gemini name their events
	case e.PromptID != "" && !strings.Contains(e.PromptID, "########"):
		return false // Qwen Code 0.24.4 alone sends another one: SESSION########NUMBER
	}
	return e.hasAny("timestamp", "turn_id") || strings.HasPrefix(filepath.Base(e.TranscriptPath), "rollout-")
}

func (e *Event) hasAny(names ...string) bool {
	for _, name := range names {
		if e.Has(name) {
			return true
		}
	}
	return false
}

// isCamelCase reports whether a name is like preToolUse.
func isCamelCase(name string) bool {
	return 'a' <= name[0] && name[0] <= 'z' && strings.ToLower(name) != name
}
