package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tree makes files (a name), directories (a name and a slash) and symbolic links
// (name -> target) and returns their root, a path without symbolic links.
func tree(t *testing.T, entries ...string) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, e := range entries {
		add(t, root, e)
	}
	return root
}

func add(t *testing.T, root, entry string) {
	if name, target, ok := cutLink(entry); ok {
		if filepath.IsAbs(target) {
			target = root + target
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
		return
	}
	path := filepath.Join(root, entry)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if entry[len(entry)-1] == '/' {
		require.NoError(t, os.MkdirAll(path, 0o755))
		return
	}
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
}

func cutLink(entry string) (name, target string, ok bool) {
	for i := range entry {
		if i+4 <= len(entry) && entry[i:i+4] == " -> " {
			return entry[:i], entry[i+4:], true
		}
	}
	return "", "", false
}

// onBranch returns a project on a branch, with a git that fails if it is run.
func onBranch(t *testing.T, branch string, entries ...string) (root string, env func(map[string]string) func(string) string) {
	root = tree(t, entries...)
	for path, text := range map[string]string{".git/HEAD": "ref: refs/heads/" + branch + "\n", ".bin/git": "#!/bin/sh\nexit 9\n"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o755))
	}
	return root, func(more map[string]string) func(string) string {
		return func(name string) string {
			if name == "PATH" && more[name] == "" {
				return filepath.Join(root, ".bin")
			}
			return more[name]
		}
	}
}

func TestTheFeatureDirectory(t *testing.T) {
	root, env := onBranch(t, "feature/foo", "specs/foo/", "src/deep/", "packages/x/specs/foo/", "packages/x/src/", "other/", "link -> src/deep")
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
	assert.Equal(t, "packages/x/specs/foo", at("packages/x/src", map[string]string{"CLAUDE_PROJECT_DIR": root}), "nearer than that of the project")
	assert.Equal(t, "specs/foo", at("link", nil), "a symlink within the work tree")
	assert.Equal(t, "specs/foo", at("gone", map[string]string{"CLAUDE_PROJECT_DIR": root}), "a cwd that does not exist")
	assert.Equal(t, "specs/foo", at("..", map[string]string{"CLAUDE_PROJECT_DIR": root}), "outside the project")
	assert.Equal(t, "specs/foo", at("..", map[string]string{"CLAUDE_PROJECT_DIR": root + "/src/deep"}), "in a project that is a part of the work tree")
	assert.Equal(t, "specs/foo", at("", map[string]string{"CLAUDE_PROJECT_DIR": root}), "without a cwd")
	assert.Equal(t, "plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": root + "/plans/y/"}))
	assert.Equal(t, "src/plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": "plans/y"}))
	assert.Equal(t, "plans/y", at("src", map[string]string{"PLANNING_FEATURE_DIR": "plans/y", "CLAUDE_PROJECT_DIR": root}))
	assert.Equal(t, "plans/y", at("", map[string]string{"PLANNING_FEATURE_DIR": "plans/y", "CLAUDE_PROJECT_DIR": root}), "without a cwd")
	assert.Equal(t, root, findPlace("", env(map[string]string{"CLAUDE_PROJECT_DIR": root}), defaults).cwd, "relative paths begin at the project")
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
	outer := tree(t, "specs/foo/", "repo/src/")
	require.NoError(t, os.MkdirAll(outer+"/repo/.git", 0o755))
	require.NoError(t, os.WriteFile(outer+"/repo/.git/HEAD", []byte("ref: refs/heads/feature/foo\n"), 0o644))
	require.NoError(t, os.WriteFile(outer+"/git", []byte("#!/bin/sh\n"), 0o755))
	place := findPlace(outer+"/repo/src", func(name string) string { return map[string]string{"PATH": outer}[name] }, defaults)
	assert.Equal(t, outer+"/repo/src/specs/foo", place.feature)
}

func TestASymbolicLinkIntoTheWorkTree(t *testing.T) {
	outer := tree(t, "repo/specs/foo/", "repo/src/", "link -> repo/src")
	require.NoError(t, os.MkdirAll(outer+"/repo/.git", 0o755))
	require.NoError(t, os.WriteFile(outer+"/repo/.git/HEAD", []byte("ref: refs/heads/feature/foo\n"), 0o644))
	require.NoError(t, os.WriteFile(outer+"/git", []byte("#!/bin/sh\n"), 0o755))
	assert.Equal(t, outer+"/repo/specs/foo", findPlace(outer+"/link", getenv(map[string]string{"PATH": outer}), defaults).feature)
}

func TestOtherBranchesHaveNoFeature(t *testing.T) {
	for _, branch := range []string{"main", "feature", "feature/", "feature/..", "feature/../../etc", "feature//etc", "features/x", "bugfix/feature/x"} {
		root, env := onBranch(t, branch)
		assert.Empty(t, findPlace(root, env(nil), defaults).feature, branch)
	}
}
