package rules

import (
	"embed"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/guard"
)

// Files holds the plugin's configuration, with every default written out, at the
// path where the guards read it in a plugin.
//
//go:embed config
var Files embed.FS

// Hooks returns one hook for each rule, which runs the given program, with the
// matchers that the plugin's name and its configuration give.
func Hooks(program, plugin string, config guard.Config) []settings.Hook {
	var hooks []settings.Hook
	for _, r := range allFor(configOf(config).named(plugin, config)) {
		hooks = append(hooks, settings.Hook{
			Event: r.Event, Matcher: r.Matcher, Command: program, Args: []string{"guard", r.ID}, Timeout: r.Timeout,
		})
	}
	return hooks
}
