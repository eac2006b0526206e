package guard

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/gitbranch"
)

// place is where the workflow's files are.
type place struct {
	cwd     string // the event's if it is absolute, else root: what relative paths begin at
	root    string // CLAUDE_PROJECT_DIR, else cwd: where the project begins
	branch  string // empty outside a repository
	feature string // the feature directory, empty if there is none
}

// findPlace finds the feature directory: PLANNING_FEATURE_DIR, else the one
// that the branch feature/<name> names. The event's cwd follows the model's cd,
// so specs/<name> is looked for upwards from it, never only below it.
func findPlace(cwd string, env func(string) string) place {
	p := place{}
	if filepath.IsAbs(cwd) {
		p.cwd = filepath.Clean(cwd)
	}
	if p.root = p.cwd; filepath.IsAbs(env("CLAUDE_PROJECT_DIR")) {
		p.root = filepath.Clean(env("CLAUDE_PROJECT_DIR"))
	}
	p.cwd = orElse(p.cwd, p.root)
	repo := p.repository(env)
	p.branch = repo.Branch
	if dir := env("PLANNING_FEATURE_DIR"); dir != "" {
		p.feature = absolute(dir, p.root)
	} else if name, ok := featureName(p.branch); ok {
		p.feature = p.specs(repo.Top, name)
	}
	if p.feature != "" {
		p.feature = filepath.Clean(p.feature)
	}
	return p
}

// repository is the one that cwd is in. Where cwd is in none, or is not there any
// more, it is the project's: leaving the project is no way out of its rules.
func (p place) repository(env func(string) string) gitbranch.Place {
	for _, dir := range []string{p.cwd, p.root} {
		if dir == "" {
			continue
		}
		if repo, ok := gitbranch.Find(dir, env); ok {
			return repo
		}
	}
	return gitbranch.Place{}
}

// featureName refuses names that would lead out of specs: git never makes such
// a branch, but its HEAD is a file like any other.
func featureName(branch string) (string, bool) {
	name, ok := strings.CutPrefix(branch, "feature/")
	return name, ok && filepath.IsLocal(name) && name != "." && strings.IndexFunc(name, breaksLine) < 0
}

// specs returns the nearest specs/<name> from cwd up to the root of the work
// tree, else from the project. cwd is followed upwards as it is written and, if
// that leaves the work tree because a symlink led into it, as it is resolved.
func (p place) specs(top, name string) string {
	for _, from := range []string{p.cwd, resolve(p.cwd), p.root} {
		for dir := from; inTree(top, dir); dir = filepath.Dir(dir) {
			if candidate := filepath.Join(dir, "specs", name); isDir(candidate) {
				return candidate
			}
			if dir == "/" {
				break
			}
		}
	}
	return filepath.Join(p.root, "specs", name)
}

// inTree reports whether dir is the root of the work tree or below it.
func inTree(top, dir string) bool {
	real := resolve(dir)
	_, inside := within(top, real)
	return inside || real == top
}

// in returns the path of a file of the feature directory, empty without one.
func (p place) in(name string) string {
	if p.feature == "" {
		return ""
	}
	return filepath.Join(p.feature, name)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isFile reports whether path is a regular file or a symlink to one.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.Mode().IsRegular()
}

// hasContent reports whether path is a regular file of at least one byte.
func hasContent(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.Mode().IsRegular() && info.Size() > 0
}
