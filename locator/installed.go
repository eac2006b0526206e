package locator

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// installed is an installation of the plugin that applies, with what decides which one takes
// precedence.
type installed struct {
	plugins.Installation
	root     plugins.Root
	hasSkill bool // even without an fsm.json
	rank     int  // its place in enabledPlugins
}

// inPlugin returns the plugin's command or skill of the name. A command takes precedence
// (measured with 2.1.329, fact 51). But if neither the command has an fsm.json nor the
// folder in skills/ a SKILL.md, inPlugin returns nothing, so that an fsm.json in that folder
// is found later.
func (s *search) inPlugin() (candidate, bool) {
	if s.isPath() {
		return candidate{}, false
	}
	r, ok := s.pluginRoot()
	if !ok {
		return candidate{}, false
	}
	skill := candidate{RulePluginSkill, skillIn(r.dir, s.skill), r.plugin}
	command := candidate{RulePluginCommand, s.nested(r.dir), r.plugin}
	if strings.Contains(s.skill, ":") {
		command.rule = RuleNested
	}
	isSkill, isCommand := s.isSkill(skill.folder), isFile(s.FS, command.folder+".md")
	switch {
	case isCommand && (isSkill || len(s.withSpec([]candidate{command})) > 0):
		s.runsCommand(command.rule, command.folder+".md")
		return command, true
	case isSkill:
		s.runsSkill(skill)
		return skill, true
	}
	return candidate{}, false
}

// pluginRoot returns the directory of the plugin that the client loads. If the registry
// cannot be used, it sets s.registryErr.
func (s *search) pluginRoot() (root, bool) {
	if s.registry == nil && s.registryErr == nil && s.session == nil && !s.isPath() {
		if s.findSession(); s.session == nil {
			s.registryErr = s.openRegistry()
		}
	}
	if s.session != nil {
		return *s.session, true
	}
	if s.registry == nil {
		return root{}, false
	}
	if in := s.preferred(s.start()); in != nil {
		return root{plugin: in.Key, dir: in.root.Dir}, true
	}
	return root{}, false
}

// withoutRegistry returns the error for a registry that cannot be used. A missing registry
// is not an error if PluginDirs is set: no other plugin may be installed.
func (s *search) withoutRegistry() error {
	if len(s.PluginDirs) > 0 && errors.Is(s.registryErr, fs.ErrNotExist) {
		return nil
	}
	return &RegistryError{s.command, s.registryErr}
}

// inInstallation returns the places in the installation that takes precedence in
// cwd.
func (s *search) inInstallation() []candidate {
	here := s.preferred(s.cwd)
	if here == nil {
		return nil
	}
	return s.inRoot(root{plugin: here.Key, dir: here.root.Dir})
}

// forProjectDir returns the places that apply in CLAUDE_PROJECT_DIR, in case the model has
// changed cwd to a directory where other plugins apply. It returns none if the same
// installation was searched for cwd.
func (s *search) forProjectDir() []candidate {
	if !s.hasProjectDir() {
		return nil
	}
	here, there := s.preferred(s.cwd), s.preferred(s.ProjectDir)
	switch {
	case there == nil && here == nil:
		return s.inProjectDir()
	case there == nil, here != nil && here.Installation == there.Installation:
		return nil
	}
	return s.inRoot(root{plugin: there.Key, dir: there.root.Dir})
}

// inRoot returns the places of the skill in a plugin's directory.
func (s *search) inRoot(r root) []candidate {
	all := []candidate{
		{RulePluginSkill, skillIn(r.dir, s.skill), r.plugin},
		{RulePluginCommand, filepath.Join(plugins.CommandsDir(r.dir), s.skill), r.plugin},
	}
	if strings.Contains(s.skill, ":") {
		all = append(all, candidate{RuleNested, s.nested(r.dir), r.plugin})
	}
	return all
}

func (s *search) nested(dir string) string {
	return filepath.Join(plugins.CommandsDir(dir), plugins.NestedPath(s.skill))
}

// openRegistry reads the registry and adds a step for each problem.
func (s *search) openRegistry() error {
	registry, err := plugins.ReadRegistry(s.FS, s.ConfigDir)
	if err != nil {
		s.problem(RuleRegistry, OutcomeFailed, err)
		return err
	}
	s.registry = registry
	for _, err := range registry.Problems() {
		s.problem(RuleRegistry, OutcomeSkipped, err)
	}
	return nil
}

// preferred returns the installation of the plugin that takes precedence in dir, or nil if
// none applies there. It remembers the result of prefer.
func (s *search) preferred(dir string) *installed {
	if in, ok := s.chosen[dir]; ok {
		return in
	}
	if s.chosen == nil {
		s.chosen = map[string]*installed{}
	}
	s.chosen[dir] = s.prefer(dir)
	return s.chosen[dir]
}

func (s *search) prefer(dir string) *installed {
	var applying []installed
	for _, in := range s.applying(dir) {
		root := s.registry.Root(in)
		if root.Err != nil {
			s.step(RuleMarketplace, in.InstallPath, OutcomeFailed, in.Key+": "+root.Err.Error()+"; reading the installed copy")
		}
		applying = append(applying, installed{in, root, s.hasSkill(root.Dir), s.switches().Rank(in.Key)})
	}
	if len(applying) == 0 {
		s.step(RuleRegistry, plugins.RegistryPath(s.ConfigDir), OutcomeAbsent, "no installation of "+s.plugin+" applies")
		return nil
	}
	slices.SortStableFunc(applying, compare)
	s.explain(applying)
	return &applying[0]
}

// applying returns the plugin's installations that apply in dir and are not disabled. It
// adds a step for each of the others.
func (s *search) applying(dir string) []plugins.Installation {
	var applying []plugins.Installation
	for _, in := range s.registry.Installations() {
		switch {
		case in.Plugin != s.plugin:
		case !s.registry.Applies(in, dir) && !s.registry.EnabledElsewhere(s.switches(), in, dir):
			s.skip(in, "its project "+in.ProjectPath+" does not contain "+quote(dir))
		case s.switches().Disabled(in.Key):
			s.skipDisabled(in)
		default:
			applying = append(applying, in)
		}
	}
	return applying
}

func (s *search) skip(in plugins.Installation, why string) {
	s.step(RuleRegistry, in.InstallPath, OutcomeSkipped, describe(in)+": "+why)
}

func (s *search) skipDisabled(in plugins.Installation) {
	_, path := s.switches().Lookup(in.Key)
	s.skip(in, "disabled in "+path)
}

// switches returns the settings, which it reads once: those of the project that the client
// was started in, or of cwd if that is unknown.
func (s *search) switches() *plugins.Settings {
	if s.settings != nil {
		return s.settings
	}
	project := s.ProjectDir
	if project == "" && filepath.IsAbs(s.cwd) {
		project = s.cwd
	}
	s.settings = plugins.ReadSettings(s.FS, s.ConfigDir, project)
	for _, err := range s.settings.Problems() {
		s.problem(RuleSettings, OutcomeFailed, err)
	}
	return s.settings
}

// hasSkill reports whether the plugin in dir has the skill or command.
func (s *search) hasSkill(dir string) bool {
	paths := []string{s.nested(dir) + ".md"}
	for _, c := range s.inRoot(root{dir: dir}) {
		paths = append(paths, c.folder)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		found, _ := exists(s.FS, path)
		return found
	})
}

// compare orders installations by their place in enabledPlugins (measured with 2.1.329,
// fact 51), then by scope, then those with the skill first, then by plugins.Compare.
func compare(a, b installed) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), plugins.CompareScopes(a.Installation, b.Installation), compareSkill(a, b), plugins.Compare(a.Installation, b.Installation))
}

func compareSkill(a, b installed) int {
	switch {
	case a.hasSkill == b.hasSkill:
		return 0
	case a.hasSkill:
		return -1
	}
	return 1
}

// explain adds a step for each installation: why it was chosen or skipped.
func (s *search) explain(ordered []installed) {
	best := ordered[0]
	detail := describe(best.Installation)
	if best.root.Live {
		detail += ", in the source tree of its marketplace"
	}
	s.step(RuleRegistry, best.root.Dir, OutcomeFound, detail)
	for _, in := range ordered[1:] {
		s.step(RuleRegistry, in.root.Dir, OutcomeSkipped, describe(in.Installation)+": "+whySkipped(best, in))
	}
}

// whySkipped returns the reason why best takes precedence over in.
func whySkipped(best, in installed) string {
	switch {
	case best.rank != in.rank:
		return "the settings enable " + best.Key + " first"
	case best.Scope != in.Scope:
		return "scope " + best.Scope + " takes precedence"
	case best.hasSkill != in.hasSkill:
		return "it does not have the skill"
	case !best.LastUpdated.Equal(in.LastUpdated):
		return best.Key + " was updated later"
	}
	return best.Key + " takes precedence"
}

func describe(in plugins.Installation) string {
	text := in.Key + ", scope " + in.Scope
	if !in.LastUpdated.IsZero() {
		text += ", updated " + in.LastUpdated.UTC().Format(time.RFC3339)
	}
	return text
}
