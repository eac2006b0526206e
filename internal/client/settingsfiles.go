package client

import (
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// The client's settings files: UserSettings in its configuration directory, the other
// two in a project's directory.
const (
	UserSettings    = "settings.json"
	ProjectSettings = ".claude/settings.json"
	LocalSettings   = ".claude/settings.local.json"
)

// SettingsFiles returns the paths of the settings files that the client reads when it
// starts in dir, which is absolute, the one with the highest precedence first. It reads
// those of the start directory, and of the parents only the local settings in the root of
// the git repository (fact 52), or in that of the main work tree if dir is in a linked one
// (fact 66). They precede the files in the start directory (fact 102). These facts were
// measured with client 2.1.329.
//
// If configDir is "", the user's file is left out, and if dir is "", the project's are.
func SettingsFiles(fsys safefile.FS, configDir, dir string) []string {
	var files []string
	if dir != "" {
		if _, main := WorkTree(fsys, dir); main != "" && main != filepath.Clean(dir) {
			files = append(files, filepath.Join(main, LocalSettings))
		}
		files = append(files, filepath.Join(dir, LocalSettings), filepath.Join(dir, ProjectSettings))
	}
	if configDir != "" {
		files = append(files, filepath.Join(configDir, UserSettings))
	}
	return files
}

// SourceOf returns which of the client's --setting-sources a file of SettingsFiles is.
func SourceOf(configDir, path string) string {
	switch {
	case path == filepath.Join(configDir, UserSettings):
		return "user"
	case strings.HasSuffix(path, LocalSettings):
		return "local"
	}
	return "project"
}

// WorkTree returns the root of the git work tree that contains dir, which is absolute,
// and the root of the main work tree of its repository. They differ in a linked work
// tree. Outside a repository both are "".
func WorkTree(fsys safefile.FS, dir string) (root, main string) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if _, err := fsys.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, mainWorkTree(fsys, dir)
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// ProjectKey returns the name under which the client keeps a person's configuration of
// the project in dir, an absolute path without symbolic links: the root of the main work
// tree, or dir outside a repository (fact 90, client 2.1.329). On Windows it has slashes.
func ProjectKey(fsys safefile.FS, dir string) string {
	if _, main := WorkTree(fsys, dir); main != "" {
		dir = main
	}
	return filepath.ToSlash(dir)
}

// maxPointer bounds the files with which git points to a directory. They hold one path.
const maxPointer = 16 << 10

// mainWorkTree returns the root of the main work tree of the repository whose work tree
// has the given root. That is root itself unless its .git is the file of a linked work
// tree; in a submodule .git is a file too.
func mainWorkTree(fsys safefile.FS, root string) string {
	git, linked := gitDir(fsys, root)
	if !linked || filepath.Base(git) != ".git" {
		return root
	}
	return filepath.Dir(git)
}

// Repository returns the root of the work tree of git that contains the absolute path dir,
// the directory that all work trees of its repository share, and whether the work tree is
// a linked one. Outside a repository root is empty.
//
// A linked work tree is one that the repository knows: anybody can write a .git file that names
// another repository, so the repository has to name it too, as "git worktree add" makes it do.
func Repository(fsys safefile.FS, dir string) (root, shared string, linked bool) {
	root, _ = WorkTree(fsys, dir)
	if root == "" {
		return "", "", false
	}
	if shared, linked = gitDir(fsys, root); linked && !knows(fsys, shared, root) {
		return root, filepath.Join(root, ".git"), false
	}
	return root, shared, linked
}

// knows reports whether the repository whose work trees share the directory has a linked one with
// the given root.
func knows(fsys safefile.FS, shared, root string) bool {
	resolve := func(path string) string { return safefile.ResolveWith(fsys.Readlink, path) }
	pointer, _ := pointerOf(fsys, root)
	pointer = resolve(pointer)
	back, err := safefile.ReadFileIn(fsys, filepath.Join(pointer, "gitdir"), maxPointer)
	return err == nil && filepath.Dir(pointer) == filepath.Join(shared, "worktrees") &&
		resolve(absolute(pointer, strings.TrimSpace(string(back)))) == resolve(filepath.Join(root, ".git"))
}

// pointerOf returns the directory that the .git file of a work tree names. ok is false if .git is
// not such a file.
func pointerOf(fsys safefile.FS, root string) (dir string, ok bool) {
	text, err := safefile.ReadFileIn(fsys, filepath.Join(root, ".git"), maxPointer)
	pointer, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	return absolute(root, pointer), ok && err == nil
}

// gitDir returns the directory of git that all work trees of a repository share, without
// symbolic links, and whether the one with the given root is a linked one. A .git file that
// is not that of a linked work tree belongs to a submodule and is returned itself.
func gitDir(fsys safefile.FS, root string) (shared string, linked bool) {
	own := filepath.Join(root, ".git")
	pointer, ok := pointerOf(fsys, root)
	if !ok {
		return safefile.ResolveWith(fsys.Readlink, own), false
	}
	common, err := safefile.ReadFileIn(fsys, filepath.Join(pointer, "commondir"), maxPointer)
	if err != nil {
		return own, false
	}
	return safefile.ResolveWith(fsys.Readlink, absolute(pointer, strings.TrimSpace(string(common)))), true
}

func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
