package locator

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/client"
)

// installed is an installation of the plugin that applies, with its directory.
type installed struct {
	client.Installation
	root client.Root
}

// inPlugin returns the plugin's command or skill of the name, of several plugins of one name
// that of the first. A command takes precedence (measured with 2.1.329, fact 51).
func (s *search) inPlugin() (candidate, bool) {
	if s.isPath() {
		return candidate{}, false
	}
	list := s.pluginsNamed()
	found, ok := s.firstOf(list)
	if !ok {
		return candidate{}, false
	}
	return s.runsFound(found, list)
}

// firstOf returns the command of the name in the first of the plugins that has one, else the
// skill.
func (s *search) firstOf(list []*client.Plugin) (first client.Skill, ok bool) {
	for _, p := range list {
		found, has := p.Find(s.skill)
		if has && (!ok || found.IsCommand && !first.IsCommand) {
			first, ok = found, true
		}
	}
	return first, ok
}

// runsFound records that the client runs the skill. If a command has no fsm.json and the
// plugins no skill of its name, it returns no folder, so that an fsm.json in another folder of
// the name is found later.
func (s *search) runsFound(skill client.Skill, list []*client.Plugin) (candidate, bool) {
	c := candidateOf(skill, RulePluginSkill)
	if !skill.IsCommand {
		s.runsSkill(c)
		return c, true
	}
	c.rule = RulePluginCommand
	if strings.Contains(skill.Name, ":") {
		c.rule = RuleNested
	}
	s.runsCommand(c.rule, skill.File)
	hasSkill := slices.ContainsFunc(list, func(p *client.Plugin) bool { return s.isSkill(skillIn(p.Dir, s.skill)) })
	if !hasSkill && !s.hasSpec(c) {
		return candidate{}, true
	}
	return c, true
}

// candidateOf returns the folder of a plugin's skill.
func candidateOf(skill client.Skill, rule Rule) candidate {
	return candidate{rule: rule, folder: skill.Folder(), plugin: keyOf(skill.Plugin), skill: &skill}
}

// keyOf returns what Result.Plugin has for the plugin.
func keyOf(p *client.Plugin) string {
	if name, isSession := strings.CutSuffix(p.Key, "@"+client.InlineMarketplace); isSession {
		return name
	}
	return p.Key
}

// withoutRegistry returns the error for a registry that cannot be used. A missing registry
// is not an error if PluginDirs is set: no other plugin may be installed.
func (s *search) withoutRegistry() error {
	if len(s.PluginDirs) > 0 && errors.Is(s.registryErr, fs.ErrNotExist) {
		return nil
	}
	return &RegistryError{s.command, s.registryErr}
}

// inInstallation returns the places in the installation that takes precedence.
func (s *search) inInstallation() []candidate {
	installations := s.preferred()
	if len(installations) == 0 {
		return append(s.inProject(), append(s.inUser(), s.inProjectDir()...)...) // as the requirements say
	}
	return s.inRoot(root{plugin: installations[0].Key, dir: installations[0].root.Dir})
}

// inRoot returns the places of the skill in a plugin's directory.
func (s *search) inRoot(r root) []candidate {
	all := []candidate{
		{rule: RulePluginSkill, folder: skillIn(r.dir, s.skill), plugin: r.plugin},
		{rule: RulePluginCommand, folder: filepath.Join(client.CommandsDir(r.dir), s.skill), plugin: r.plugin},
	}
	if strings.Contains(s.skill, ":") {
		all = append(all, candidate{rule: RuleNested, folder: s.nested(r.dir), plugin: r.plugin})
	}
	return all
}

func (s *search) nested(dir string) string {
	return filepath.Join(client.CommandsDir(dir), client.NestedPath(s.skill))
}

// openRegistry reads the registry once, and adds a step if it cannot be used.
func (s *search) openRegistry() {
	if s.registry != nil {
		return
	}
	s.registry, s.registryErr = client.ReadRegistry(s.FS, s.ConfigDir)
	if s.registryErr != nil && (s.plugin != "" || !errors.Is(s.registryErr, fs.ErrNotExist)) {
		s.problem(RuleRegistry, OutcomeFailed, s.registryErr)
	}
}

// preferred returns the installations of the plugin that apply in the start directory, one a key, in order of
// precedence. It remembers the result of prefer.
func (s *search) preferred() []installed {
	if s.registry != nil && !s.hasChosen { // else a command of the project has the name
		s.chosen, s.hasChosen = s.prefer(s.start()), true
	}
	return s.chosen
}

func (s *search) prefer(dir string) []installed {
	var applying []installed
	for _, in := range s.applying(dir) {
		root := s.registry.Root(in)
		if root.Err != nil {
			s.step(RuleMarketplace, in.InstallPath, OutcomeFailed, in.Key+": "+root.Err.Error()+"; reading the installed copy")
		}
		applying = append(applying, installed{in, root})
	}
	if len(applying) == 0 {
		s.step(RuleRegistry, client.RegistryPath(s.ConfigDir), OutcomeAbsent, "no installation of "+s.plugin+" applies")
		return nil
	}
	slices.SortStableFunc(applying, func(a, b installed) int { return client.Compare(a.Installation, b.Installation) })
	s.explain(applying)
	seen := map[string]bool{}
	return slices.DeleteFunc(applying, func(in installed) bool {
		again := seen[in.Key]
		seen[in.Key] = true
		return again
	})
}

// applying returns the plugin's installations that apply in dir and are not disabled. It
// adds a step for each of the others.
func (s *search) applying(dir string) []client.Installation {
	var applying []client.Installation
	for _, in := range s.registry.WithSources(s.switches(), s.plugin) {
		switch {
		case !s.registry.Takes(s.switches(), in, dir):
			s.skip(in, "its project "+in.ProjectPath+" is not that of "+quote(dir))
		case s.switches().Disabled(in.Key):
			s.skipDisabled(in)
		case s.notEnabled(in):
			s.skip(in, "the settings enable other plugins, but not this one")
		default:
			applying = append(applying, in)
		}
	}
	return applying
}

func (s *search) skip(in client.Installation, why string) {
	s.step(RuleRegistry, in.InstallPath, OutcomeSkipped, describe(in)+": "+why)
}

func (s *search) skipDisabled(in client.Installation) {
	_, path := s.switches().Lookup(in.Key)
	s.skip(in, "disabled in "+path)
}

// switches returns the settings, which it reads once: those of the project that the client
// was started in, or of cwd if that is unknown.
func (s *search) switches() *client.Settings {
	if s.settings != nil {
		return s.settings
	}
	project := s.ProjectDir
	if project == "" && filepath.IsAbs(s.cwd) {
		project = s.cwd
	}
	s.settings = client.ReadSettingsIn(s.FS, slices.DeleteFunc(client.SettingsFiles(s.FS, s.ConfigDir, project), func(path string) bool {
		return !s.loads(client.SourceOf(s.ConfigDir, path))
	}))
	for _, err := range s.settings.Problems() {
		s.problem(RuleSettings, OutcomeFailed, err)
	}
	return s.settings
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
		s.step(RuleRegistry, in.root.Dir, OutcomeSkipped, describe(in.Installation)+": another one takes precedence")
	}
}

func describe(in client.Installation) string {
	text := in.Key + ", scope " + in.Scope
	if !in.LastUpdated.IsZero() {
		text += ", updated " + in.LastUpdated.UTC().Format(time.RFC3339)
	}
	return text
}
