package rules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// detached is the branch of a work tree whose HEAD is a commit.
const detached = "HEAD"

// branchPlace is a work tree and the branch that is checked out in it.
type branchPlace struct {
	Branch string // such as "feature/x", also during its rebase; or detached
	Top    string // root of the work tree: absolute, without symbolic links
}

// findBranch returns the work tree that contains dir, an absolute path. It looks up PATH and
// GIT_DIR with getenv. findBranch returns false outside a repository, without the git program,
// if neither git's files nor git give the branch, or if one of git's files is not a
// regular file.
func findBranch(dir string, getenv func(string) string) (branchPlace, bool) {
	git := findGit(getenv("PATH"))
	real, err := filepath.EvalSymlinks(dir)
	if git == "" || err != nil {
		return branchPlace{}, false
	}
	if getenv("GIT_DIR") != "" {
		return askGit(git, real)
	}
	for top := real; ; top = filepath.Dir(top) {
		switch branch, err := readBranch(filepath.Join(top, ".git")); {
		case err == nil:
			return branchPlace{branch, top}, true
		case errors.Is(err, safefile.ErrNotRegular):
			return branchPlace{}, false // git would block for ever on a FIFO
		case !errors.Is(err, fs.ErrNotExist):
			return askGit(git, real)
		}
		if top == filepath.Dir(top) {
			return branchPlace{}, false
		}
	}
}

// errUnknown is returned for content that only git can interpret.
var errUnknown = errors.New("unknown form of HEAD")

// maxBytes limits the size of the files, which have one short line each.
const maxBytes = 64 << 10

// readBranch returns the branch of the repository whose .git, a directory or a file, is
// dotgit. It returns fs.ErrNotExist if there is no repository; then findBranch tries the parent
// directory, as git does.
func readBranch(dotgit string) (string, error) {
	dir, err := gitDir(dotgit)
	if err != nil {
		return "", err
	}
	head := filepath.Join(dir, "HEAD")
	if target, err := os.Readlink(head); err == nil {
		return parseHead("ref: " + target)
	}
	data, err := safefile.ReadFile(head, maxBytes, 0)
	if err != nil {
		return "", err
	}
	branch, err := parseHead(string(data))
	if branch == detached {
		branch = rebasedBranch(dir)
	}
	return branch, err
}

// rebasedBranch returns the branch that is being rebased, detached if there is none. A
// rebase detaches HEAD.
func rebasedBranch(gitdir string) string {
	for _, state := range []string{"rebase-merge", "rebase-apply"} {
		data, err := safefile.ReadFile(filepath.Join(gitdir, state, "head-name"), maxBytes, 0)
		if err != nil {
			continue
		}
		if branch, err := parseHead("ref: " + string(data)); err == nil {
			return branch
		}
	}
	return detached
}

// gitDir returns git's directory: .git itself or, in a linked work tree or a submodule,
// the directory that the file .git contains.
func gitDir(dotgit string) (string, error) {
	info, err := os.Stat(dotgit)
	if err != nil || info.IsDir() {
		return dotgit, err
	}
	data, err := safefile.ReadFile(dotgit, maxBytes, 0)
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

// reftable is the reference in HEAD if the repository uses the reftable storage.
const reftable = "refs/heads/.invalid"

// parseHead returns the branch in the content of HEAD, detached for a commit.
func parseHead(head string) (string, error) {
	head = strings.TrimSpace(head)
	ref, symbolic := strings.CutPrefix(head, "ref:")
	ref = strings.TrimSpace(ref)
	switch {
	case !symbolic && isCommit(head):
		return detached, nil
	case !symbolic || ref == reftable:
		return "", errUnknown
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && branch != "" {
		return branch, nil
	}
	return "", errUnknown
}

// isCommit reports whether s is a commit id, SHA-1 or SHA-256.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
