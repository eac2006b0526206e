package gitbranch

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// patience bounds how long git may take: the client gives a hook seconds.
const patience = 2 * time.Second

// program returns the path of git by the search path given, empty if there is
// none. (exec.LookPath would use this process's own PATH.)
func program(path string) string {
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

// ask runs git. A detached HEAD makes symbolic-ref fail where rev-parse knows
// the work tree.
func ask(git, dir string) (Place, bool) {
	top, err := run(git, dir, "rev-parse", "--show-toplevel")
	if err != nil || top == "" {
		return Place{}, false
	}
	branch, err := run(git, dir, "symbolic-ref", "--short", "-q", "HEAD")
	if err != nil {
		branch = Detached
	}
	return Place{branch, top}, true
}

func run(git string, dir string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, git, append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimRight(string(out), "\r\n"), err
}
