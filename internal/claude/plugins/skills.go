package plugins

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	File      string // the SKILL.md or the command's file; "" if its text is in a manifest
	IsCommand bool

	real string // the file without links, "" if that is not known
}

// Folder returns the folder whose fsm.json belongs to the skill.
func (s Skill) Folder() string {
	switch {
	case s.File == "":
		return filepath.Join(CommandsDir(s.Plugin.Dir), NestedPath(s.Name))
	case isSkillFile(s.File):
		return filepath.Dir(s.File)
	}
	return strings.TrimSuffix(s.File, ".md")
}

// FullName returns the name by which the client lists the skill.
func (s Skill) FullName() string { return s.Plugin.Name + ":" + s.Name }

// OwnNames returns the names that the skill gives itself in its frontmatter: one that
// begins with the plugin's, and one without, which may be "". It returns none if the file
// cannot be read or has no name.
func (s Skill) OwnNames() (scoped, bare string, err error) {
	if s.File == "" {
		return "", "", nil
	}
	own := s.Plugin.nameIn(s.File)
	scoped, bare = s.ownNames(own.name)
	return scoped, bare, own.err
}

// given is the name in the frontmatter of a file.
type given struct {
	name   string
	isText bool
	err    error
}

// nameIn returns the name in the frontmatter of a file, which it reads once.
func (p *Plugin) nameIn(file string) given {
	if known, ok := p.names[file]; ok {
		return known
	}
	document, err := readSkill(p.fs, file)
	if err != nil {
		return given{err: fileError(file, err)}
	}
	var g given
	if g.name, g.isText, g.err = frontmatter.SkillName(document); g.err != nil {
		g.err = &FileError{file, g.err}
	}
	if p.names == nil {
		p.names = map[string]given{}
	}
	p.names[file] = g
	return g
}

// ownNames returns the names that result from the one in the frontmatter (measured with
// 2.1.329, fact 121). The names of a nested command keep its folders.
func (s Skill) ownNames(name string) (scoped, bare string) {
	full := s.FullName()
	scope := full[:strings.LastIndexByte(full, ':')+1]
	if scoped = name; !strings.HasPrefix(name, scope) {
		scoped = scope + name
	}
	if name == "" || !isShown(name) || !isShown(scoped) {
		return "", ""
	}
	if !strings.Contains(name, ":") {
		bare = name
	}
	return scoped, bare
}

// Find returns the skill or command of the plugin whose name is the plugin's, a colon and
// name. A command comes first. It does not find the names in frontmatters, except those of
// skills that a manifest lists by their folders: they have no other.
func (p *Plugin) Find(name string) (Skill, bool) {
	for _, place := range p.commands {
		if file, ok := p.commandAt(place, name); ok {
			return Skill{Plugin: p, Name: name, File: file, IsCommand: true}, true
		}
	}
	for _, dir := range p.skills {
		if folder, ok := p.skillAt(dir, name); ok && !p.isAmong(p.before(dir), folder) {
			return Skill{Plugin: p, Name: name, File: filepath.Join(folder, SkillFile)}, true
		}
	}
	return Skill{}, false
}

// inLoadingOrder returns the directories of skills in the order in which the client gets to their
// files: the default one, then those that are a skill, then those of several, which it has to
// list first (read in the code of 2.1.329 and measured with it, fact 121).
func (p *Plugin) inLoadingOrder() []string {
	rank := func(dir string) int {
		switch {
		case dir == SkillsDir(p.Dir):
			return 0
		case p.isSkill(dir):
			return 1
		}
		return 2
	}
	dirs := slices.Clone(p.skills)
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return dirs
}

// before returns the directories of skills that the client loads before dir.
func (p *Plugin) before(dir string) []string {
	if len(p.skills) == 1 {
		return nil
	}
	dirs := p.inLoadingOrder()
	return dirs[:slices.Index(dirs, dir)]
}

// isAmong reports whether a folder is one of the directories, or in one of them: then its skill
// has its name from there.
func (p *Plugin) isAmong(dirs []string, folder string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return dir == folder || dir == filepath.Dir(folder) && !p.isSkill(dir)
	})
}

// commandAt returns the file of the command of the name in a place.
func (p *Plugin) commandAt(place command, name string) (file string, ok bool) {
	switch info, err := p.fs.Stat(place.path); {
	case place.path == "":
		return "", place.name == name
	case err != nil:
		return "", false
	case !info.IsDir():
		return place.path, p.nameOf(place) == name && p.isText(place.path)
	}
	path := filepath.Join(place.path, NestedPath(name))
	if file = path + ".md"; p.isCommand(place.path, file) && !p.hasSkillFile(place.path, filepath.Dir(file)) {
		return file, true
	}
	file = filepath.Join(path, SkillFile)
	return file, p.isCommand(place.path, file)
}

// nameOf returns the name of a place that is one command. A name that a manifest gives to its
// file counts wherever the file is listed.
func (p *Plugin) nameOf(place command) string {
	if place.path == "" {
		return place.name
	}
	return cmp.Or(p.commandNames[place.path], strings.TrimSuffix(filepath.Base(place.path), ".md"))
}

// isCommand reports whether the client reads the file in a directory of commands. There it
// follows no links.
func (p *Plugin) isCommand(dir, file string) bool {
	for path := file; len(path) > len(dir); path = filepath.Dir(path) {
		info, err := p.fs.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink != 0 || path == file && !info.Mode().IsRegular() {
			return false
		}
	}
	return p.isText(file)
}

// hasSkillFile reports whether a folder above a command, up to dir, has a SKILL.md: then the
// client reads nothing else in it.
func (p *Plugin) hasSkillFile(dir, folder string) bool {
	for ; len(folder) >= len(dir); folder = filepath.Dir(folder) {
		if p.isCommand(dir, filepath.Join(folder, SkillFile)) {
			return true
		}
	}
	return false
}

// skillAt returns the folder of the skill of the name in a directory of skills.
func (p *Plugin) skillAt(dir, name string) (folder string, ok bool) {
	if p.isSkill(dir) {
		return dir, p.listedName(dir) == name
	}
	if folder := filepath.Join(dir, name); !strings.ContainsAny(name, `/\`) && inName(name) == name && p.isSkill(folder) {
		return folder, true
	}
	if !strings.Contains(name, "-") { // no other folder becomes this name
		return "", false
	}
	entries, _ := p.fs.ReadDir(dir)
	for _, entry := range entries {
		if folder := filepath.Join(dir, entry.Name()); inName(entry.Name()) == name && p.isSkillFolder(entry, folder) {
			return folder, true
		}
	}
	return "", false
}

// All returns the skills and commands of the plugin in the client's order. Of two skills, or
// two commands, with one file it leaves out the second. Of those with one name the client
// runs the first.
func (p *Plugin) All() []Skill {
	var all []Skill
	for _, place := range p.commands {
		all = append(all, p.commandsIn(place)...)
	}
	all = once(all, map[string]bool{})
	files, skills := map[string]bool{}, map[string][]Skill{}
	for _, dir := range p.inLoadingOrder() {
		skills[dir] = once(p.skillsIn(dir), files)
	}
	for _, dir := range p.skills {
		all = append(all, skills[dir]...)
	}
	return all
}

// once leaves out what has no name, and those whose file is among files, to which it adds.
func once(all []Skill, files map[string]bool) []Skill {
	return slices.DeleteFunc(all, func(s Skill) bool {
		real := s.RealFile()
		again := real != "" && files[real]
		files[real] = true
		return again || !isShown(s.FullName()) || !isShown(s.Name)
	})
}

// RealFile returns the skill's file without symbolic links. The client leaves out a second
// skill with the same file.
func (s Skill) RealFile() string {
	if s.File == "" || s.real != "" {
		return s.real
	}
	return safefile.ResolveWith(s.Plugin.fs.Readlink, s.File)
}

func (p *Plugin) commandsIn(place command) []Skill {
	if place.path == "" || !isDir(p.fs, place.path) {
		if place.path != "" && (!strings.HasSuffix(place.path, ".md") || !p.isText(place.path)) {
			return nil
		}
		return []Skill{{Plugin: p, Name: p.nameOf(place), File: place.path, IsCommand: true}}
	}
	return p.commandsBelow(place.path, place.path, 0)
}

// maxDepth is the depth to which the client looks for commands (read in the code of
// 2.1.329).
const maxDepth = 32

func (p *Plugin) commandsBelow(top, dir string, depth int) (all []Skill) {
	entries, _ := p.fs.ReadDir(dir)
	own := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Type().IsRegular() && isSkillFile(e.Name()) })
	if own >= 0 {
		return p.commandIn(top, dir, dir, entries[own])
	}
	var below []Skill // a file comes before a folder of its name (measured with 2.1.329, fact 169)
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch {
		case entry.IsDir() && depth < maxDepth:
			below = append(below, p.commandsBelow(top, path, depth+1)...)
		case entry.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md"):
			all = append(all, p.commandIn(top, dir, strings.TrimSuffix(path, ".md"), entry)...)
		}
	}
	return append(all, below...)
}

// commandIn returns the command that is the file entry of dir, with the name that path has
// below top. Below top there are no links.
func (p *Plugin) commandIn(top, dir, path string, entry fs.DirEntry) []Skill {
	file := filepath.Join(dir, entry.Name())
	if info, err := entry.Info(); err != nil || info.Size() > maxSkill {
		return nil
	}
	real := p.links.resolve(top) + strings.TrimPrefix(file, top)
	return []Skill{{Plugin: p, Name: commandName(top, path), File: file, IsCommand: true, real: real}}
}

// commandName returns the name of the command at path, without the extension, below top.
func commandName(top, path string) string {
	relative, err := filepath.Rel(top, path)
	if err != nil || relative == "." {
		return filepath.Base(path)
	}
	return strings.ReplaceAll(relative, string(filepath.Separator), ":")
}

func (p *Plugin) skillsIn(dir string) (all []Skill) {
	if p.isSkill(dir) {
		return []Skill{{Plugin: p, Name: p.listedName(dir), File: filepath.Join(dir, SkillFile)}}
	}
	entries, _ := p.fs.ReadDir(dir)
	for _, entry := range entries {
		skill := Skill{Plugin: p, Name: inName(entry.Name()), File: filepath.Join(dir, entry.Name(), SkillFile)}
		switch info, err := p.fs.Lstat(skill.File); {
		case isMissing(err) || entry.Name() == unpacked:
			continue
		case err != nil: // whoever reads the file gets the error
		case entry.IsDir() && info.Mode().IsRegular() && info.Size() <= maxSkill:
			skill.real = filepath.Join(p.links.resolve(dir), entry.Name(), SkillFile)
		case !p.isSkillFolder(entry, filepath.Dir(skill.File)):
			continue
		}
		all = append(all, skill)
	}
	slices.SortStableFunc(all, func(a, b Skill) int { return compareNames(a.Name, b.Name) })
	// The client gets to a link's file later, so that a skill has its own name (measured with 2.1.329,
	// fact 169).
	slices.SortStableFunc(all, func(a, b Skill) int { return cmp.Compare(min(len(b.real), 1), min(len(a.real), 1)) })
	return all
}

// compareNames orders names roughly as the client does, which ignores case first.
func compareNames(a, b string) int {
	if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
		return c
	}
	return strings.Compare(b, a)
}

func (p *Plugin) isSkillFolder(entry fs.DirEntry, folder string) bool {
	return (entry.IsDir() || entry.Type()&fs.ModeSymlink != 0) && entry.Name() != unpacked && p.isSkill(folder)
}

// unpacked is a folder of the client's own in a plugin, which has no skills.
const unpacked = ".mcpb-cache"

// listedName returns the name of a skill that a manifest lists by its folder: the one in
// its frontmatter, if it is a text, else that of the folder (measured with 2.1.329, facts 120 and
// 121).
func (p *Plugin) listedName(folder string) string {
	own := p.nameIn(filepath.Join(folder, SkillFile))
	name := strings.TrimPrefix(strings.TrimSpace(own.name), p.Name+":")
	if name == "" || !own.isText {
		name = filepath.Base(folder)
	}
	return inName(name)
}

func isSkillFile(path string) bool { return strings.EqualFold(filepath.Base(path), SkillFile) }

// inName returns a folder's name as it is in the name of a skill: the client replaces each
// UTF-16 unit that is not an ASCII letter, a digit, "_" or "-" (measured with 2.1.329, fact
// 121).
func inName(folder string) string {
	var b strings.Builder
	for _, r := range folder {
		switch {
		case r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// isShown reports whether the client accepts the name of a skill or a command, be it that of a
// folder, of a file or in a frontmatter. It rejects names with characters that cannot be seen or
// that could be taken for others, and with a space at an end (measured with 2.1.329, fact 177).
func isShown(name string) bool {
	hidden := func(r rune) bool {
		return r == '<' || r == '>' || r == blankBraille || r != ' ' && unicode.IsSpace(r) || unicode.IsControl(r) ||
			unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	}
	return utf8.RuneCountInString(name) <= 256 && !strings.ContainsFunc(withoutJoiners(name), hidden) && !strings.Contains(name, "  ") &&
		strings.TrimSpace(name) == name
}

// blankBraille is a character of braille without dots.
const blankBraille = '\u2800'

// IsFolderName reports whether the client takes the name of a folder for that of a skill of the user or the
// project. "synced" is the folder of the skills that it synchronizes (measured with 2.1.329, fact 177).
func IsFolderName(name string) bool {
	return isShown(name) && !strings.EqualFold(strings.TrimRight(name, ". "), "synced")
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
// none or the file cannot be read.
func OwnName(fsys FS, folder string) string {
	document, err := readSkill(fsys, filepath.Join(folder, SkillFile))
	if err != nil {
		return ""
	}
	name, _, _ := frontmatter.SkillName(document)
	if !isShown(name) {
		return ""
	}
	return name
}

// HasName reports whether the skill in folder has the name in its frontmatter. The
// client finds a plugin's skill by that name without the plugin's (measured with
// 2.1.329, fact 61). Errors are of type [*FileError].
func HasName(fsys FS, folder, name string) (bool, error) {
	path := filepath.Join(folder, SkillFile)
	document, err := readSkill(fsys, path)
	if err != nil {
		return false, fileError(path, err)
	}
	has, err := frontmatter.SkillHasName(document, name)
	has = has && isShown(name)
	if err != nil {
		return has, &FileError{path, err}
	}
	return has, nil
}

func readSkill(fsys FS, path string) ([]byte, error) {
	f, err := safefile.OpenIn(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return frontmatter.ReadSkill(f)
}
