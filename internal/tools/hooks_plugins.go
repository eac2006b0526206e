package tools

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// clientPlugins returns a function that lists the plugins that Claude Code loads in a
// project, each with the directory from which the client reads it.
func clientPlugins(s terminal.Streams, project string) func() ([]hooks.Plugin, error) {
	return func() ([]hooks.Plugin, error) {
		config, err := client.ConfigDir(s.Getenv)
		if err != nil {
			return nil, err
		}
		files := locator.OS{}
		registry, err := client.ReadRegistry(files, config)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var enabled []hooks.Plugin
		for _, in := range registry.Enabled(client.ReadSettings(files, config, project), project) {
			enabled = append(enabled, hooks.Plugin{
				Name: in.Key,
				Root: registry.Root(in).Dir,
				Data: client.DataDir(config, in.Key),
			})
		}
		return enabled, nil
	}
}

// withPluginDirs adds the plugins in dirs, the values of --plugin-dir. Each is called
// by the name in its manifest, with "inline" in place of a marketplace.
func withPluginDirs(s terminal.Streams, installed func() ([]hooks.Plugin, error), dirs []string) func() ([]hooks.Plugin, error) {
	if len(dirs) == 0 {
		return installed
	}
	return func() ([]hooks.Plugin, error) {
		all, err := installed()
		for _, dir := range dirs {
			root, absErr := filepath.Abs(dir)
			err = errors.Join(err, absErr)
			name, _ := client.Name(locator.OS{}, root) // without a manifest: the name of the directory
			plugin := hooks.Plugin{Name: name + "@inline", Root: root}
			if config, err := client.ConfigDir(s.Getenv); err == nil {
				plugin.Data = client.DataDir(config, plugin.Name)
			}
			all = append(all, plugin)
		}
		return all, err
	}
}
