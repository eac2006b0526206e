package rules

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// timeout limits a run of git, because the client limits the run of a hook.
const timeout = 2 * time.Second

// findGit returns the path of git on the given search path, "" if it is not on it.
// exec.LookPath would use this process's own PATH.
func findGit(path string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, "git")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// askGit runs git to find the work tree and the branch. symbolic-ref -q exits with 1 if HEAD is
// detached. After any other failure, such as git's being too slow, the branch is not known.
func askGit(git, dir string) (branchPlace, bool) {
	top, err := run(git, dir, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return branchPlace{}, false
	}
	branch, err := run(git, dir, "symbolic-ref", "--short", "-q", "HEAD")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return branchPlace{detached, top}, true
	}
	return branchPlace{branch, top}, err == nil
}

func run(git, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	c := exec.CommandContext(ctx, git, append([]string{"-C", dir}, args...)...)
	c.WaitDelay = timeout / 4 // what git has started may keep the pipe open
	out, err := c.Output()
	return strings.TrimRight(string(out), "\r\n"), err
}
