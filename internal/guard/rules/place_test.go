package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// checkOut makes a directory a repository on a branch, with a program git that fails if it
// is run. It returns the directory of the program.
func checkOut(t *testing.T, dir, branch string) (bin string) {
	for path, text := range map[string]string{".git/HEAD": "ref: refs/heads/" + branch + "\n", ".bin/git": "#!/bin/sh\nexit 9\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755))
	}
	return filepath.Join(dir, ".bin")
}

// onBranch returns a project on a branch, and environments with git on the PATH.
func onBranch(t *testing.T, branch string, entries ...string) (root string, env func(map[string]string) func(string) string) {
	root = worlds.Tree(t, entries...)
	bin := checkOut(t, root, branch)
	return root, func(more map[string]string) func(string) string {
		return func(name string) string {
			if name == "PATH" && more[name] == "" {
				return bin
			}
			return more[name]
		}
	}
}

func TestTheNameOfAFeature(t *testing.T) {
	for branch, want := range map[string]string{"feature/x": "x", "feature/x/y": "x/y", "main": "", "feature/": "", "feature/.": "",
		"feature/../x": "", "feature//x": "", "feature/x\ny": "", "feature/x\u2028y": ""} {
		name, ok := featureName(branch, "feature/")
		assert.Equal(t, want != "", ok, "%q", branch)
		if ok {
			assert.Equal(t, want, name)
		}
	}
}

func TestTheFeatureDirectory(t *testing.T) {
	root, env := onBranch(t, "feature/foo", "specs/foo/", "src/deep/", "packages/x/specs/foo/", "packages/x/src/", "other/",
		"link -> src/deep")
	at := func(cwd string, vars map[string]string) string {
		if cwd != "" {
			cwd = filepath.Join(root, cwd)
		}
		rel, _ := filepath.Rel(root, findPlace(cwd, env(vars), defaults).feature)
		return rel
	}
	assert.Equal(t, "specs/foo", at(".", nil))
	assert.Equal(t, "specs/foo", at("src/deep", nil), "upwards from cwd")
	assert.Equal(t, "specs/foo", at("specs/foo", nil))
	assert.Equal(t, "packages/x/specs/foo", at("packages/x/src", nil), "the nearest one")
	assert.Equal(t, "packages/x/specs/foo", at("packages/x/src", map[string]string{"CLAUDE_PROJECT_DIR": root}),
		"nearer than that of the project")
	assert.Equal(t, "specs/foo", at("link", nil), "a symlink within the work tree")
	assert.Equal(t, "specs/foo", at("gone", map[string]string{"CLAUDE_PROJECT_DIR": root}), "a cwd that does not exist")
	assert.Equal(t, "specs/foo", at("..", map[string]string{"CLAUDE_PROJECT_DIR": root}), "outside the project")
	assert.Equal(t, "specs/foo", at("..", map[string]string{"CLAUDE_PROJECT_DIR": root + "/src/deep"}),
		"in a project that is a part of the work tree")
	assert.Equal(t, "specs/foo", at("", map[string]string{"CLAUDE_PROJECT_DIR": root}), "without a cwd")
	assert.Equal(t, "plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": root + "/plans/y/"}))
	assert.Equal(t, "src/plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": "plans/y"}))
	assert.Equal(t, "plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": "plans/y", "CLAUDE_PROJECT_DIR": root}))
	assert.Equal(t, "plans/y", at("", map[string]string{"PLANNING_FEATURE_DIR": "plans/y", "CLAUDE_PROJECT_DIR": root}), "without a cwd")
	assert.Equal(t, root, findPlace("", env(map[string]string{"CLAUDE_PROJECT_DIR": root}), defaults).cwd,
		"relative paths begin at the project")
	assert.Equal(t, root, findPlace("relative", env(map[string]string{"CLAUDE_PROJECT_DIR": root}), defaults).cwd)
	assert.Empty(t, findPlace("", env(nil), defaults).cwd)
	assert.Empty(t, findPlace("", env(nil), defaults).feature)
	assert.Empty(t, findPlace("relative", env(nil), defaults).feature)
	assert.Empty(t, findPlace(root, env(map[string]string{"PATH": "/nowhere"}), defaults).feature, "without git")
}

func TestAFeatureDirectoryThatDoesNotExistYet(t *testing.T) {
	root, env := onBranch(t, "feature/a/b", "src/")
	assert.Equal(t, root+"/src/specs/a/b", findPlace(root+"/src", env(nil), defaults).feature)
	assert.Equal(t, root+"/specs/a/b", findPlace(root+"/src", env(map[string]string{"CLAUDE_PROJECT_DIR": root}), defaults).feature)
}

func TestTheSearchEndsAtTheWorkTree(t *testing.T) {
	outer := worlds.Tree(t, "specs/foo/", "repo/src/")
	env := getenv(map[string]string{"PATH": checkOut(t, outer+"/repo", "feature/foo")})
	assert.Equal(t, outer+"/repo/src/specs/foo", findPlace(outer+"/repo/src", env, defaults).feature)
}

func TestASymbolicLinkIntoTheWorkTree(t *testing.T) {
	outer := worlds.Tree(t, "repo/specs/foo/", "repo/src/", "link -> repo/src")
	env := getenv(map[string]string{"PATH": checkOut(t, outer+"/repo", "feature/foo")})
	assert.Equal(t, outer+"/repo/specs/foo", findPlace(outer+"/link", env, defaults).feature)
}

func TestOtherBranchesHaveNoFeature(t *testing.T) {
	for _, branch := range []string{"main", "feature", "feature/", "feature/..", "feature/../../etc", "feature//etc", "features/x",
		"bugfix/feature/x"} {
		root, env := onBranch(t, branch)
		assert.Empty(t, findPlace(root, env(nil), defaults).feature, branch)
	}
}
