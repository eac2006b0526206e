package locator

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// The client knows the skills in a .claude/skills below the start directory once a
// file beside it was read: by the path of that directory and a colon if the name is
// taken, else by the name alone (measured with 2.1.329, facts 49 and 60).

// maxNestedDirs bounds the search for a nested skill, which takes some
// milliseconds. A larger project's nested skills are found by their scoped names.
const maxNestedDirs = 250

// inScope returns the nested skill with the scoped name: for apps/web:deploy the
// folder deploy of apps/web/.claude/skills. Its frontmatter does not matter.
func (s *search) inScope() (candidate, bool) {
	start := s.start()
	if !filepath.IsAbs(start) || strings.Contains(s.skill, ":") {
		return candidate{}, false
	}
	c := candidate{rule: RuleNestedSkill, folder: skillIn(projectRoot(filepath.Join(start, s.plugin)), s.skill)}
	if s.isSkill(c.folder) {
		s.runs(c)
		return c, true
	}
	s.step(c.rule, filepath.Join(c.folder, plugins.SkillFile), OutcomeAbsent, "")
	return candidate{}, false
}

// byNestedFolder returns the nested skill that has the name alone. If there are
// several, the client has told the model their scoped names. Whether it knows the
// skill is not known here, so a skill with the name in its frontmatter is preferred.
func (s *search) byNestedFolder() (candidate, bool) {
	found, complete := s.nestedSkills()
	if !complete {
		s.step(RuleNestedSkill, s.start(), OutcomeSkipped, "more directories than are searched for nested skills")
	}
	if len(found) == 0 {
		return candidate{}, false
	}
	if c, ok := s.byNameIf(true); ok {
		return c, true
	}
	if len(found) == 1 {
		s.runs(found[0])
		return found[0], true
	}
	for _, c := range found {
		s.step(c.rule, c.folder, OutcomeSkipped, "the name is ambiguous: several nested skills have it")
	}
	return candidate{}, false
}

// nestedSkills returns the nested skills that have the name.
func (s *search) nestedSkills() (found []candidate, complete bool) {
	dirs, complete := s.nestedRoots()
	for _, dir := range dirs {
		found = append(found, s.inNested(dir)...)
	}
	return found, complete
}

// nestedRoots searches the directories below the start directory, the nearest ones
// first, for those called .claude. It does not search HOME and the root directory, which
// are not projects.
func (s *search) nestedRoots() (roots []string, complete bool) {
	start := s.start()
	dirs := s.projectDirs()
	if len(dirs) == 0 || start == filepath.Dir(start) {
		return nil, true
	}
	queue := []string{dirs[0]}
	for visited := 0; len(queue) > 0; visited++ {
		if visited == maxNestedDirs {
			return roots, false
		}
		dir := queue[0]
		queue = queue[1:]
		entries, _ := s.FS.ReadDir(dir)
		for _, entry := range entries {
			switch path := filepath.Join(dir, entry.Name()); {
			case entry.Name() == ".claude":
				if visited > 0 {
					roots = append(roots, path)
				}
			case entry.IsDir() && isSearched(entry):
				queue = append(queue, path)
			}
		}
	}
	return roots, true
}

// isSearched excludes directories that are often large and seldom have skills.
func isSearched(entry fs.DirEntry) bool {
	return entry.Name()[0] != '.' && entry.Name() != "node_modules"
}

// inNested returns the skills in a nested .claude that have the name: the folder, or
// one with an fsm.json by its frontmatter.
func (s *search) inNested(dir string) []candidate {
	c := candidate{rule: RuleNestedSkill, folder: skillIn(dir, s.skill)}
	if s.isSkill(c.folder) {
		return []candidate{c}
	}
	claims, problems := s.named(s.withSpec(s.folders([]root{{dir: dir}}, RuleNestedSkill)), s.skill)
	s.report(problems)
	return claims
}
