package plugins

import (
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// SkillFile makes a folder a skill. The client ignores a folder without it (measured
// with 2.1.329, fact 48).
const SkillFile = "SKILL.md"

// SkillsDir returns the folder of a plugin's skills, which are one level deep
// (measured with 2.1.197, fact 30). A project's .claude directory and the
// configuration directory have the same layout.
func SkillsDir(root string) string { return filepath.Join(root, "skills") }

// CommandsDir returns the folder of a plugin's commands.
func CommandsDir(root string) string { return filepath.Join(root, "commands") }

// NestedPath returns where the command a:b is below the folder of commands: a/b,
// and the client's own file is a/b.md (measured with 2.1.197, fact 30).
func NestedPath(command string) string {
	return filepath.Join(strings.Split(command, ":")...)
}

// SkillFolders returns the folders of the plugin's skills by name. There are none
// if they cannot be listed: the client does not load them either.
func SkillFolders(fsys FS, root string) []string {
	dir := SkillsDir(root)
	entries, _ := fsys.ReadDir(dir)
	var folders []string
	for _, entry := range entries {
		folders = append(folders, filepath.Join(dir, entry.Name()))
	}
	return folders
}

// OwnName returns the name that the frontmatter of the skill in folder gives it, "" if it
// gives none or cannot be read.
func OwnName(fsys FS, folder string) string {
	f, err := safefile.OpenIn(fsys, filepath.Join(folder, SkillFile))
	if err != nil {
		return ""
	}
	defer f.Close()
	document, err := frontmatter.ReadSkill(f)
	if err != nil {
		return ""
	}
	name, _ := frontmatter.SkillName(document)
	return name
}

// HasName reports whether the frontmatter of the skill in folder gives it the name.
// A plugin's skill answers to it without the plugin's name (measured with 2.1.329, fact
// 61). Errors are of type [*FileError].
func HasName(fsys FS, folder, name string) (bool, error) {
	path := filepath.Join(folder, SkillFile)
	f, err := safefile.OpenIn(fsys, path)
	if err != nil {
		return false, fileError(path, err)
	}
	defer f.Close()
	document, err := frontmatter.ReadSkill(f)
	if err != nil {
		return false, fileError(path, err)
	}
	has, err := frontmatter.SkillHasName(document, name)
	if err != nil {
		return has, &FileError{path, err}
	}
	return has, nil
}
