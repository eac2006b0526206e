package client

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// SkillFile is the file that makes a folder a skill. The client ignores a folder without
// it (measured with 2.1.329, fact 48).
const SkillFile = "SKILL.md"

// SkillsDir returns the folder of a plugin's skills, which are one level deep
// (measured with 2.1.197, fact 30). A project's .claude directory and the
// configuration directory have the same layout.
func SkillsDir(root string) string { return filepath.Join(root, "skills") }

// CommandsDir returns the folder of a plugin's commands.
func CommandsDir(root string) string { return filepath.Join(root, "commands") }

// NestedPath returns the path of the command a:b below the folder of commands, without
// the extension: a/b for the client's a/b.md (measured with 2.1.197, fact 30).
func NestedPath(command string) string {
	return filepath.Join(strings.Split(command, ":")...)
}

// Skill is a skill or a command of a plugin.
type Skill struct {
	Plugin    *Plugin
	Name      string // after the plugin's name and a colon
	File      string // the SKILL.md or the command's file
	IsCommand bool
}

// Folder returns the folder whose fsm.json belongs to the skill.
func (s Skill) Folder() string {
	if isSkillFile(s.File) {
		return filepath.Dir(s.File)
	}
	return strings.TrimSuffix(s.File, ".md")
}

// FullName returns the name by which the client lists the skill.
func (s Skill) FullName() string { return s.Plugin.Name + ":" + s.Name }

// OwnNames returns the names that the skill gives itself in its frontmatter: one that
// begins with the plugin's, and one without, which may be "". It returns none if the file
// cannot be read or has no name (measured with 2.1.329, fact 121). The names of a nested command keep its folders.
func (s Skill) OwnNames() (scoped, bare string, err error) {
	own := s.Plugin.nameIn(s.File)
	if own.name == "" {
		return "", "", own.err
	}
	full := s.FullName()
	scope := full[:strings.LastIndexByte(full, ':')+1]
	if scoped = own.name; !strings.HasPrefix(scoped, scope) {
		scoped = scope + scoped
	}
	if !strings.Contains(own.name, ":") {
		bare = own.name
	}
	return scoped, bare, own.err
}

// given is the name in the frontmatter of a file.
type given struct {
	name string
	err  error
}

// nameIn returns the name in the frontmatter of a file, which it reads once.
func (p *Plugin) nameIn(file string) given {
	if known, ok := p.names[file]; ok {
		return known
	}
	var g given
	g.name, g.err = nameIn(p.fs, file)
	if p.names == nil {
		p.names = map[string]given{}
	}
	p.names[file] = g
	return g
}

// Find returns the skill or command of the plugin whose name is the plugin's, a colon and
// name. It does not find the names in frontmatters, except those of
// skills that a manifest lists by their folders: they have no other.
func (p *Plugin) Find(name string) (Skill, bool) {
	i := slices.IndexFunc(p.All(), func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return p.all[i], true
}

// All returns the skills and commands of the plugin in the client's order, of those with one name the first.
func (p *Plugin) All() []Skill {
	if !p.listed {
		p.all, p.listed = p.list(), true
	}
	return p.all
}

func (p *Plugin) list() (all []Skill) {
	for _, place := range p.commands {
		if p.isFile(place) && strings.HasSuffix(place, ".md") {
			all = append(all, Skill{p, strings.TrimSuffix(filepath.Base(place), ".md"), place, true})
		}
		all = append(all, p.commandsBelow(place, "", 0)...)
	}
	for _, dir := range p.skills {
		all = append(all, p.skillsIn(dir)...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(s Skill) bool {
		again := seen[s.Name]
		seen[s.Name] = true
		return again
	})
}

// maxDepth is the depth to which commands are searched.
const maxDepth = 8

// commandsBelow returns the commands in dir, whose names begin with prefix. Where there is a SKILL.md, the client reads
// nothing else; a file comes before a folder (measured with 2.1.329, fact 169).
func (p *Plugin) commandsBelow(dir, prefix string, depth int) (all []Skill) {
	entries, _ := p.fs.ReadDir(dir)
	var below []Skill
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.Type().IsRegular() && isSkillFile(path) && depth > 0:
			return []Skill{{p, strings.TrimSuffix(prefix, ":"), path, true}}
		case entry.Type().IsRegular() && filepath.Ext(path) == ".md":
			all = append(all, Skill{p, prefix + strings.TrimSuffix(entry.Name(), ".md"), path, true})
		case entry.IsDir() && depth < maxDepth:
			below = append(below, p.commandsBelow(path, prefix+entry.Name()+":", depth+1)...)
		}
	}
	return append(all, below...)
}

// skillsIn returns the skills in a directory.
func (p *Plugin) skillsIn(dir string) (all []Skill) {
	if p.isSkill(dir) {
		return []Skill{{p, p.listedName(dir), filepath.Join(dir, SkillFile), false}}
	}
	entries, _ := p.fs.ReadDir(dir)
	for _, entry := range entries {
		isFolder := entry.IsDir() || entry.Type()&fs.ModeSymlink != 0
		if folder := filepath.Join(dir, entry.Name()); isFolder && p.isSkill(folder) {
			all = append(all, Skill{p, inName(entry.Name()), filepath.Join(folder, SkillFile), false})
		}
	}
	return all
}

// listedName returns the name of a skill that a manifest lists by its folder: the one in
// its frontmatter, else that of the folder (measured with 2.1.329, facts 120 and 121).
func (p *Plugin) listedName(folder string) string {
	name := strings.TrimPrefix(strings.TrimSpace(p.nameIn(filepath.Join(folder, SkillFile)).name), p.Name+":")
	if name == "" {
		name = filepath.Base(folder)
	}
	return inName(name)
}

func isSkillFile(path string) bool { return strings.EqualFold(filepath.Base(path), SkillFile) }

// inName returns a folder's name as it is in the name of a skill (measured with 2.1.329, fact 121).
func inName(folder string) string { return plain(folder, '-') }

// plain returns a text as the client puts it into names: with a mark for each character that is not an ASCII letter, a digit,
// "_" or "-".
func plain(text string, mark rune) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return mark
	}, text)
}

// SkillFolders returns what is in the folder of skills below root, sorted by name. It returns
// none if the directory cannot be listed, because then the client loads none either.
func SkillFolders(fsys FS, root string) []string {
	dir := SkillsDir(root)
	entries, _ := fsys.ReadDir(dir)
	var folders []string
	for _, entry := range entries {
		folders = append(folders, filepath.Join(dir, entry.Name()))
	}
	return folders
}

// OwnName returns the name that the skill in folder has in its frontmatter, "" if it has
// none. The client finds a skill by that name, too (measured with 2.1.329, fact 61). Errors are of type [*FileError].
func OwnName(fsys FS, folder string) (string, error) {
	return nameIn(fsys, filepath.Join(folder, SkillFile))
}

func nameIn(fsys FS, path string) (string, error) {
	document, err := ReadSkill(fsys, path)
	if err != nil {
		return "", fileError(path, err)
	}
	name, err := frontmatter.SkillName(document)
	if err != nil {
		return "", &FileError{path, err}
	}
	return name, nil
}

// ReadSkill returns the beginning of a SKILL.md, as [frontmatter.ReadSkill] does.
func ReadSkill(fsys FS, path string) ([]byte, error) {
	f, err := safefile.OpenIn(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return frontmatter.ReadSkill(f)
}
