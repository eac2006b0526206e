package locator

import (
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/client"
)

// shared is what a search has read that does not depend on the name. The searches of one
// listing share it, so that each file is read once.
type shared struct {
	registry     *client.Registry // nil until it is needed
	registryErr  error            // why it cannot be used
	settings     *client.Settings // nil until they are needed
	project      []string         // cached result of projectDirs
	rootList     []root           // cached result of roots
	session      []*client.Plugin // cached result of sessionPlugins
	sessionRead  bool
	every        []*client.Plugin // cached result of everyPlugin
	everyRead    bool
	installed    map[client.Installation]loaded
	nestedDirs   []string // cached result of nestedRoots
	nestedAll    bool     // no limit left out nested directories
	nestedRead   bool
	pluginSkills []client.Skill // cached result of everyPluginSkill
	skillsRead   bool
	names        map[string]string    // in frontmatters, by folder
	byOwn        map[string]candidate // of the user and the project, by the names in their frontmatters; nil until needed
	byBare       map[string]candidate // of plugins
}

// sessionPlugins returns the plugins of PluginDirs, which the client loads for one session
// (measured with 2.1.197, fact 29, and 2.1.329, fact 124).
func (s *search) sessionPlugins() []*client.Plugin {
	if !s.sessionRead {
		s.sessionRead = true
		for _, dir := range s.PluginDirs {
			s.loadSession(dir)
		}
	}
	return s.session
}

func (s *search) loadSession(dir string) {
	if !filepath.IsAbs(dir) {
		s.step(RulePluginDir, "", OutcomeSkipped, quote(dir)+" is not an absolute path")
		return
	}
	info, err := s.FS.Stat(dir)
	switch {
	case err != nil:
		s.step(RulePluginDir, dir, OutcomeAbsent, "")
		return
	case !info.IsDir():
		s.step(RulePluginDir, dir, OutcomeSkipped,
			"it is not a directory; the client unpacks an archive in a directory of the session, so its workflows come "+
				"with the agent's next task tool")
		return
	}
	p, err := client.LoadDir(s.FS, dir)
	if err != nil {
		s.step(RulePluginDir, dir, OutcomeFailed, err.Error()+"; the client does not load the plugin")
	}
	switch {
	case err != nil && !s.Invoked:
	case s.switches().Disabled(p.Key):
		s.step(RulePluginDir, dir, OutcomeSkipped, p.Key+" is not enabled")
	default:
		s.session = append(s.session, p)
	}
}

// findSession sets s.inSession to the first of PluginDirs that has the plugin's name.
func (s *search) findSession() {
	if s.sought {
		return
	}
	s.sought = true
	for _, p := range s.sessionPlugins() {
		switch {
		case p.Name != s.plugin:
			s.step(RulePluginDir, p.Dir, OutcomeSkipped, "this is the plugin "+quote(p.Name))
		case s.inSession != nil:
			s.step(RulePluginDir, p.Dir, OutcomeSkipped, "the directory before it has the same plugin name")
		default:
			s.step(RulePluginDir, p.Dir, OutcomeFound, "")
			s.inSession = p
		}
	}
}

// everyPlugin returns the plugins that the client loads, in its order: those of PluginDirs, then installed ones. An
// installed one is not loaded beside one of PluginDirs of its name. If the
// registry cannot be used, everyPlugin returns the others and no error, because a name
// without a colon need not be that of a plugin's skill.
func (s *search) everyPlugin() []*client.Plugin {
	if s.everyRead {
		return s.every
	}
	s.everyRead = true
	given := map[string]bool{}
	for _, p := range s.sessionPlugins() {
		if !given[p.Name] {
			s.every, given[p.Name] = append(s.every, p), true
		}
	}
	for _, in := range s.enabledInstallations() {
		if p, err := s.load(in); err == nil && !given[p.Name] {
			s.every = append(s.every, p)
		}
	}
	return s.every
}

// enabledInstallations returns the installations that the client loads, in its order.
func (s *search) enabledInstallations() []client.Installation {
	s.openRegistry()
	for _, in := range s.registry.Applying(s.cwd, s.ProjectDir) {
		if s.switches().Disabled(in.Key) {
			s.skipDisabled(in)
		}
	}
	enabled := s.registry.Enabled(s.switches(), s.cwd, s.ProjectDir)
	return slices.DeleteFunc(enabled, s.notEnabled)
}

// loaded is an installed plugin, or the reason why the client does not load it.
type loaded struct {
	*client.Plugin
	err error
}

// load loads an installed plugin, once. One that has been invoked is loaded whatever
// its manifest has, because the client has loaded it.
func (s *search) load(in client.Installation) (*client.Plugin, error) {
	known, ok := s.installed[in]
	if !ok {
		known.Plugin, known.err = s.registry.Load(in)
		if known.err != nil {
			s.problem(RulePluginManifest, OutcomeFailed, known.err)
		}
		if s.installed == nil {
			s.installed = map[client.Installation]loaded{}
		}
		s.installed[in] = known
	}
	if s.Invoked {
		return known.Plugin, nil
	}
	return known.Plugin, known.err
}

// notEnabled reports whether the client does not load the plugin, because the settings enable
// others but not this one. Settings that are not read may enable it, so a skill that has been
// invoked is searched for all the same.
func (s *search) notEnabled(in client.Installation) bool {
	enabled, _ := s.switches().Lookup(in.Key)
	return !s.Invoked && !enabled && s.switches().Says() && in.Scope != client.ScopeManaged
}

// pluginsNamed returns the plugins whose skills have names that begin with s.plugin, in the
// client's order. If the manifest of one gives it another name than its marketplace or folder does, all are read.
func (s *search) pluginsNamed() (named []*client.Plugin) {
	s.findSession()
	if s.inSession != nil {
		return []*client.Plugin{s.inSession}
	}
	if s.openRegistry(); s.registryErr == nil {
		for _, err := range s.registry.Problems() {
			s.problem(RuleRegistry, OutcomeSkipped, err)
		}
	}
	for _, in := range s.preferred() {
		if p, err := s.load(in.Installation); err == nil && p.Name == s.plugin {
			named = append(named, p)
		}
	}
	if len(named) > 0 {
		return named
	}
	return slices.DeleteFunc(slices.Clone(s.everyPlugin()), func(p *client.Plugin) bool { return p.Name != s.plugin })
}
