package locator

import (
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/client"
)

// The client looks at the names in frontmatters when no folder has the name. Few skills have an fsm.json; for a name that
// was invoked the frontmatters of these alone are read. If another skill has the name, the tasks are wrong until the client
// says which folder it runs.

// byName returns the skill of the user, the project or a plugin whose frontmatter has the
// name; of a plugin only if it has no colon.
func (s *search) byName() (candidate, bool) {
	if s.isListed() {
		return candidate{}, false
	}
	if c, ok := s.byOwnName(); ok || s.plugin != "" {
		return c, ok
	}
	if s.byBare == nil {
		s.byBare = map[string]candidate{}
		for _, skill := range s.everyPluginSkill() {
			c := candidateOf(skill, RuleAlias)
			if s.Invoked && !s.hasSpec(c) {
				continue
			}
			_, bare, err := skill.OwnNames()
			s.report(err)
			if _, known := s.byBare[bare]; !known {
				s.byBare[bare] = c
			}
		}
	}
	c, ok := s.byBare[s.command]
	if !ok {
		s.step(RuleFrontmatter, "", OutcomeAbsent, "no skill with an "+specName+" gives itself this name")
		return candidate{}, false
	}
	s.runs(c)
	return c, true
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
func (s *search) everyPluginSkill() []client.Skill {
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
		s.byOwn = map[string]candidate{}
		for _, c := range s.folders(s.roots(), RuleFrontmatter) {
			if s.Invoked && !s.hasSpec(c) {
				continue
			}
			name := s.nameIn(c.folder)
			if _, known := s.byOwn[name]; !known && name != "" {
				s.byOwn[name] = c
			}
		}
	}
	c, ok := s.byOwn[s.command]
	if ok {
		s.runsSkill(c)
	}
	return c, ok
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
		for _, folder := range client.SkillFolders(s.FS, r.dir) {
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
	name, err := client.OwnName(s.FS, folder)
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
