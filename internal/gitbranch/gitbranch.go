package gitbranch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Detached is the branch of a work tree whose HEAD is a commit.
const Detached = "HEAD"

// Place is where in which repository a directory is.
type Place struct {
	Branch string // "feature/x", or Detached
	Top    string // root of the work tree: absolute, no symlinks
}

// Find returns the repository that dir, an absolute path, is in. getenv gives
// PATH, GIT_DIR and the like. It returns false outside a repository, without
// the git program, and where neither git's files nor git say which branch.
func Find(dir string, getenv func(string) string) (Place, bool) {
	git := program(getenv("PATH"))
	real, err := filepath.EvalSymlinks(dir)
	if git == "" || err != nil {
		return Place{}, false
	}
	if getenv("GIT_DIR") != "" {
		return ask(git, real)
	}
	for at := real; ; at = filepath.Dir(at) {
		switch branch, err := headOf(filepath.Join(at, ".git")); {
		case err == nil:
			return Place{branch, at}, true
		case !errors.Is(err, fs.ErrNotExist):
			return ask(git, real)
		}
		if at == filepath.Dir(at) {
			return Place{}, false
		}
	}
}

var errUnknown = errors.New("HEAD is written in a way only git knows")

// headOf returns the branch of a repository by its .git, a directory or the
// file that stands for one. fs.ErrNotExist means that there is no repository;
// git then looks in the parent directory, and so does Find.
func headOf(dotgit string) (string, error) {
	dir, err := follow(dotgit)
	if err != nil {
		return "", err
	}
	head := filepath.Join(dir, "HEAD")
	if target, err := os.Readlink(head); err == nil {
		return branchOf("ref: " + target)
	}
	data, err := os.ReadFile(head)
	if err != nil {
		return "", err
	}
	return branchOf(string(data))
}

// follow resolves the file .git of a linked work tree or a submodule.
func follow(dotgit string) (string, error) {
	info, err := os.Stat(dotgit)
	if err != nil || info.IsDir() {
		return dotgit, err
	}
	data, err := os.ReadFile(dotgit)
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return "", errUnknown
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(dotgit), dir)
	}
	return dir, nil
}

// reftable is what HEAD says where git keeps refs in another form.
const reftable = "refs/heads/.invalid"

func branchOf(head string) (string, error) {
	head = strings.TrimSpace(head)
	ref, symbolic := strings.CutPrefix(head, "ref:")
	ref = strings.TrimSpace(ref)
	switch {
	case !symbolic && isCommit(head):
		return Detached, nil
	case !symbolic || ref == reftable:
		return "", errUnknown
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && branch != "" {
		return branch, nil
	}
	return "", errUnknown
}

// isCommit reports whether s is a SHA-1 or SHA-256 name of a commit.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
