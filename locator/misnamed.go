package locator

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	form := regexp.MustCompile(`^(?:copy of |[._])?fsm(?:[ _-]?\(?\d+\)?|[ _-](?:copy|kopie)(?: ?\(?\d+\)?)?)?\.(json[c5l]?|hjson|ya?ml|toml|jso|jsn|jason|json[._ -]?(?:json|txt|text)|json \(\d+\)|json_)$`)
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
}

// Misnamed returns the files that are probably meant as the fsm.json of a skill that the
// client knows in cwd. complete is false if a limit left out some folders.
func (l *Locator) Misnamed(cwd string) (all []Misnamed, complete bool) {
	s := l.search("", cwd, &shared{})
	known, complete := s.everySkill()
	for _, k := range known {
		if s.isSkill(k.folder) || isFile(s.FS, k.folder+".md") {
			all = append(all, MisnamedIn(s.FS, k.folder)...)
		}
	}
	return all, complete
}
