package locator

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The client looks at the names in frontmatters when no folder has the name. Few skills have an fsm.json; for a name that
// was invoked the frontmatters of these alone are read. If another skill has the name, the tasks are wrong until the client
// says which folder it runs.

// byName returns the skill of the user, the project or a plugin whose frontmatter has the
// name, which has no colon. If several skills of plugins have it, the client does not know
// the name (measured with 2.1.329, facts 61 and 65).
func (s *search) byName() (candidate, bool) {
	if s.isListed() {
		return candidate{}, false
	}
	if c, ok := s.byOwnName(); ok {
		return c, true
	}
	if s.byBare == nil {
		s.byBare = s.bareNames()
	}
	matching := s.byBare[s.command]
	if len(matching) == 1 || s.Invoked && len(matching) > 0 {
		s.runs(matching[0])
		return matching[0], true
	}
	if len(matching) == 0 {
		s.step(RuleFrontmatter, "", OutcomeAbsent, "no skill with an "+specName+" gives itself this name")
	}
	for _, c := range matching {
		s.step(RuleAlias, c.folder, OutcomeSkipped, "the name is ambiguous: the client runs this skill only by its name with the plugin's")
	}
	return candidate{}, false
}

// bareNames returns the skills of plugins by the names in their frontmatters.
func (s *search) bareNames() map[string][]candidate {
	named := map[string][]candidate{}
	for _, skill := range s.everyPluginSkill() {
		c := candidateOf(skill, RuleAlias)
		if s.Invoked && !s.hasSpec(c) {
			continue
		}
		_, bare, err := skill.OwnNames()
		s.report(err)
		named[bare] = append(named[bare], c)
	}
	return named
}

// ownNames returns the skills of the user and the project by the names in their frontmatters.
func (s *search) ownNames() map[string][]candidate {
	named := map[string][]candidate{}
	for _, c := range s.ownFolders() {
		if s.Invoked && !s.hasSpec(c) {
			continue
		}
		if name := s.nameIn(c.folder); name != "" && !s.isShadowed(c) {
			named[name] = append(named[name], c)
		}
	}
	return named
}

// isListed reports whether the client lists the name, so that it is not from a frontmatter.
func (s *search) isListed() bool {
	if !s.Invoked || s.Listed == nil || !s.Listed(s.command) {
		return false
	}
	s.step(RuleAlias, "", OutcomeSkipped, "the client lists this name, so it is not one that only a frontmatter has")
	return true
}

// everyPluginSkill returns the skills and commands of all plugins, in the client's
// order. Of those with one name or one file the client has the first.
func (s *search) everyPluginSkill() []plugins.Skill {
	if s.skillsRead {
		return s.pluginSkills
	}
	s.skillsRead = true
	known := map[string]bool{}
	for _, p := range s.everyPlugin() {
		for _, skill := range p.All() {
			if name := skill.FullName(); !known[name] && !known[skill.File] {
				s.pluginSkills, known[name], known[skill.File] = append(s.pluginSkills, skill), true, true
			}
		}
	}
	return s.pluginSkills
}

// byOwnName returns the first skill of the user or the project whose frontmatter has the
// name.
func (s *search) byOwnName() (candidate, bool) {
	if s.byOwn == nil {
		s.byOwn = s.ownNames()
	}
	matching := s.byOwn[s.command]
	if len(matching) == 0 {
		return candidate{}, false
	}
	for _, c := range matching[1:] {
		s.step(c.rule, c.folder, OutcomeSkipped, "it gives itself this name too, but comes later")
	}
	s.runsSkill(matching[0])
	return matching[0], true
}

// byScopedName is byOwnName for a name with a colon.
func (s *search) byScopedName() (candidate, bool) {
	if s.isListed() {
		return candidate{}, false
	}
	return s.byOwnName()
}

// isShadowed reports whether the client does not have a skill of the user or the project, because
// one in an earlier place has the name of its folder (measured with 2.1.329, fact 158).
func (s *search) isShadowed(c candidate) bool {
	for _, r := range s.roots() {
		folder := skillIn(r.dir, filepath.Base(c.folder))
		if folder == c.folder {
			break
		}
		if s.isSkill(folder) {
			return true
		}
	}
	return false
}

// ownFolders returns the folders of skills that are not of plugins, which it lists once.
func (s *search) ownFolders() []candidate {
	if !s.ownRead {
		s.own, s.ownRead = s.folders(s.roots(), RuleFrontmatter), true
	}
	return s.own
}

// byNameInPlugin returns the first skill or command of the plugin whose frontmatter has the
// name after the colon.
func (s *search) byNameInPlugin() (candidate, bool) {
	if s.isPath() {
		return candidate{}, false
	}
	for _, p := range s.pluginsNamed() {
		for _, skill := range p.All() {
			scoped, _, err := skill.OwnNames()
			if scoped == s.command {
				c := candidateOf(skill, RuleAlias)
				s.runs(c)
				return c, true
			}
			s.report(err)
		}
	}
	return candidate{}, false
}

// runs records that the client runs the candidate.
func (s *search) runs(c candidate) {
	if c.skill != nil && c.skill.IsCommand {
		s.runsCommand(c.rule, c.skill.File)
		return
	}
	s.runsSkill(c)
}

// folders returns the folders of skills below the roots, in the order of the roots and then
// by name.
func (s *search) folders(roots []root, rule Rule) []candidate {
	var all []candidate
	for _, r := range roots {
		for _, folder := range plugins.SkillFolders(s.FS, r.dir) {
			all = append(all, candidate{rule: rule, folder: folder, plugin: r.plugin})
		}
	}
	return all
}

// hasSpec reports whether the candidate has an fsm.json.
func (s *search) hasSpec(c candidate) bool {
	found, _ := exists(s.FS, filepath.Join(c.folder, specName))
	return found
}

// nameIn returns the name in the frontmatter of the skill in a folder, which it reads once.
func (s *search) nameIn(folder string) string {
	if name, ok := s.names[folder]; ok {
		return name
	}
	name, err := plugins.OwnName(s.FS, folder)
	s.report(err)
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[folder] = name
	return name
}

// report adds a step for a SKILL.md that cannot be used.
func (s *search) report(err error) {
	if err != nil && !cannotExist(err) {
		s.problem(RuleFrontmatter, OutcomeFailed, err)
	}
}
