package gitbranch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Detached is the branch of a work tree whose HEAD is a commit.
const Detached = "HEAD"

// Place is a repository and the branch that is checked out in it.
type Place struct {
	Branch string // "feature/x", also while it is rebased, or Detached
	Top    string // root of the work tree: absolute, without symbolic links
}

// Find returns the repository that contains dir, an absolute path. getenv returns
// PATH and GIT_DIR. Find returns false outside a repository, without the git
// program, if neither git's files nor git give the branch, and if something else than
// a file is in the place of one.
func Find(dir string, getenv func(string) string) (Place, bool) {
	git := findGit(getenv("PATH"))
	real, err := filepath.EvalSymlinks(dir)
	if git == "" || err != nil {
		return Place{}, false
	}
	if getenv("GIT_DIR") != "" {
		return askGit(git, real)
	}
	for top := real; ; top = filepath.Dir(top) {
		switch branch, err := readBranch(filepath.Join(top, ".git")); {
		case err == nil:
			return Place{branch, top}, true
		case errors.Is(err, safefile.ErrNotRegular):
			return Place{}, false // git would wait for a FIFO for ever
		case !errors.Is(err, fs.ErrNotExist):
			return askGit(git, real)
		}
		if top == filepath.Dir(top) {
			return Place{}, false
		}
	}
}

// errUnknown is returned for content that only git understands.
var errUnknown = errors.New("not a form of HEAD that is known here")

// maxBytes bounds the files that are read, of one short line each.
const maxBytes = 64 << 10

// readBranch returns the branch of a repository by its .git, a directory or the
// file in its place. fs.ErrNotExist is returned when there is no repository; like
// git, Find then tries the parent directory.
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
	if branch == Detached {
		branch = rebased(dir)
	}
	return branch, err
}

// rebased returns the branch that a rebase is in the middle of, which detaches HEAD, or
// Detached without one.
func rebased(gitdir string) string {
	for _, state := range []string{"rebase-merge", "rebase-apply"} {
		data, err := safefile.ReadFile(filepath.Join(gitdir, state, "head-name"), maxBytes, 0)
		if err != nil {
			continue
		}
		if branch, err := parseHead("ref: " + string(data)); err == nil {
			return branch
		}
	}
	return Detached
}

// gitDir returns git's directory: .git itself, or the directory that the file .git
// of a linked work tree or a submodule names.
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

// reftable is the content of HEAD when refs are stored in another form.
const reftable = "refs/heads/.invalid"

func parseHead(head string) (string, error) {
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

// isCommit reports whether s is the SHA-1 or SHA-256 name of a commit.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
