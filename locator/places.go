package locator

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// root is a directory that may contain skills/ and commands/.
type root struct {
	rule   Rule
	plugin string // key or name of the plugin, "" if the directory is not a plugin's
	dir    string
}

// start returns the directory that the client was started in, as far as it is known. cwd
// may be another one, because it changes with the model's cd (measured with 2.1.197, fact
// 21).
func (s *search) start() string {
	if filepath.IsAbs(s.ProjectDir) {
		return s.ProjectDir
	}
	return s.cwd
}

// roots returns the roots that are not of plugins, in the client's order: the organisation's (measured
// with 2.1.329, fact 175), the user's, that of the start directory, those of its parents, nearest first, that
// of the main work tree, and those of AddDirs. Sources may leave out the user's, or those after it (measured
// with 2.1.329, fact 174).
func (s *search) roots() []root {
	if s.rootList != nil {
		return s.rootList
	}
	roots := []root{}
	if s.ManagedDir != "" {
		roots = append(roots, root{rule: RuleManaged, dir: projectRoot(s.ManagedDir)})
	}
	if s.ConfigDir != "" && s.loads("user") {
		roots = append(roots, root{rule: RuleUser, dir: s.ConfigDir})
	}
	if s.loads("project") {
		roots = append(roots, s.projectRoots()...)
	}
	s.rootList = roots
	return roots
}

func (s *search) projectRoots() (roots []root) {
	rule := RuleProject
	for _, dir := range s.projectDirs() {
		roots = append(roots, root{rule: rule, dir: projectRoot(dir)})
		rule = RuleParent
	}
	if r, ok := s.mainWorkTree(); ok {
		roots = append(roots, r)
	}
	for _, dir := range s.AddDirs {
		if filepath.IsAbs(dir) {
			roots = append(roots, root{rule: RuleAddDir, dir: projectRoot(dir)})
		}
	}
	return roots
}

// mainWorkTree returns the root of the main work tree of git, if the start directory is in a linked one whose root
// has no directory of skills (measured with 2.1.329, fact 176).
func (s *search) mainWorkTree() (root, bool) {
	dirs := s.projectDirs()
	if len(dirs) == 0 {
		return root{}, false
	}
	top := dirs[len(dirs)-1]
	if _, err := s.FS.Stat(client.SkillsDir(projectRoot(top))); err == nil || !isFile(s.FS, filepath.Join(top, ".git")) {
		return root{}, false
	}
	_, shared, linked := client.Repository(s.FS, top)
	if filepath.Base(shared) == ".git" {
		shared = filepath.Dir(shared)
	}
	return root{rule: RuleMainWorkTree, dir: projectRoot(shared)}, linked
}

// loads reports whether the client loads the source, one of those in Sources.
func (l *Locator) loads(source string) bool {
	return l.Sources == nil || slices.Contains(l.Sources, source)
}

// projectDirs returns the start directory and those of its parents that the client searches:
// up to the root of the git repository or worktree, and only below HOME (measured with
// 2.1.329, facts 48 and 65). The client takes any directory with a .git for a root.
func (s *search) projectDirs() []string {
	if s.project == nil && filepath.IsAbs(s.start()) {
		s.project = s.findProjectDirs(s.start())
	}
	return s.project
}

func (s *search) findProjectDirs(dir string) []string {
	home := s.Home
	if home != "" {
		home = safefile.ResolveWith(s.FS.Readlink, home)
	}
	dirs := []string{}
	for dir = filepath.Clean(dir); dir != home && dir != s.Home; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if found, _ := exists(s.FS, filepath.Join(dir, ".git")); found || dir == filepath.Dir(dir) {
			break
		}
	}
	return dirs
}

// byFolder returns the first folder of the name that the client takes for a skill.
func (s *search) byFolder() (candidate, bool) {
	for _, r := range s.roots() {
		c := candidate{rule: r.rule, folder: skillIn(r.dir, s.command)}
		if s.isSkill(c.folder) {
			s.runsSkill(c)
			s.result.certain = c.rule != RuleAddDir
			return c, true
		}
		if s.plugin == "" {
			s.step(c.rule, filepath.Join(c.folder, client.SkillFile), OutcomeAbsent, "")
		}
	}
	return candidate{}, false
}

// byCommand returns a command of the project or the user, which takes precedence over a name
// in a frontmatter and over plugins and nested skills. One that is a file has no folder. One
// that is a SKILL.md in a folder has (measured with 2.1.329, facts 125 and 172); then the client reads nothing else in
// the folder. A file comes before a folder.
func (s *search) byCommand() (candidate, bool) {
	if strings.Contains(s.plugin, "/") { // the name of a/b.md is a:b
		return candidate{}, false
	}
	for _, r := range s.roots() {
		path := filepath.Join(client.CommandsDir(r.dir), client.NestedPath(s.command))
		if found, _ := exists(s.FS, path+".md"); found && !s.isSkill(filepath.Dir(path)) {
			s.runsCommand(RuleCommand, path+".md")
			return candidate{}, true
		}
		if s.isSkill(path) {
			s.runsCommand(RuleCommand, filepath.Join(path, client.SkillFile))
			return candidate{rule: RuleCommand, folder: path}, true
		}
	}
	return candidate{}, false
}

// isSkill reports whether the client takes folder for a skill.
func (s *search) isSkill(folder string) bool {
	return isFile(s.FS, filepath.Join(folder, client.SkillFile))
}

// runsSkill records that the client runs the skill.
func (s *search) runsSkill(c candidate) {
	s.result.runs = filepath.Join(c.folder, client.SkillFile)
	s.step(c.rule, s.result.runs, OutcomeFound, "the client runs this skill")
}

// runsCommand records that the client runs the command file at path.
func (s *search) runsCommand(rule Rule, path string) {
	s.result.runs = path
	s.step(rule, path, OutcomeFound, "the client runs this command")
}

func projectRoot(dir string) string { return filepath.Join(dir, ".claude") }

func skillIn(root, skill string) string { return filepath.Join(client.SkillsDir(root), skill) }
