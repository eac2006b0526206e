package locator

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// inSessionPlugin returns the places in the plugin's directory in PluginDirs.
func (s *search) inSessionPlugin() []candidate { return s.inRoot(*s.session) }

// findSession sets s.session to the first of PluginDirs that has the plugin's name.
func (s *search) findSession() {
	for _, p := range s.sessionPlugins() {
		switch {
		case p.plugin != s.plugin:
			s.step(RulePluginDir, p.dir, OutcomeSkipped, "this is the plugin "+quote(p.plugin))
		case s.session != nil:
			s.step(RulePluginDir, p.dir, OutcomeSkipped, "the directory before it has the same plugin name")
		default:
			s.step(RulePluginDir, p.dir, OutcomeFound, "")
			s.session = &p
		}
	}
}

// sessionPlugins returns the plugins of PluginDirs, which the client loads for one
// session (measured with 2.1.197, fact 29).
func (s *search) sessionPlugins() []root {
	var roots []root
	for _, dir := range s.PluginDirs {
		if !filepath.IsAbs(dir) {
			s.step(RulePluginDir, "", OutcomeSkipped, quote(dir)+" is not an absolute path")
			continue
		}
		if info, err := s.FS.Stat(dir); err != nil || !info.IsDir() {
			s.step(RulePluginDir, dir, OutcomeAbsent, "")
			continue
		}
		name, err := plugins.Name(s.FS, dir)
		if err != nil {
			s.step(RulePluginDir, dir, OutcomeFailed, err.Error()+"; using the folder's name")
		}
		roots = append(roots, root{plugin: name, dir: dir})
	}
	return roots
}
