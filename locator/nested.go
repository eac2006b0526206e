package locator

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
)

// A nested skill is one in a .claude/skills below the start directory. The client knows it
// once the model has read a file beside that .claude: by its name alone or, if another
// skill has this name, by its scoped name, which is the path of the directory, a colon and
// the name (measured with 2.1.329, facts 49 and 60).

// maxNestedDirs is the number of directories that are searched for nested skills, which
// takes some milliseconds. In a larger project scoped names still work.
const maxNestedDirs = 250

// inScope returns the nested skill with the scoped name: for apps/web:deploy the
// folder apps/web/.claude/skills/deploy. It does not read frontmatters.
func (s *search) inScope() (candidate, bool) {
	start := s.start()
	if !filepath.IsAbs(start) || !s.loads("project") || strings.Contains(s.skill, ":") {
		return candidate{}, false
	}
	c := candidate{rule: RuleNestedSkill, folder: skillIn(projectRoot(filepath.Join(start, s.plugin)), s.skill)}
	if s.isSkill(c.folder) {
		s.runsSkill(c)
		return c, true
	}
	s.step(c.rule, filepath.Join(c.folder, client.SkillFile), OutcomeAbsent, "")
	return candidate{}, false
}

// byNestedFolder returns the only nested skill of the name. If there are several, the
// client has given the model their scoped names instead.
func (s *search) byNestedFolder() (candidate, bool) {
	found, complete := s.nestedSkills()
	if !complete {
		s.step(RuleNestedSkill, s.start(), OutcomeSkipped, "more directories than are searched for nested skills")
	}
	if len(found) == 0 {
		return candidate{}, false
	}
	if len(found) == 1 {
		s.runsSkill(found[0])
		return found[0], true
	}
	for _, c := range found {
		s.step(c.rule, c.folder, OutcomeSkipped, "the name is ambiguous: several nested skills have it")
	}
	return candidate{}, false
}

// nestedSkills returns the nested skills in folders of the name, and where there is none those whose frontmatter has it.
func (s *search) nestedSkills() (found []candidate, complete bool) {
	dirs, complete := s.nestedRoots()
	for _, dir := range dirs {
		if c := (candidate{rule: RuleNestedSkill, folder: skillIn(dir, s.skill)}); s.isSkill(c.folder) {
			found = append(found, c)
			continue
		}
		for _, c := range s.folders([]root{{dir: dir}}, RuleNestedSkill) {
			if s.hasSpec(c) && s.nameIn(c.folder) == s.skill {
				found = append(found, c)
			}
		}
	}
	return found, complete
}

// nestedRoots returns the directories called .claude below the start directory, the nearest
// ones first. It searches nothing if the start directory is HOME or the root directory,
// which are not projects, or if the client does not load the project's.
func (s *search) nestedRoots() (roots []string, complete bool) {
	start := s.start()
	dirs := s.projectDirs()
	if len(dirs) == 0 || start == filepath.Dir(start) || !s.loads("project") {
		return nil, true
	}
	if s.nestedRead {
		return s.nestedDirs, s.nestedAll
	}
	complete = walk(s.FS, dirs[0], maxNestedDirs, func(dir string, entries []fs.DirEntry) (below []string) {
		for _, entry := range entries {
			if entry.Name() == ".claude" && dir != dirs[0] {
				roots = append(roots, filepath.Join(dir, entry.Name()))
			}
			if entry.IsDir() && isSearched(entry) {
				below = append(below, entry.Name())
			}
		}
		return below
	})
	s.nestedDirs, s.nestedAll, s.nestedRead = roots, complete, true
	return roots, complete
}

// walk calls visit for the entries of dir and of the directories below it whose names visit returned, the nearest ones first. It
// reads at most maxDirs directories; complete reports whether these were all.
func walk(fsys FS, dir string, maxDirs int, visit func(dir string, entries []fs.DirEntry) (below []string)) (complete bool) {
	queue := []string{dir}
	for read := 0; len(queue) > 0; read++ {
		if read == maxDirs {
			return false
		}
		dir := queue[0]
		queue = queue[1:]
		entries, _ := fsys.ReadDir(dir)
		for _, name := range visit(dir, entries) {
			queue = append(queue, filepath.Join(dir, name))
		}
	}
	return true
}

// isSearched excludes directories that are often large and seldom contain skills: hidden
// ones and node_modules.
func isSearched(entry fs.DirEntry) bool {
	return entry.Name()[0] != '.' && entry.Name() != "node_modules"
}
