package install

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// reach describes in which directories the client reads a settings file (fact 52).
type reach struct {
	dir    string // of the project; empty for the user's file
	below  bool   // the file is also read in every directory below dir
	parent string // the project's root if it is above dir; empty otherwise
	flag   string // of install, for the file in parent
}

func (j *job) findReach(s terminal.Streams, file *settings.File) reach {
	if j.Scope == User {
		return reach{}
	}
	dir := filepath.Dir(filepath.Dir(file.Path))
	_, main := client.WorkTree(locator.OS{}, dir)
	r := reach{dir: dir, below: j.Scope != Project && dir == main}
	if j.Scope == Project {
		r.flag = " --project"
	}
	if !exists(dir, ".git") {
		r.parent = projectAbove(s, dir)
	}
	return r
}

// projectAbove returns the nearest parent directory that is the root of a git
// repository, has settings of the client, or has dir in its .claude, where a person
// writes a skill. The user's home is not a project: its .claude holds the user's settings.
func projectAbove(s terminal.Streams, dir string) string {
	for dir != filepath.Dir(dir) {
		inClaude := filepath.Base(dir) == ".claude"
		dir = filepath.Dir(dir)
		if safefile.Same(dir, s.Env("HOME")) {
			return ""
		}
		if inClaude || exists(dir, ".git") || exists(dir, client.ProjectSettings) || exists(dir, client.LocalSettings) {
			return dir
		}
	}
	return ""
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

func (r reach) String() string {
	switch {
	case r.dir == "":
		return "the client reads this file wherever it starts"
	case r.below:
		return fmt.Sprintf("the client reads this file when it starts in %s or below", r.dir)
	}
	return fmt.Sprintf("the client reads this file only when it starts in %s", r.dir)
}

// hint suggests the file that the client reads when it starts in the project's root.
func (r reach) hint() string {
	if r.parent == "" {
		return ""
	}
	return fmt.Sprintf("the project is in %s; if the client starts there, it does not read this file: run cd %s%sfsmtx install%s",
		r.parent, shell.Join(r.parent), shell.Then(), r.flag)
}

// hasHooks reports whether the same file of another directory already has one of the
// hooks.
func (j *job) hasHooks(dir string, hooks []settings.Hook) bool {
	name := client.LocalSettings
	if j.Scope == Project {
		name = client.ProjectSettings
	}
	file, err := settings.Read(filepath.Join(dir, name))
	if err != nil {
		return false
	}
	report, err := settings.Inspect(file.Data, hooks)
	return err == nil && report.State != settings.Absent
}
