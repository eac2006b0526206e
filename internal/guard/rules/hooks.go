package rules

import (
	"embed"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// Files holds the plugin's configuration, with every default written out, at the
// path where the guards read it in a plugin.
//
//go:embed config
var Files embed.FS

// Hooks returns one hook for each rule, which runs the given program.
func Hooks(program string) []settings.Hook {
	var hooks []settings.Hook
	for _, r := range All() {
		hooks = append(hooks, settings.Hook{
			Event: r.Event, Matcher: r.Matcher, Command: program, Args: []string{"guard", r.ID}, Timeout: r.Timeout,
		})
	}
	return hooks
}
