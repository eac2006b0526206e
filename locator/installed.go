package locator

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// installed is an installation of the plugin that applies, and what is on disk.
type installed struct {
	plugins.Installation
	root     plugins.Root
	hasSkill bool // with an fsm.json or without
}

// inInstallation returns the places in the installation that takes precedence in
// cwd.
func (s *search) inInstallation() []candidate {
	s.here = s.choose(s.cwd)
	if s.here == nil {
		return nil
	}
	return s.inRoot(root{s.here.Key, s.here.root.Dir})
}

// forProjectDir repeats the choice for CLAUDE_PROJECT_DIR, for a cwd that has left
// the project and so its plugins. The installation of cwd is not searched again.
func (s *search) forProjectDir() []candidate {
	if !s.hasProjectDir() || s.inPluginDir {
		return nil
	}
	s.step(RuleProjectDir, s.ProjectDir, OutcomeFound, "which installation of "+s.plugin+" takes precedence there")
	there := s.choose(s.ProjectDir)
	switch {
	case there == nil && s.here == nil:
		return s.inProjectDir()
	case there == nil, s.here != nil && s.here.Installation == there.Installation:
		return nil
	}
	return s.inRoot(root{there.Key, there.root.Dir})
}

// inRoot returns the places of the skill in the directory of its plugin.
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

// choose returns the installation of the plugin that takes precedence in dir, nil if
// none applies there.
func (s *search) choose(dir string) *installed {
	var applying []installed
	for _, in := range s.applying(dir) {
		root := s.registry.Root(in)
		if root.Err != nil {
			s.step(RuleMarketplace, in.InstallPath, OutcomeFailed, in.Key+": "+root.Err.Error()+"; reading the installed copy")
		}
		applying = append(applying, installed{in, root, s.hasSkill(root.Dir)})
	}
	if len(applying) == 0 {
		s.step(RuleRegistry, plugins.RegistryPath(s.ConfigDir), OutcomeAbsent, "no installation of "+s.plugin+" applies")
		return nil
	}
	slices.SortStableFunc(applying, compare)
	s.explain(applying)
	return &applying[0]
}

// applying returns the plugin's installations that apply in dir and are not
// disabled, and adds a step for each of the others.
func (s *search) applying(dir string) []plugins.Installation {
	var applying []plugins.Installation
	for _, in := range s.registry.Installations() {
		switch {
		case in.Plugin != s.plugin:
		case !s.registry.Applies(in, dir):
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

// switches reads the settings once: those of the project that the client was started
// in, or of cwd if that is unknown.
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

// compare orders installations by scope, then those with the skill first, then as
// the registry does.
func compare(a, b installed) int {
	return cmp.Or(plugins.CompareScopes(a.Installation, b.Installation), compareSkill(a, b), plugins.Compare(a.Installation, b.Installation))
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

// whySkipped says what decided between best and in.
func whySkipped(best, in installed) string {
	switch {
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
