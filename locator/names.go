package locator

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The names that skills give themselves in their frontmatter. The client asks for them
// when no folder has the name.

// byName returns the skill of the user, the project or a plugin that gives itself the
// name without a colon. The name is unknown to the client if several skills of plugins
// have it (measured with 2.1.329, facts 61 and 65).
//
// Few skills have an fsm.json, so these are asked first: unless one of them has the
// name, or a folder without a SKILL.md may be used, there is nothing to decide.
func (s *search) byName() (candidate, bool) { return s.byNameIf(false) }

// byNameIf is byName, which asks every skill if all is set.
func (s *search) byNameIf(all bool) (candidate, bool) {
	if s.own == nil && s.ofPlugins == nil {
		s.own, s.ofPlugins = s.folders(s.roots(), RuleFrontmatter), s.folders(s.pluginRoots(), RuleAlias)
	}
	own, ofPlugins := s.own, s.ofPlugins
	withSpec, problems := s.named(append(s.withSpec(own), s.withSpec(ofPlugins)...), s.command)
	if !all && len(withSpec) == 0 && !s.documented() {
		s.report(problems)
		s.step(RuleFrontmatter, "", OutcomeAbsent, "no skill with an "+specName+" gives itself this name")
		return candidate{}, false
	}
	if c, ok := s.firstNamed(own); ok {
		return c, true
	}
	claims, problems := s.named(ofPlugins, s.command)
	s.report(problems)
	switch len(claims) {
	case 0:
		return candidate{}, false
	case 1:
		s.runs(claims[0])
		return claims[0], true
	}
	for _, c := range claims {
		s.step(RuleAlias, c.folder, OutcomeSkipped, "the name is ambiguous: the client runs this skill only by its name with the plugin's")
	}
	return candidate{}, false
}

// byOwnName is byName for a name with a colon, among the skills of no plugin.
func (s *search) byOwnName() (candidate, bool) {
	return s.firstNamed(s.folders(s.roots(), RuleFrontmatter))
}

func (s *search) firstNamed(own []candidate) (candidate, bool) {
	claims, problems := s.named(own, s.command)
	s.report(problems)
	if len(claims) == 0 {
		return candidate{}, false
	}
	for _, c := range claims[1:] {
		s.step(c.rule, c.folder, OutcomeSkipped, "it gives itself this name too, but comes later")
	}
	s.runs(claims[0])
	return claims[0], true
}

// byNameInPlugin returns the skill that the plugin knows by the name in its
// frontmatter.
func (s *search) byNameInPlugin() (candidate, bool) {
	r, ok := s.pluginRoot()
	if !ok {
		return candidate{}, false
	}
	claims, problems := s.named(s.folders([]root{r}, RuleAlias), s.skill)
	s.report(problems)
	if len(claims) != 1 { // several are unknown to the client
		return candidate{}, false
	}
	s.runs(claims[0])
	return claims[0], true
}

// documented reports whether one of the places of the requirements has an fsm.json.
func (s *search) documented() bool {
	steps := s.result.Steps
	defer func() { s.result.Steps = steps }()
	for _, place := range plainPlaces {
		if len(s.withSpec(place(s))) > 0 {
			return true
		}
	}
	return false
}

// folders returns the folders of skills below the roots, in their order and by name.
func (s *search) folders(roots []root, rule Rule) []candidate {
	var all []candidate
	for _, r := range roots {
		for _, folder := range plugins.SkillFolders(s.FS, r.dir) {
			all = append(all, candidate{rule, folder, r.plugin})
		}
	}
	return all
}

// withSpec returns the candidates that have an fsm.json.
func (s *search) withSpec(all []candidate) []candidate {
	var with []candidate
	for _, c := range all {
		if found, _ := exists(s.FS, filepath.Join(c.folder, specName)); found {
			with = append(with, c)
		}
	}
	return with
}

// named returns the candidates whose frontmatter gives them the name.
func (s *search) named(all []candidate, name string) (claims []candidate, problems []error) {
	for _, c := range all {
		has, err := plugins.HasName(s.FS, c.folder, name)
		if err != nil && !cannotExist(err) {
			problems = append(problems, err)
		}
		if has {
			claims = append(claims, c)
		}
	}
	return claims, problems
}

func (s *search) report(problems []error) {
	for _, err := range problems {
		s.problem(RuleFrontmatter, OutcomeFailed, err)
	}
}

// pluginRoots returns the plugins that the client loads, as far as is known: a name
// without a colon may not be a plugin's, so a registry that cannot be used is not an
// error. Of several plugins with one name the client loads the first.
func (s *search) pluginRoots() []root {
	var roots []root
	loaded := map[string]bool{}
	for _, p := range s.sessionPlugins() {
		if !loaded[p.plugin] {
			roots = append(roots, p)
		}
		loaded[p.plugin] = true
	}
	if found, _ := exists(s.FS, plugins.RegistryPath(s.ConfigDir)); !found || s.openRegistry() != nil {
		return roots
	}
	for _, in := range s.registry.Applying(s.cwd, s.ProjectDir) {
		if s.switches().Disabled(in.Key) {
			s.skipDisabled(in)
		}
	}
	enabled := s.registry.Enabled(s.switches(), s.cwd, s.ProjectDir)
	slices.SortStableFunc(enabled, func(a, b plugins.Installation) int {
		return cmp.Compare(s.switches().Rank(a.Key), s.switches().Rank(b.Key))
	})
	for _, in := range enabled {
		if !loaded[in.Plugin] {
			roots = append(roots, root{dir: s.registry.Root(in).Dir, plugin: in.Key})
		}
		loaded[in.Plugin] = true
	}
	return roots
}
