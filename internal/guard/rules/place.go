package rules

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/internal/guard"
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

// findPlace finds the feature directory: PLANNING_FEATURE_DIR, else the one of the branch
// feature/<name>. specs/<name> is searched for from the event's cwd upwards, because cwd
// follows the model's cd (fact 21).
func findPlace(cwd string, env func(string) string, config configuration) place {
	p := place{}
	if filepath.IsAbs(cwd) {
		p.cwd = filepath.Clean(cwd)
	}
	if p.root = p.cwd; filepath.IsAbs(env("CLAUDE_PROJECT_DIR")) {
		p.root = filepath.Clean(env("CLAUDE_PROJECT_DIR"))
	}
	p.cwd = cmp.Or(p.cwd, p.root)
	repo, name := p.repository(env, config.branchPrefix)
	p.branch = repo.Branch
	if dir := env("PLANNING_FEATURE_DIR"); dir != "" {
		p.feature = safefile.Absolute(dir, p.root)
	} else if name != "" {
		p.feature = p.specs(repo.Top, config.specsDir, name)
	}
	if p.feature != "" {
		p.feature = filepath.Clean(p.feature)
	}
	return p
}

// repository returns the repository of cwd and the name of the feature whose branch is
// checked out there. If there is no feature (cwd does not exist or is outside a repository,
// in a nested one, or at a detached HEAD), but the project's repository has one, that
// repository is returned: leaving the project must not switch off its rules.
func (p place) repository(env func(string) string, prefix string) (repo branchPlace, feature string) {
	for _, dir := range slices.Compact([]string{p.cwd, p.root}) {
		found, ok := branchPlace{}, false
		if dir != "" {
			found, ok = findBranch(dir, env)
		}
		if name, is := featureName(found.Branch, prefix); ok && is {
			return found, name
		}
		if ok && repo.Top == "" {
			repo = found
		}
	}
	return repo, ""
}

// featureName returns the name of the feature that a branch belongs to, and false if it
// belongs to none. It refuses names that lead out of specs: Git never creates such a
// branch, but any program can write one into HEAD.
func featureName(branch, prefix string) (string, bool) {
	name, ok := strings.CutPrefix(branch, prefix)
	return name, ok && filepath.IsLocal(name) && name != "." && strings.IndexFunc(name, guard.BreaksLine) < 0
}

// specs returns the nearest directory <specs>/<name> from cwd up to the root of the work
// tree, or else the project's, which may not exist yet. cwd is searched as it is written
// and then resolved, because a symbolic link may lead into the work tree.
func (p place) specs(top, specs, name string) string {
	for _, from := range []string{p.cwd, safefile.Resolve(p.cwd), p.root} {
		for dir := from; inTree(top, dir); dir = filepath.Dir(dir) {
			if candidate := filepath.Join(dir, specs, name); safefile.IsDir(candidate) {
				return candidate
			}
			if dir == "/" {
				break
			}
		}
	}
	return filepath.Join(p.root, specs, name)
}

// inTree reports whether dir is the root of the work tree or below it.
func inTree(top, dir string) bool {
	real := safefile.Resolve(dir)
	_, inside := safefile.Within(top, real)
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

// target returns the resolved path in the first of these members of the tool's input that
// has one, otherwise "".
func (c *call) target(names ...string) string {
	for _, name := range names {
		if path := safefile.Absolute(jsonx.StringMember(c.Event.ToolInput, name), c.place.cwd); path != "" {
			resolved := safefile.Resolve(path)
			c.Fact("path", resolved)
			return resolved
		}
	}
	c.Fact("path", "none")
	return ""
}
