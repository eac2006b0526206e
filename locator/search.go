package locator

import (
	"path/filepath"
	"strings"
)

// specName is what is looked for in the folder of a skill.
const specName = "fsm.json"

// search is one lookup under way.
type search struct {
	*Locator
	cwd      string
	result   Result
	registry *Registry // once a plugin is looked for
	settings *Settings // once an installation of it applies
}

// plainSkill looks for a name without a colon.
func (s *search) plainSkill(name string) {
	switch {
	case s.inFolders(name):
	case s.inProjectDir(name):
	case s.isFolder(name):
	default:
		s.byAlias(name)
	}
}

// pluginSkill looks for the skill of a plugin. The documented lookup comes
// first; without a registry only a plugin directory can answer.
func (s *search) pluginSkill(plugin, skill string) error {
	if err := s.openRegistry(); err != nil {
		if s.inPluginDirs(plugin, skill) {
			return nil
		}
		return &RegistryError{s.result.Command, err}
	}
	here, installed := s.choose(plugin, skill, s.cwd)
	switch {
	case installed && s.inPlugin(here, skill):
	case !installed && s.inFolders(skill):
	case s.inPluginDirs(plugin, skill):
	default:
		s.fromProjectDir(plugin, skill, here, installed)
	}
	return nil
}

// fromProjectDir takes the steps of cwd for CLAUDE_PROJECT_DIR, where cwd has
// left the project and so the project's plugins. What was chosen for cwd need
// not be looked through again.
func (s *search) fromProjectDir(plugin, skill string, here candidate, installed bool) {
	if !s.hasProjectDir() {
		return
	}
	s.step(RuleProjectDir, s.ProjectDir, Found, "which installation of "+plugin+" goes first there")
	there, applies := s.choose(plugin, skill, s.ProjectDir)
	switch {
	case applies && installed && there.Installation == here.Installation:
	case applies:
		s.inPlugin(there, skill)
	case !installed:
		s.inProjectDir(skill)
	}
}

// inPlugin looks for the skill in the installation that goes first.
func (s *search) inPlugin(c candidate, skill string) bool {
	return s.ofPlugin(c.Key, s.inRoot(c.root.Dir, skill))
}

// inRoot looks for the skill in the folder of a plugin.
func (s *search) inRoot(root, skill string) bool {
	return s.try(RulePluginSkill, filepath.Join(root, "skills", skill)) ||
		s.try(RulePluginCommand, filepath.Join(root, "commands", skill)) ||
		s.nested(root, skill)
}

// nested looks for commands/b/c where b:c is the skill.
func (s *search) nested(root, skill string) bool {
	if !strings.Contains(skill, ":") {
		return false
	}
	return s.try(RuleNested, filepath.Join(root, "commands", nestedPath(skill)))
}

func nestedPath(skill string) string {
	return filepath.Join(strings.Split(skill, ":")...)
}

// inFolders looks where skills of no plugin are, of the project before the
// user's.
func (s *search) inFolders(skill string) bool {
	return s.inProject(RuleProject, "cwd", s.cwd, skill) || s.inUser(skill)
}

func (s *search) inUser(skill string) bool {
	if s.ConfigDir == "" {
		s.step(RuleUser, "", Skipped, "the configuration directory is not known")
		return false
	}
	return s.try(RuleUser, filepath.Join(s.ConfigDir, "skills", skill))
}

func (s *search) inProjectDir(skill string) bool {
	return s.hasProjectDir() && s.inProject(RuleProjectDir, "CLAUDE_PROJECT_DIR", s.ProjectDir, skill)
}

func (s *search) inProject(rule, what, dir, skill string) bool {
	if !filepath.IsAbs(dir) {
		s.step(rule, "", Skipped, what+" is "+quote(dir)+", which is not an absolute path")
		return false
	}
	return s.try(rule, projectSkill(dir, skill))
}

func projectSkill(dir, skill string) string {
	return filepath.Join(dir, ".claude", "skills", skill)
}

// isFolder reports whether a project or the user has the skill itself, without
// an fsm.json. The client prefers it to any plugin's, so none is looked for.
func (s *search) isFolder(skill string) bool {
	folders := []string{projectSkill(s.cwd, skill), projectSkill(s.ProjectDir, skill), filepath.Join(s.ConfigDir, "skills", skill)}
	for _, folder := range folders {
		path := filepath.Join(folder, "SKILL.md")
		if !filepath.IsAbs(path) {
			continue
		}
		if there, _ := present(s.Fs, path); there {
			s.step(RuleAlias, path, Skipped, "this is the skill, and it has no "+specName)
			return true
		}
	}
	return false
}

// hasProjectDir reports whether CLAUDE_PROJECT_DIR leads elsewhere than cwd.
func (s *search) hasProjectDir() bool {
	return s.ProjectDir != "" && s.ProjectDir != s.cwd
}

// try ends the search if the folder of a skill has an fsm.json, of whatever
// kind.
func (s *search) try(rule, folder string) bool {
	path := filepath.Join(folder, specName)
	there, err := present(s.Fs, path)
	switch {
	case err != nil:
		s.step(rule, path, Used, "cannot be looked at: "+fileError(path, err).Cause.Error())
	case there:
		s.step(rule, path, Used, "")
	default:
		s.step(rule, path, Absent, "")
		return false
	}
	s.result.Path = path
	return true
}

// ofPlugin notes whose skill it is if it was found.
func (s *search) ofPlugin(key string, found bool) bool {
	if found {
		s.result.Plugin = key
	}
	return found
}

func (s *search) step(rule, path, outcome, detail string) {
	s.result.Steps = append(s.result.Steps, Step{rule, path, outcome, detail})
}
