package agent

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/shell"
)

// Skill is a skill in one of an agent's places.
type Skill struct {
	Name string // in its SKILL.md, or else its folder's
	Dir  string // absolute
}

// Places are the directories in which an agent looks for skills, the first first.
type Places []string

// Places returns the directories below cwd, below each of its parents up to the root of its
// git work tree, and below home.
func (a *Agent) Places(cwd, home string) (all Places) {
	for _, dir := range upwards(cwd, home) {
		for _, sub := range a.Skills.Project {
			all = append(all, filepath.Join(dir, sub))
		}
	}
	if home != "" {
		for _, sub := range a.Skills.User {
			all = append(all, filepath.Join(home, sub))
		}
	}
	return all
}

// upwards returns dir and, if it is in a git work tree, its parents up to the root of that.
func upwards(dir, home string) (dirs []string) {
	if !filepath.IsAbs(dir) {
		return nil
	}
	for up := dir; up != home; up = filepath.Dir(up) {
		dirs = append(dirs, up)
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return dirs
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return []string{dir}
}

// maxSkills limits the folders of one place that are looked into.
const maxSkills = 2000

// Find returns the skill with the name: one whose SKILL.md says so, else a folder of that name
// that has a SKILL.md. A name with a colon is that of a plugin's skill, which no place has.
func (p Places) Find(name string) *Skill {
	if name == "" || strings.ContainsAny(name, "/\\:") {
		return nil
	}
	for _, place := range p {
		folders, err := os.ReadDir(place)
		if err != nil {
			continue
		}
		// A folder of the name is the likeliest one.
		slices.SortStableFunc(folders, func(a, b os.DirEntry) int { return cmp.Compare(rank(a, name), rank(b, name)) })
		for _, folder := range folders[:min(len(folders), maxSkills)] {
			if s := skillIn(filepath.Join(place, folder.Name())); s != nil && s.Name == name {
				return s
			}
		}
	}
	return nil
}

// Folder returns the folder of the skill with the name that an agent finds from dir, empty if it
// finds none or the program is no agent of this package: Claude Code's places are known to package
// locator.
func Folder(program, name, dir, home string) string {
	a := Named(program)
	if a == nil {
		return ""
	}
	if s := a.Places(dir, home).Find(name); s != nil {
		return s.Dir
	}
	return ""
}

func rank(folder os.DirEntry, name string) int {
	if folder.Name() == name {
		return 0
	}
	return 1
}

// skillIn returns the skill of a folder, nil if it has no SKILL.md that can be read.
func skillIn(dir string) *Skill {
	document := head(dir)
	if document == nil {
		return nil
	}
	name, err := frontmatter.SkillName(document)
	if err != nil {
		name = ""
	}
	return &Skill{Name: cmp.Or(name, filepath.Base(dir)), Dir: dir}
}

// head returns the beginning of a folder's SKILL.md, nil if it cannot be read.
func head(dir string) []byte {
	f, err := safefile.Open(filepath.Join(dir, "SKILL.md"), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	document, err := frontmatter.ReadSkill(f)
	if err != nil {
		return nil
	}
	return document
}

// readers are programs that print a file that they are given.
func readers() []string {
	return []string{"cat", "head", "tail", "nl", "sed", "awk", "less", "more", "bat", "batcat", "grep", "rg"}
}

// readBy returns the skill whose SKILL.md a shell command has printed, if it is in one of the
// places. The output must show the file: the command may have failed.
func (p Places) readBy(c Call) *Skill {
	if !strings.Contains(c.Command, "SKILL.md") {
		return nil
	}
	script, err := shell.Parse(c.Command)
	if err != nil {
		return nil
	}
	dir := c.Cwd
	for _, words := range script.Calls() {
		texts := literals(words)
		if len(texts) > 1 && texts[0] == "cd" {
			dir = absolute(dir, texts[1])
		}
		if len(texts) == 0 || !slices.Contains(readers(), filepath.Base(texts[0])) || edits(texts) {
			continue
		}
		for _, text := range texts[1:] {
			if filepath.Base(text) != "SKILL.md" {
				continue
			}
			folder := filepath.Dir(absolute(dir, text))
			if s := skillIn(folder); s != nil && p.has(folder) && shows(c.Output, head(folder)) {
				return s
			}
		}
	}
	return nil
}

// edits reports whether a call of sed changes its files.
func edits(texts []string) bool {
	return filepath.Base(texts[0]) == "sed" && slices.ContainsFunc(texts[1:], func(t string) bool {
		return strings.HasPrefix(t, "-i") || strings.HasPrefix(t, "--in-place")
	})
}

func literals(words []shell.Word) (texts []string) {
	for _, w := range words {
		if text, known := w.Text(os.LookupEnv); known {
			texts = append(texts, text)
		}
	}
	return texts
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// has reports whether the folder is in one of the places.
func (p Places) has(folder string) bool {
	parent := filepath.Dir(folder)
	return slices.ContainsFunc(p, func(place string) bool { return place == parent || safefile.Same(place, parent) })
}
