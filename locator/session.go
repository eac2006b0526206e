package locator

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// sessionPlugin is a plugin the client was given as a directory, for the time
// it runs.
type sessionPlugin struct {
	name, dir string
}

// inPluginDirs looks for the skill in the plugin directories and reports
// whether one of them is the plugin, with the skill or without.
func (s *search) inPluginDirs(plugin, skill string) (held bool) {
	for _, p := range s.sessionPlugins() {
		if p.name != plugin {
			s.step(RulePluginDir, p.dir, Skipped, "its plugin is "+quote(p.name))
			continue
		}
		held = true
		s.step(RulePluginDir, p.dir, Found, "")
		if s.ofPlugin(p.name, s.inRoot(p.dir, skill)) {
			return true
		}
	}
	return held
}

// sessionPlugins returns the plugin directories that are there.
func (s *search) sessionPlugins() []sessionPlugin {
	var plugins []sessionPlugin
	for _, dir := range s.PluginDirs {
		switch {
		case !filepath.IsAbs(dir):
			s.step(RulePluginDir, "", Skipped, quote(dir)+" is not an absolute path")
		case !isDir(s.Fs, dir):
			s.step(RulePluginDir, dir, Absent, "")
		default:
			name, err := pluginName(s.Fs, dir)
			if err != nil {
				s.step(RulePluginDir, dir, Failed, err.Error()+"; taking the folder's name")
			}
			plugins = append(plugins, sessionPlugin{name, dir})
		}
	}
	return plugins
}

// pluginName returns the name in the plugin's manifest. A plugin that
// has no such thing goes by the name of its folder.
func pluginName(fsys FS, dir string) (string, error) {
	folder := filepath.Base(dir)
	path := filepath.Join(dir, ".claude-plugin", "plugin.json")
	manifest, err := readObject(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil
	}
	if err != nil {
		return folder, err
	}
	name, err := manifest.text("name")
	if err != nil {
		return folder, &FileError{path, err}
	}
	if name == "" {
		return folder, nil
	}
	return name, nil
}
