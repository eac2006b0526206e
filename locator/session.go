package locator

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// inPluginDirs returns the places in those plugin directories that are the plugin.
func (s *search) inPluginDirs() []candidate {
	var all []candidate
	for _, p := range s.sessionPlugins() {
		if p.plugin != s.plugin {
			s.step(RulePluginDir, p.dir, OutcomeSkipped, "this is the plugin "+quote(p.plugin))
			continue
		}
		s.inPluginDir = true
		s.step(RulePluginDir, p.dir, OutcomeFound, "")
		all = append(all, s.inRoot(p)...)
	}
	return all
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
		roots = append(roots, root{name, dir})
	}
	return roots
}
