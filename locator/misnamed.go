package locator

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
)

// Misnamed is a file that is probably meant as the fsm.json of a skill, but
// has another name or lies in another place, so that it is not read.
type Misnamed struct {
	Path string `json:"path"`
	Why  string `json:"why"` // what the name, the place or the content has to be; for people
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

func misnamed(entry fs.DirEntry) string {
	if entry.IsDir() {
		return ""
	}
	return IsMisnamed(entry.Name())
}

// IsMisnamed returns why a file with this name is not read as an fsm.json, although it is
// probably meant as one, and "" for any other name: the forms that copying, downloading and other editors give.
func IsMisnamed(name string) (why string) {
	lower := strings.ToLower(name)
	if name == specName || !strings.Contains(lower, "fsm") {
		return "" // the expression is compiled only for a name that may match
	}
	const right = "the name has to be " + specName
	form := regexp.MustCompile(`^(?:copy of |[._])?fsm[ _-]?(?:copy)?[ _-]?\(?\d*\)?\.(json[c5l]?|hjson|ya?ml|toml)(?:\.(?:txt|json))?$`)
	m := form.FindStringSubmatch(strings.TrimSpace(lower))
	switch {
	case lower == specName:
		return right + ", in lower case"
	case m == nil:
		return ""
	case m[1] == "yaml" || m[1] == "yml":
		return "a workflow has to be JSON, in a file with the name " + specName + " (fsmtx validate --fix writes it)"
	case m[1] == "toml":
		return "a workflow has to be JSON, in a file with the name " + specName
	case m[1] == "jsonc" || m[1] == "json5" || m[1] == "hjson":
		return right + ", and JSON has no comments (fsmtx validate --fix moves them)"
	}
	return right
}

// MisplacedAt returns why an fsm.json at path is not the workflow of a skill, because it lies beside the
// wrong files, and "" if it lies beside a SKILL.md, or nothing tells where it belongs.
func MisplacedAt(fsys FS, path string) (why string) {
	has := func(parts ...string) bool { return isFile(fsys, filepath.Join(parts...)) }
	dir := filepath.Dir(path)
	const right = "it has to be in the folder of a skill, beside its " + plugins.SkillFile
	switch {
	case filepath.Base(path) != specName, has(dir, plugins.SkillFile), has(dir + ".md"):
		return ""
	case filepath.Base(dir) == filepath.Dir(plugins.ManifestPath):
		return "it lies beside the manifest of a plugin; " + right
	case has(dir, plugins.ManifestPath):
		return "it lies in the root of a plugin; " + right
	case filepath.Base(dir) == "skills" && anyFolder(fsys, dir, plugins.SkillFile):
		return "it lies beside the folders of skills; " + right
	}
	return ""
}

// anyFolder reports whether a folder in dir has a file with the name.
func anyFolder(fsys FS, dir, name string) bool {
	entries, _ := fsys.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isFile(fsys, filepath.Join(dir, e.Name(), name)) })
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

// Misnamed returns the files in the folder that the client runs that are probably meant as
// its fsm.json. It returns none if Found.
func (r Result) Misnamed() []Misnamed { return r.misnamed }

// reportMisnamed looks for such files in a folder without an fsm.json, and unless the name was invoked around it.
func (s *search) reportMisnamed(c candidate) {
	s.result.misnamed = MisnamedIn(s.FS, c.folder)
	found := s.result.misnamed
	if up := filepath.Dir(c.folder); !s.Invoked {
		found = slices.Concat(found, s.misplacedIn(up, filepath.Dir(up), filepath.Join(up, "..", filepath.Dir(plugins.ManifestPath))))
	}
	for _, m := range found {
		s.step(c.rule, m.Path, OutcomeFailed, m.Why)
	}
}

// Misnamed returns the files that are probably meant as the fsm.json of a skill that the
// client knows in cwd: those in its folder with another name, and those with the name beside the
// folders of skills, or in the root of a plugin. complete is false if a limit left out some folders.
func (l *Locator) Misnamed(cwd string) (all []Misnamed, complete bool) {
	s := l.search("", cwd, &shared{})
	known, complete := s.everySkill()
	var dirs []string
	for _, r := range s.roots() {
		dirs = append(dirs, plugins.SkillsDir(r.dir))
	}
	for _, k := range known {
		if s.isSkill(k.folder) || isFile(s.FS, k.folder+".md") {
			all = append(all, MisnamedIn(s.FS, k.folder)...)
		}
		dirs = append(dirs, filepath.Dir(k.folder))
		if k.plugin != "" {
			root := filepath.Dir(filepath.Dir(k.folder))
			dirs = append(dirs, root, filepath.Join(root, filepath.Dir(plugins.ManifestPath)))
		}
	}
	return append(all, s.misplacedIn(dirs...)...), complete
}

// misplacedIn returns every fsm.json in the directories that lies beside the wrong files.
func (s *search) misplacedIn(dirs ...string) (all []Misnamed) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		path := filepath.Join(dir, specName)
		if !seen[path] && isFile(s.FS, path) {
			if why := MisplacedAt(s.FS, path); why != "" {
				all = append(all, Misnamed{path, why})
			}
		}
		seen[path] = true
	}
	return all
}
