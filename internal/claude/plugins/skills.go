package plugins

import (
	"path/filepath"
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

// SkillFolders returns the folders of the plugin's skills, sorted by name. It returns
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
	name, _ := frontmatter.SkillName(document)
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
