// Package planning is what a plugin needs to have its workflow guarded: the
// hooks by which the client asks the guards, and the configuration they go by.
// It is data; it decides nothing and writes nothing.
package planning

import (
	"embed"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// Files holds the configuration as the guards look for it in a plugin,
// config/planning-config.yaml, with every default written out.
//
//go:embed config
var Files embed.FS

// Hooks returns one hook a guard, run by the program given.
func Hooks(program string) []settings.Hook {
	var hooks []settings.Hook
	for _, g := range guard.All() {
		hooks = append(hooks, settings.Hook{
			Event: g.Event, Matcher: g.Matcher, Command: program, Args: []string{"guard", g.ID}, Timeout: g.Timeout,
		})
	}
	return hooks
}

// SkillFiles returns the hook that keeps the model from the workflow files of
// skills, which nobody gets unasked.
func SkillFiles(program string) []settings.Hook {
	return []settings.Hook{{
		Event: event.PreToolUse, Matcher: guard.SkillFilesMatcher, Command: program, Args: []string{"guard", "skill-files"}, Timeout: 3,
	}}
}
