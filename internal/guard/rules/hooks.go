package rules

import (
	"embed"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// Files holds the configuration that is written into a plugin, at guard.ConfigFile. It sets
// every key to its default.
//
//go:embed config
var Files embed.FS

// Hooks returns one hook for each rule, which runs the given program. The matchers follow
// the plugin's name and configuration.
func Hooks(program, plugin string, config guard.Config) []settings.Hook {
	var hooks []settings.Hook
	for _, r := range allFor(configOf(config).withPlugin(plugin, config)) {
		hooks = append(hooks, settings.Hook{
			Event: r.Event, Matcher: r.Matcher, Command: program, Args: []string{"guard", r.ID}, Timeout: r.Timeout,
		})
	}
	return hooks
}
