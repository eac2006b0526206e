package locator

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// Misnamed is a file in the folder of a skill that is probably meant as its fsm.json, but
// has another name, so that it is not read.
type Misnamed struct {
	Path string `json:"path"`
	Why  string `json:"why"` // what the name or the content has to be; for people
}

// MisnamedIn returns the files in folder that are probably meant as its fsm.json: FSM.json,
// fsm.yaml, fsm.json.txt, fsm (1).json. It returns none if there is an fsm.json, or folder
// cannot be read. On a file system that ignores case it returns an fsm.json that is spelt in
// another way, although it can be opened there. It reads only the directory.
func MisnamedIn(fsys FS, folder string) (found []Misnamed) {
	entries, _ := fsys.ReadDir(folder)
	for _, entry := range entries {
		if entry.Name() == specName {
			return nil
		}
		if why := misnamed(entry); why != "" {
			found = append(found, Misnamed{filepath.Join(folder, entry.Name()), why})
		}
	}
	return found
}

// IsMisnamed returns why a file with this name is not read as an fsm.json, although it is
// probably meant as one, and "" for any other name.
func IsMisnamed(name string) (why string) {
	lower := strings.ToLower(name)
	if name == specName || !strings.Contains(lower, "f") || !strings.Contains(lower, "m") {
		return "" // the expression is compiled only for a name that may match
	}
	const right = "the name has to be " + specName
	switch ending, ok := variant(lower); {
	case lower == specName:
		return right + ", in lower case"
	case !ok && !isSwapped(lower):
		return ""
	case ending == "yaml" || ending == "yml":
		return "a workflow has to be JSON, in a file with the name " + specName + " (fsmtx validate --fix writes it)"
	case ending == "toml":
		return "a workflow has to be JSON, in a file with the name " + specName
	case slices.Contains([]string{"jsonc", "json5", "hjson"}, ending):
		return right + ", and JSON has no comments (fsmtx validate --fix moves them)"
	}
	return right
}

// variant reports whether a name in lower case has a form that copying, downloading or
// another editor gives an fsm.json, and returns its ending.
func variant(lower string) (ending string, ok bool) {
	form := regexp.MustCompile(`^(?:copy of |[._])?fsm(?:[ _-]?\(?\d+\)?|[ _-](?:copy|kopie)(?: ` +
		`?\(?\d+\)?)?)?\.(json[c5l]?|hjson|ya?ml|toml|jso|jsn|jason|json[._ -]?(?:json|txt|text)|json \(\d+\)|json_)$`)
	m := form.FindStringSubmatch(strings.TrimSpace(lower))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// isSwapped reports whether a name is fsm.json with two neighbouring letters swapped, or with
// spaces around it.
func isSwapped(lower string) bool {
	if lower != specName && strings.TrimSpace(lower) == specName {
		return true
	}
	for i := 0; i+1 < len(specName); i++ {
		if lower == specName[:i]+specName[i+1:i+2]+specName[i:i+1]+specName[i+2:] {
			return true
		}
	}
	return false
}

// IsCopy returns why a file with this name is not read as an fsm.json, if it looks like a copy of one
// that an editor, a merge or a person has put aside, and "" for any other name. Such a file may be there on
// purpose.
func IsCopy(name string) (why string) {
	lower := strings.ToLower(name)
	inName := strings.Contains(lower, specName) || strings.HasSuffix(lower, ".json") &&
		(strings.HasPrefix(lower, "fsm.") || strings.HasPrefix(lower, "fsm-") || strings.HasPrefix(lower, "fsm_") || strings.HasPrefix(lower,
			"fsm "))
	if !inName || name == specName || IsMisnamed(name) != "" || strings.Contains(lower, "schema") {
		return ""
	}
	return "it looks like a copy of " + specName + ", and only a file with that name is read"
}

// MisplacedAt returns why an fsm.json at path is not the workflow of a skill, because it lies beside the
// wrong files, and "" if it lies beside a SKILL.md, or nothing tells where it belongs.
func MisplacedAt(fsys FS, path string) (why string) {
	has := func(parts ...string) bool { return isFile(fsys, filepath.Join(parts...)) }
	dir := filepath.Dir(path)
	const right = "it has to be in the folder of a skill, beside its " + plugins.SkillFile
	switch {
	case filepath.Base(path) != specName:
		return ""
	case unseen(fsys, dir) != "":
		return "the client does not see this skill: " + unseen(fsys, dir)
	case has(dir, plugins.SkillFile), has(dir + ".md"):
		return ""
	case misspelt(fsys, dir) != "" && (!isForExamples(filepath.Base(dir)) || filepath.Base(filepath.Dir(dir)) == "skills"):
		return "the client does not see this skill: its " + misspelt(fsys, dir) + " has to have the name " + plugins.SkillFile
	case filepath.Base(dir) == filepath.Dir(plugins.ManifestPath):
		return "it lies beside the manifest of a plugin; " + right
	case has(dir, plugins.ManifestPath):
		return "it lies in the root of a plugin; " + right
	case filepath.Base(dir) == "skills" && anyFolder(fsys, dir, plugins.SkillFile):
		return "it lies beside the folders of skills; " + right
	case has(dir, "..", plugins.SkillFile) && !has(dir, "..", specName) && !isForExamples(filepath.Base(dir)):
		return "it lies one level too deep; " + right
	}
	return ""
}

// unseen returns why the client takes nothing beside an fsm.json in .claude for a skill or for a command with a folder,
// "" if it does or the reason is another one. Other agents look into folders of folders (Claude Code, fact 120).
func unseen(fsys FS, dir string) (why string) {
	has := func(parts ...string) bool { return isFile(fsys, filepath.Join(parts...)) }
	up, name := filepath.Dir(dir), filepath.Base(dir)
	isOfClaude := func(dir, name string) bool {
		return filepath.Base(dir) == name && filepath.Base(filepath.Dir(dir)) == ".claude"
	}
	switch {
	case isOfClaude(dir, "skills") && has(dir, plugins.SkillFile):
		return "its " + plugins.SkillFile + " has to be in a folder of its own in skills"
	case isOfClaude(filepath.Dir(up), "skills") && has(dir, plugins.SkillFile) && !isForExamples(name) && !isAside(filepath.Base(up)) &&
		!has(up, plugins.SkillFile) && !has(up, plugins.ManifestPath) && !isLinked(fsys, dir, filepath.Dir(up)):
		return "its folder has to be directly in skills, and not in " + filepath.Base(up)
	case has(dir, plugins.SkillFile) || !has(dir+".md"):
		return ""
	case isOfClaude(up, "skills"):
		return "its " + name + ".md has to be the file " + plugins.SkillFile + " in the folder " + name
	case isOfClaude(up, "commands"):
		return name + ".md is a command, and only a skill has a workflow: move it to .claude/skills/" + name + "/" + plugins.SkillFile
	}
	return ""
}

// isAside reports whether a folder with this name may have skills that somebody has put aside.
func isAside(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
		slices.ContainsFunc([]string{"archive", "backup", "deprecated", "disabled", "draft", "example", "inactive", "old", "template", "unused"},
			func(word string) bool { return strings.HasPrefix(strings.ToLower(name), word) })
}

// isLinked reports whether a link in dir leads to the folder.
func isLinked(fsys FS, folder, dir string) bool {
	there, err := fsys.Stat(folder)
	entries, _ := fsys.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		target, err := fsys.Stat(filepath.Join(dir, e.Name()))
		return err == nil && e.Type()&fs.ModeSymlink != 0 && os.SameFile(target, there)
	})
}

// misspelt returns the name of a file in a folder that is probably meant as its SKILL.md, "" if
// there is none. In commands/ the case of the letters does not matter (fact 172).
func misspelt(fsys FS, dir string) string {
	entries, _ := fsys.ReadDir(dir)
	isCommand := slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(dir)), "/"), "commands")
	for _, entry := range entries {
		lower := strings.ToLower(entry.Name())
		if isCommand && lower == "skill.md" {
			continue
		}
		if slices.Contains([]string{"skill.md", "skills.md", "skill.markdown", "skill.mdx", "skill.txt", "skill.md.txt", "skill"}, lower) &&
			isFile(fsys, filepath.Join(dir, entry.Name())) {
			return entry.Name()
		}
	}
	return ""
}

// isForExamples reports whether a folder with this name may have an fsm.json that is only to be read.
func isForExamples(name string) bool {
	return slices.ContainsFunc([]string{"example", "template", "asset", "reference", "resource", "sample", "test", "doc", "fixture"},
		func(word string) bool { return strings.HasPrefix(strings.ToLower(name), word) })
}

// anyFolder reports whether a folder in dir has a file with the name.
func anyFolder(fsys FS, dir, name string) bool {
	entries, _ := fsys.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isFile(fsys, filepath.Join(dir, e.Name(), name)) })
}

func misnamed(entry fs.DirEntry) string {
	if entry.IsDir() {
		return ""
	}
	return IsMisnamed(entry.Name())
}

// Misnamed returns the files in the folder that the client runs that are probably meant as
// its fsm.json. It returns none if Found.
func (r Result) Misnamed() []Misnamed { return r.misnamed }

// reportMisnamed looks for such files in a folder without an fsm.json.
func (s *search) reportMisnamed(c candidate) {
	s.result.misnamed = MisnamedIn(s.FS, c.folder)
	for _, m := range s.result.misnamed {
		s.step(c.rule, m.Path, OutcomeFailed, m.Why)
	}
	if !s.Invoked {
		s.reportAside(c)
	}
}

// reportAside adds a step for each copy of an fsm.json in the folder, and for each one that lies in a
// wrong place around it.
func (s *search) reportAside(c candidate) {
	entries, _ := s.FS.ReadDir(c.folder)
	around := []string{filepath.Dir(c.folder), filepath.Join(c.folder, "..", ".."),
		filepath.Join(c.folder, "..", "..", filepath.Dir(plugins.ManifestPath))}
	for _, entry := range entries {
		if why := IsCopy(entry.Name()); why != "" && !entry.IsDir() {
			s.step(c.rule, filepath.Join(c.folder, entry.Name()), OutcomeSkipped, why)
		}
		if entry.IsDir() {
			around = append(around, filepath.Join(c.folder, entry.Name()))
		}
	}
	for _, dir := range around {
		path := filepath.Join(dir, specName)
		if why := MisplacedAt(s.FS, path); why != "" && isFile(s.FS, path) {
			s.step(c.rule, path, OutcomeFailed, why)
		}
	}
}

// Misnamed returns the files that are probably meant as the fsm.json of a skill that the
// client knows in cwd: those in its folder with another name, and those with the name beside the
// folders of skills, or in the root of a plugin. complete is false if a limit left out some folders.
func (l *Locator) Misnamed(cwd string) (all []Misnamed, complete bool) {
	s := l.search("", cwd, &shared{})
	known, complete := s.everySkill()
	for _, k := range known {
		if s.isSkill(k.folder) || isFile(s.FS, k.folder+".md") {
			all = append(all, MisnamedIn(s.FS, k.folder)...)
		} else if path := filepath.Join(k.folder, specName); misspelt(s.FS, k.folder) != "" && isFile(s.FS, path) {
			if why := MisplacedAt(s.FS, path); why != "" {
				all = append(all, Misnamed{path, why})
			}
		}
	}
	return slices.Concat(all, s.misplaced(known), s.elsewhere(known, singular), s.unseen()), complete
}

// unseen returns every fsm.json in .claude of the project and the user that is not one of a skill, but beside a
// SKILL.md or a command.
func (s *search) unseen() (all []Misnamed) {
	note := func(folder string) {
		if path := filepath.Join(folder, specName); isFile(s.FS, path) && unseen(s.FS, folder) != "" {
			all = append(all, Misnamed{path, MisplacedAt(s.FS, path)})
		}
	}
	noteBelow := func(dir string) {
		entries, _ := s.FS.ReadDir(dir)
		for _, entry := range entries {
			note(filepath.Join(dir, entry.Name()))
		}
	}
	for _, r := range s.roots() {
		for _, folder := range plugins.SkillFolders(s.FS, r.dir) {
			note(folder)
			noteBelow(folder)
		}
	}
	for _, r := range s.commandRoots() {
		noteBelow(plugins.CommandsDir(r.dir))
	}
	return all
}

// singular is a misspelt .claude/skills.
const singular = ".claude/skill"

// reportElsewhere adds a step for a skill of the name that lies where the client does not look.
func (s *search) reportElsewhere() {
	if s.Invoked || s.result.Found() {
		return
	}
	for _, m := range s.elsewhere(nil, "skills", singular) {
		if filepath.Base(filepath.Dir(m.Path)) == s.skill {
			s.step(RuleProject, m.Path, OutcomeFailed, m.Why)
		}
	}
}

// elsewhere returns every fsm.json of a project's skill in the directories, where the client does not
// look for skills, but not if something of a plugin or an extension is beside them. A skill with a name
// that the client knows may be the source of that one.
func (s *search) elsewhere(known []knownSkill, dirs ...string) (all []Misnamed) {
	const right = "the client looks for the skills of a project in .claude/skills; to use it in this project, move its folder there"
	for _, project := range s.projectDirs() {
		if IsExtension(s.FS, project) {
			continue
		}
		for _, dir := range dirs {
			dir = filepath.Join(project, dir)
			entries, _ := s.FS.ReadDir(dir)
			for _, entry := range entries {
				folder := filepath.Join(dir, entry.Name())
				path := filepath.Join(folder, specName)
				if s.isSkill(folder) && isFile(s.FS, path) && !slices.ContainsFunc(known, func(k knownSkill) bool {
					return k.folder == folder || slices.Contains(k.names, entry.Name())
				}) {
					all = append(all, Misnamed{path, right})
				}
			}
		}
	}
	return all
}

// IsExtension reports whether a directory has something of a plugin or an extension of an agent, whose skills
// are in skills/.
func IsExtension(files FS, dir string) bool {
	return slices.ContainsFunc([]string{filepath.Dir(plugins.ManifestPath), ".codex-plugin", ".github/plugin", "plugin.json",
		"gemini-extension.json", "qwen-extension.json"}, func(name string) bool {
		found, _ := exists(files, filepath.Join(dir, name))
		return found
	})
}

// misplaced returns every fsm.json in a wrong place beside the folders of skills, or in a plugin.
func (s *search) misplaced(known []knownSkill) (all []Misnamed) {
	var dirs []string
	for _, r := range s.roots() {
		dirs = append(dirs, plugins.SkillsDir(r.dir))
	}
	for _, k := range known {
		dirs = append(dirs, filepath.Dir(k.folder))
		if k.plugin != "" {
			root := filepath.Dir(filepath.Dir(k.folder))
			dirs = append(dirs, root, filepath.Join(root, filepath.Dir(plugins.ManifestPath)))
		}
	}
	seen := map[string]bool{}
	for _, dir := range dirs {
		path := filepath.Join(dir, specName)
		if seen[path] {
			continue
		}
		seen[path] = true
		if isFile(s.FS, path) {
			if why := MisplacedAt(s.FS, path); why != "" {
				all = append(all, Misnamed{path, why})
			}
		}
	}
	return all
}
