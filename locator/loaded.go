package locator

import (
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// shared is what a search has read that does not depend on the name. The searches of one
// listing share it, so that each file is read once.
type shared struct {
	registry     *plugins.Registry // nil until it is needed, or if it cannot be used
	registryErr  error             // why it cannot be used
	registryRead bool
	settings     *plugins.Settings // nil until they are needed
	project      []string          // cached result of projectDirs
	rootList     []root            // cached result of allRoots
	skillRoots   []root            // cached result of roots
	session      []*plugins.Plugin // cached result of sessionPlugins
	sessionRead  bool
	every        []*plugins.Plugin // cached result of everyPlugin
	everyRead    bool
	installed    map[string]loaded // by key and directory
	nestedDirs   []string          // cached result of nestedRoots
	nestedAll    bool              // no limit left out nested directories
	nestedRead   bool
	own          []candidate // cached result of ownFolders
	ownRead      bool
	files        map[string]string                   // cached result of ownFiles
	realDirs     map[string]string                   // of folders of skills, without links
	skills       map[*plugins.Plugin][]plugins.Skill // cached result of everySkillOf
	keptSkills   []plugins.Skill                     // cached result of everyPluginSkill
	keptRead     bool
	ownNames     map[string]string // in frontmatters by folder, of a listing
	names        *nameIndex        // of a listing
}

// nameIndex has every name in a frontmatter, for a listing: it reads each file once, and its
// searches read none.
type nameIndex struct {
	own    map[string][]candidate // of the user, the project and added directories
	scoped map[string][]candidate // of plugins, with the plugin's name
	bare   map[string][]candidate // of plugins, without
	plugin map[string][]*plugins.Plugin
	full   map[string]plugins.Skill // of plugins, by their full names

	endings map[string]int // how many names of plugins end with the part after the last colon
}

// sessionPlugins returns the plugins of PluginDirs, which the client loads for one session
// (measured with 2.1.197, fact 29, and 2.1.329, fact 124).
func (s *search) sessionPlugins() []*plugins.Plugin {
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
	for _, one := range plugins.Expand(s.FS, dir) {
		p, err := plugins.LoadDir(s.FS, one, plugins.InlineMarketplace)
		if err != nil {
			s.step(RulePluginDir, one, OutcomeFailed, err.Error()+"; the client does not load the plugin")
		}
		switch {
		case err != nil && !s.Invoked:
		case p.IsOff(s.switches()):
			s.step(RulePluginDir, one, OutcomeSkipped, p.Key+" is not enabled")
		default:
			s.session = append(s.session, p)
		}
	}
}

// skillsPlugin returns the plugin that is in a folder of skills of the user or the project,
// if it has one there (measured with 2.1.329, fact 124).
func (s *search) skillsPlugin(folder string) (*plugins.Plugin, bool) {
	if found, _ := exists(s.FS, filepath.Join(folder, plugins.ManifestPath)); !found {
		return nil, false
	}
	p, err := plugins.LoadDir(s.FS, folder, plugins.SkillsMarketplace)
	if err != nil {
		s.step(RulePluginDir, folder, OutcomeFailed, err.Error()+"; the client does not load the plugin")
		return nil, false
	}
	return p, !p.IsOff(s.switches())
}

// skillsRoots are the directories whose folders of skills may be plugins: the user's and
// that of the start directory.
func (s *search) skillsRoots() []root {
	return slices.DeleteFunc(slices.Clone(s.roots()), func(r root) bool { return r.rule != RuleUser && r.rule != RuleProject })
}

// everyPlugin returns the plugins that the client loads, in its order: those of PluginDirs,
// installed ones, folders of skills. Of the first and the last kind it loads the first of
// each name; an installed one is not loaded beside one of PluginDirs of its name. If the
// registry cannot be used, everyPlugin returns the others and no error, because a name
// without a colon need not be that of a plugin's skill.
func (s *search) everyPlugin() []*plugins.Plugin {
	if s.everyRead {
		return s.every
	}
	s.everyRead = true
	first := map[string]bool{}
	for _, p := range s.sessionPlugins() {
		if !first[p.Name] {
			s.every, first[p.Name] = append(s.every, p), true
		}
	}
	for _, in := range s.enabledInstallations() {
		if p, err := s.loadStrictly(in); err == nil && !first[p.Name] {
			s.every = append(s.every, p)
		}
	}
	s.every = s.withNeeds(s.every)
	for _, p := range s.every {
		first[p.Name] = true
	}
	roots := s.skillsRoots()
	for _, c := range s.ownFolders() {
		if !slices.ContainsFunc(roots, func(r root) bool { return filepath.Dir(c.folder) == plugins.SkillsDir(r.dir) }) {
			continue
		}
		if p, ok := s.skillsPlugin(c.folder); ok && !first[p.Name] {
			s.every, first[p.Name] = append(s.every, p), true
		}
	}
	return s.every
}

// withNeeds leaves out the plugins that need one that is not loaded.
func (s *search) withNeeds(list []*plugins.Plugin) []*plugins.Plugin {
	for {
		loaded := map[string]bool{}
		for _, p := range list {
			loaded[p.Key] = true
		}
		left := slices.DeleteFunc(slices.Clone(list), func(p *plugins.Plugin) bool {
			missing := p.Needs(func(key string) bool { return loaded[key] })
			if missing != "" {
				s.step(RulePluginManifest, p.Dir, OutcomeSkipped, "the client does not load "+p.Key+", which needs "+missing)
			}
			return missing != ""
		})
		if len(left) == len(list) {
			return list
		}
		list = left
	}
}

// enabledInstallations returns the installations that the client loads, in its order.
func (s *search) enabledInstallations() []plugins.Installation {
	s.registryErr = s.openRegistry()
	for _, in := range s.registry.Applying(s.cwd, s.ProjectDir) {
		if s.switches().Disabled(in.Key) {
			s.skipDisabled(in)
		}
	}
	enabled := s.registry.Enabled(s.switches(), s.cwd, s.ProjectDir)
	slices.SortStableFunc(enabled, s.byRank)
	return slices.DeleteFunc(enabled, func(in plugins.Installation) bool { return s.notEnabled(in) })
}

// loaded is an installed plugin, or the reason why the client does not load it.
type loaded struct {
	*plugins.Plugin
	err error
}

// loadInstalled loads an installed plugin, once. One that has been invoked is loaded whatever
// its manifest has, because the client has loaded it.
func (s *search) loadInstalled(in plugins.Installation) (*plugins.Plugin, error) {
	p, err := s.loadStrictly(in)
	if s.Invoked {
		err = nil
	}
	return p, err
}

// loadStrictly is loadInstalled for any name.
func (s *search) loadStrictly(in plugins.Installation) (*plugins.Plugin, error) {
	at := in.Key + "\n" + in.InstallPath
	if known, ok := s.installed[at]; ok {
		return known.Plugin, known.err
	}
	p, err := s.registry.Load(in)
	if err != nil {
		s.problem(RulePluginManifest, OutcomeFailed, err)
	}
	if s.installed == nil {
		s.installed = map[string]loaded{}
	}
	s.installed[at] = loaded{p, err}
	return p, err
}

// notEnabled reports whether the client does not load the plugin, because the settings enable
// others but not this one. Settings that are not read may enable it, so a skill that has been
// invoked is searched for all the same.
func (s *search) notEnabled(in plugins.Installation) bool {
	enabled, _ := s.switches().Lookup(in.Key)
	return !s.Invoked && !enabled && s.switches().Says() && in.Scope != plugins.ScopeManaged
}

// pluginsNamed returns the plugins whose skills have names that begin with s.plugin, in the
// client's order.
func (s *search) pluginsNamed() []*plugins.Plugin {
	s.findSession()
	if s.names != nil {
		return s.names.plugin[s.plugin]
	}
	if s.inSession != nil {
		return []*plugins.Plugin{s.inSession}
	}
	s.registryErr = s.openRegistry()
	var named []*plugins.Plugin
	if s.registry != nil {
		for _, err := range s.registry.ProblemsOf(s.plugin) {
			s.problem(RuleRegistry, OutcomeSkipped, err)
		}
		for _, in := range s.preferred(s.start()) {
			if p, err := s.loadInstalled(in.Installation); err == nil && p.Name == s.plugin {
				named = append(named, p)
			}
		}
	}
	if !s.Invoked {
		return s.withRenamed(named)
	}
	for _, p := range s.sharing() {
		if p.Name == s.plugin && !slices.Contains(named, p) {
			named = append(named, p)
			s.sortByRank(named)
		}
	}
	if len(named) > 0 {
		return named
	}
	for _, r := range s.skillsRoots() {
		if p, ok := s.skillsPlugin(skillIn(r.dir, s.plugin)); ok && p.Name == s.plugin {
			return []*plugins.Plugin{p}
		}
	}
	return nil
}

// withRenamed adds the plugins of the name that have another one in their marketplace. A name
// that has been invoked is searched for in them last.
func (s *search) withRenamed(named []*plugins.Plugin) []*plugins.Plugin {
	all := s.pluginsRenamed()
	if s.switches().Says() { // the order is that of enabledPlugins
		return all
	}
	for _, p := range all {
		if !slices.ContainsFunc(named, func(known *plugins.Plugin) bool { return known.Key == p.Key }) {
			named = append(named, p)
		}
	}
	return named
}

// pluginsRenamed returns the plugins of the name that their marketplace or folder knows by
// another one. It reads the manifest of every plugin, so it comes last.
func (s *search) pluginsRenamed() []*plugins.Plugin {
	if s.names != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.everyPlugin()), func(p *plugins.Plugin) bool { return p.Name != s.plugin })
}
