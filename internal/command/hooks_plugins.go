package command

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"

	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/hooks/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// clientPlugins returns the plugins that Claude Code loads in a project, each
// from where the client reads it.
func clientPlugins(s terminal.Streams, project string) func() ([]settings.Plugin, error) {
	return func() ([]settings.Plugin, error) {
		config, err := claude.ConfigDir(s.Getenv)
		if err != nil {
			return nil, err
		}
		registry, err := locator.ReadRegistry(locator.OS{}, config)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var plugins []settings.Plugin
		for _, in := range registry.Enabled(locator.ReadSettings(locator.OS{}, config, project), project) {
			plugins = append(plugins, settings.Plugin{
				Name: in.Key,
				Root: registry.Root(in).Dir,
				Data: filepath.Join(config, "plugins", "data", dataName(in.Key)),
			})
		}
		return plugins, nil
	}
}

// dataName is a plugin's key as the client names its data directory.
func dataName(key string) string {
	return regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(key, "-")
}
