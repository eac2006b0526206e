package locator

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// root is the directory of a plugin that the client loads.
type root struct {
	plugin string // its key, or its name if it is from PluginDirs
	dir    string
}

// byAlias returns the skill of a plugin that gives itself the name. Of several the
// first takes precedence, even without an fsm.json.
func (s *search) byAlias() []candidate {
	if s.isFolder() {
		return nil
	}
	claims := s.claims()
	if len(claims) == 0 {
		s.step(RuleAlias, "", OutcomeAbsent, "no skill of a plugin with an "+specName+" has this name")
		return nil
	}
	first := claims[0]
	for _, c := range claims[1:] {
		s.step(RuleAlias, c.folder, OutcomeSkipped, "the name is ambiguous: "+c.plugin+" uses it too, and "+first.plugin+" takes precedence")
	}
	return []candidate{first}
}

// isFolder reports whether the project or the user has a skill with this folder
// name, without an fsm.json. It takes precedence over any alias.
func (s *search) isFolder() bool {
	for _, dir := range []string{projectRoot(s.cwd), projectRoot(s.ProjectDir), s.ConfigDir} {
		path := filepath.Join(skillIn(dir, s.skill), plugins.SkillFile)
		if !filepath.IsAbs(path) {
			continue
		}
		if found, _ := exists(s.FS, path); found {
			s.step(RuleAlias, path, OutcomeSkipped, "this is the skill, and it has no "+specName)
			return true
		}
	}
	return false
}

// claims returns the skills that give themselves the name, by the precedence of
// their plugins and then by folder. There are none unless one of them has an
// fsm.json. Few skills have one, so these are asked first.
func (s *search) claims() []candidate {
	var all, withSpec []candidate
	for _, r := range s.roots() {
		for _, folder := range plugins.SkillFolders(s.FS, r.dir) {
			c := candidate{RuleAlias, folder, r.plugin}
			all = append(all, c)
			if found, _ := exists(s.FS, filepath.Join(folder, specName)); found {
				withSpec = append(withSpec, c)
			}
		}
	}
	claims, problems := s.named(withSpec)
	if len(claims) > 0 {
		claims, problems = s.named(all)
	}
	for _, err := range problems {
		s.problem(RuleAlias, OutcomeFailed, err)
	}
	return claims
}

// named returns the candidates whose frontmatter gives them the name.
func (s *search) named(all []candidate) (claims []candidate, problems []error) {
	for _, c := range all {
		has, err := plugins.HasName(s.FS, c.folder, s.skill)
		if err != nil && !cannotExist(err) {
			problems = append(problems, err)
		}
		if has {
			claims = append(claims, c)
		}
	}
	return claims, problems
}

// roots returns the plugins that the client loads, in order of precedence, as far
// as is known: a name without a colon may not be a plugin's, so a registry that
// cannot be used is not an error.
func (s *search) roots() []root {
	var roots []root
	for _, p := range s.sessionPlugins() {
		roots = append(roots, root(p))
	}
	if found, _ := exists(s.FS, plugins.RegistryPath(s.ConfigDir)); !found || s.openRegistry() != nil {
		return roots
	}
	for _, in := range s.registry.Applying(s.cwd, s.ProjectDir) {
		if s.switches().Disabled(in.Key) {
			s.skipDisabled(in)
		}
	}
	for _, in := range s.registry.Enabled(s.switches(), s.cwd, s.ProjectDir) {
		roots = append(roots, root{in.Key, s.registry.Root(in).Dir})
	}
	return roots
}
