package rules

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/gitbranch"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/guard/paths"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// place is where the workflow's files are.
type place struct {
	cwd     string // the event's if it is absolute, else root; relative paths start here
	root    string // CLAUDE_PROJECT_DIR, else cwd
	branch  string // empty outside a repository
	feature string // the feature directory, empty if there is none
}

// findPlace finds the feature directory: PLANNING_FEATURE_DIR, else the one of the
// branch feature/<name>. The event's cwd follows the model's cd (fact 21), so
// specs/<name> is searched upwards from it.
func findPlace(cwd string, env func(string) string) place {
	p := place{}
	if filepath.IsAbs(cwd) {
		p.cwd = filepath.Clean(cwd)
	}
	if p.root = p.cwd; filepath.IsAbs(env("CLAUDE_PROJECT_DIR")) {
		p.root = filepath.Clean(env("CLAUDE_PROJECT_DIR"))
	}
	p.cwd = cmp.Or(p.cwd, p.root)
	repo := p.repository(env)
	p.branch = repo.Branch
	if dir := env("PLANNING_FEATURE_DIR"); dir != "" {
		p.feature = paths.Absolute(dir, p.root)
	} else if name, ok := featureName(p.branch); ok {
		p.feature = p.specs(repo.Top, name)
	}
	if p.feature != "" {
		p.feature = filepath.Clean(p.feature)
	}
	return p
}

// repository returns the repository of cwd, or the project's if cwd is in none or
// does not exist: leaving the project must not switch off its rules.
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

// featureName refuses names that lead out of specs. Git never creates such a
// branch, but anyone can write one into HEAD.
func featureName(branch string) (string, bool) {
	name, ok := strings.CutPrefix(branch, "feature/")
	return name, ok && filepath.IsLocal(name) && name != "." && strings.IndexFunc(name, guard.BreaksLine) < 0
}

// specs returns the nearest specs/<name> from cwd up to the root of the work tree,
// or else that of the project. If a symbolic link leads into the work tree, cwd is
// followed upwards as it is written first, then as it is resolved.
func (p place) specs(top, name string) string {
	for _, from := range []string{p.cwd, safefile.Resolve(p.cwd), p.root} {
		for dir := from; inTree(top, dir); dir = filepath.Dir(dir) {
			if candidate := filepath.Join(dir, "specs", name); paths.IsDir(candidate) {
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
	real := safefile.Resolve(dir)
	_, inside := paths.Within(top, real)
	return inside || real == top
}

// path returns the path of a file of the feature directory, "" if there is no
// feature directory.
func (p place) path(name string) string {
	if p.feature == "" {
		return ""
	}
	return filepath.Join(p.feature, name)
}

// target returns the resolved path that a tool call names in one of the members of
// its input, "" if there is none.
func (c *call) target(names ...string) string {
	for _, name := range names {
		if path := paths.Absolute(jsonx.StringMember(c.Event.ToolInput, name), c.place.cwd); path != "" {
			resolved := safefile.Resolve(path)
			c.Fact("path", resolved)
			return resolved
		}
	}
	c.Fact("path", "none")
	return ""
}
