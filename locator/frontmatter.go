package locator

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The client looks at the names in frontmatters when no folder has the name.

// byName returns the skill of the user, the project or a plugin whose frontmatter has the
// name, which has no colon. If several skills of plugins have it, the client does not know
// the name (measured with 2.1.329, facts 61 and 65).
//
// Few skills have an fsm.json. byName reads their frontmatters first. It reads those of the
// other skills only if one of the few has the name, or if a folder without a SKILL.md could
// be used: otherwise there is no fsm.json in any case.
func (s *search) byName() (candidate, bool) { return s.byFrontmatter(false) }

// byFrontmatter is byName. If all is set, it reads the frontmatter of every skill.
func (s *search) byFrontmatter(all bool) (candidate, bool) {
	if s.own == nil && s.ofPlugins == nil {
		s.own, s.ofPlugins = s.folders(s.roots(), RuleFrontmatter), s.folders(s.pluginRoots(), RuleAlias)
	}
	own, ofPlugins := s.own, s.ofPlugins
	withSpec, problems := s.named(append(s.withSpec(own), s.withSpec(ofPlugins)...), s.command)
	if !all && len(withSpec) == 0 && !s.isInPlainPlaces() {
		s.report(problems)
		s.step(RuleFrontmatter, "", OutcomeAbsent, "no skill with an "+specName+" gives itself this name")
		return candidate{}, false
	}
	if c, ok := s.firstNamed(own); ok {
		return c, true
	}
	matching, problems := s.named(ofPlugins, s.command)
	s.report(problems)
	switch len(matching) {
	case 0:
		return candidate{}, false
	case 1:
		s.runsSkill(matching[0])
		return matching[0], true
	}
	for _, c := range matching {
		s.step(RuleAlias, c.folder, OutcomeSkipped, "the name is ambiguous: the client runs this skill only by its name with the plugin's")
	}
	return candidate{}, false
}

// byOwnName returns the skill of the user or the project whose frontmatter has the name,
// which has a colon.
func (s *search) byOwnName() (candidate, bool) {
	return s.firstNamed(s.folders(s.roots(), RuleFrontmatter))
}

// firstNamed returns the first of the candidates whose frontmatter has the name.
func (s *search) firstNamed(own []candidate) (candidate, bool) {
	matching, problems := s.named(own, s.command)
	s.report(problems)
	if len(matching) == 0 {
		return candidate{}, false
	}
	for _, c := range matching[1:] {
		s.step(c.rule, c.folder, OutcomeSkipped, "it gives itself this name too, but comes later")
	}
	s.runsSkill(matching[0])
	return matching[0], true
}

// byNameInPlugin returns the skill of the plugin whose frontmatter has the name after the
// colon.
func (s *search) byNameInPlugin() (candidate, bool) {
	r, ok := s.pluginRoot()
	if !ok {
		return candidate{}, false
	}
	matching, problems := s.named(s.folders([]root{r}, RuleAlias), s.skill)
	s.report(problems)
	if len(matching) != 1 { // if several skills have the name, the client does not know it
		return candidate{}, false
	}
	s.runsSkill(matching[0])
	return matching[0], true
}

// isInPlainPlaces reports whether one of plainPlaces has an fsm.json. It adds no steps.
func (s *search) isInPlainPlaces() bool {
	steps := s.result.Steps
	defer func() { s.result.Steps = steps }()
	for _, place := range plainPlaces {
		if len(s.withSpec(place(s))) > 0 {
			return true
		}
	}
	return false
}

// folders returns the folders of skills below the roots, in the order of the roots and then
// by name.
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

// named returns the candidates whose frontmatter has the name.
func (s *search) named(all []candidate, name string) (matching []candidate, problems []error) {
	for _, c := range all {
		has, err := plugins.HasName(s.FS, c.folder, name)
		if err != nil && !cannotExist(err) {
			problems = append(problems, err)
		}
		if has {
			matching = append(matching, c)
		}
	}
	return matching, problems
}

func (s *search) report(problems []error) {
	for _, err := range problems {
		s.problem(RuleFrontmatter, OutcomeFailed, err)
	}
}

// pluginRoots returns the directories of the plugins that the client loads. If the registry
// cannot be used, it returns only those of PluginDirs and no error, because a name without
// a colon need not be that of a plugin's skill. Of several plugins with the same name the
// client loads the first.
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
