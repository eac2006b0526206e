package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

const commit = "1f6e9d3a5c7b8e2f4a6d8c0b9e7f5a3d1c2b4e6f"

// machine returns an environment whose git creates the file ran and fails.
func machine(t *testing.T) (getenv func(string) string, ran string) {
	bin := t.TempDir()
	ran = filepath.Join(bin, "ran")
	script := "#!/bin/sh\n: > " + ran + "\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755))
	return func(name string) string {
		if name == "PATH" {
			return "relative:" + bin
		}
		return ""
	}, ran
}

func write(t *testing.T, text string, parts ...string) {
	path := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// tempDir returns a temporary directory without symbolic links in its path, which
// macOS has.
func tempDir(t *testing.T) string {
	return must(filepath.EvalSymlinks(t.TempDir()))
}

func TestFindReadsGitsFiles(t *testing.T) {
	getenv, ran := machine(t)
	const rebased = "refs/heads/feature/x\n"
	for name, c := range map[string]struct {
		files    map[string]string // by path; what begins with "-> " is a link
		from     string            // where the search begins
		branch   string            // "" if there is no repository
		worktree string
	}{
		"a branch":      {map[string]string{".git/HEAD": "ref: refs/heads/main\n"}, "", "main", ""},
		"from below":    {map[string]string{".git/HEAD": "ref: refs/heads/feature/a-b/c\n", "src/deep/x": ""}, "src/deep", "feature/a-b/c", ""},
		"from .git":     {map[string]string{".git/HEAD": "ref:refs/heads/x"}, ".git", "x", ""},
		"a commit":      {map[string]string{".git/HEAD": commit + "\n"}, "", detached, ""},
		"a long commit": {map[string]string{".git/HEAD": strings.Repeat("a", 64) + "\n"}, "", detached, ""},
		"a link":        {map[string]string{".git/HEAD": "-> refs/heads/old-style"}, "", "old-style", ""},
		"a worktree": {map[string]string{"main/.git/worktrees/w/HEAD": "ref: refs/heads/feature/x\n",
			"linked/.git": "gitdir: ROOT/main/.git/worktrees/w\n"}, "linked", "feature/x", "linked"},
		"a submodule": {map[string]string{"modules/m/HEAD": commit + "\n", "m/.git": "gitdir: ../modules/m\n"}, "m", detached, "m"},
		"a link into a repository": {map[string]string{"repo/.git/HEAD": "ref: refs/heads/main\n", "repo/src/x": "", "link": "-> repo/src"},
			"link", "main", "repo"},
		"a rebase":            {map[string]string{".git/HEAD": commit + "\n", ".git/rebase-merge/head-name": rebased}, "", "feature/x", ""},
		"an applied rebase":   {map[string]string{".git/HEAD": commit + "\n", ".git/rebase-apply/head-name": rebased}, "", "feature/x", ""},
		"a rebased commit":    {map[string]string{".git/HEAD": commit, ".git/rebase-merge/head-name": "detached HEAD\n"}, "", detached, ""},
		"without a HEAD":      {map[string]string{".git/x": ""}, "", "", ""},
		"what does not exist": {map[string]string{".git/x": ""}, "none", "", ""},
		"the root":            {nil, "../../../../../..", "", ""},
	} {
		root := tempDir(t)
		for path, text := range c.files {
			if target, isLink := strings.CutPrefix(text, "-> "); isLink {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
				require.NoError(t, os.Symlink(target, filepath.Join(root, path)))
			} else {
				write(t, strings.ReplaceAll(text, "ROOT", root), root, path)
			}
		}
		place, ok := findBranch(filepath.Join(root, c.from), getenv)
		assert.Equal(t, c.branch != "", ok, name)
		if ok {
			assert.Equal(t, branchPlace{c.branch, filepath.Join(root, c.worktree)}, place, name)
		}
	}
	assert.NoFileExists(t, ran)
}

func TestWithoutGitThereAreNoRepositories(t *testing.T) {
	top := tempDir(t)
	write(t, "ref: refs/heads/main\n", top, ".git", "HEAD")
	write(t, "not executable", top, "bin", "git")
	require.NoError(t, os.MkdirAll(filepath.Join(top, "folder", "git"), 0o755))
	t.Chdir(tempDir(t))
	require.NoError(t, os.Mkdir("relative", 0o755))
	require.NoError(t, os.WriteFile("relative/git", nil, 0o755))
	for _, path := range []string{"", "relative", filepath.Join(top, "bin"), filepath.Join(top, "folder"), filepath.Join(top, "none")} {
		_, ok := findBranch(top, func(name string) string { return map[string]string{"PATH": path}[name] })
		assert.False(t, ok, path)
	}
}

func TestGitRunsIfItsFilesAreNotUnderstood(t *testing.T) {
	for name, head := range map[string]string{"other ref storage": "ref: refs/heads/.invalid\n", "no branch": "ref: refs/remotes/x\n",
		"nonsense": "?\n", "no name": "ref: refs/heads/\n", "as long as a commit": strings.Repeat("x", 40)} {
		getenv, ran := machine(t)
		top := tempDir(t)
		write(t, head, top, ".git", "HEAD")
		_, ok := findBranch(top, getenv)
		assert.False(t, ok, "this git fails")
		assert.FileExists(t, ran, name)
	}
	getenv, ran := machine(t)
	_, _ = findBranch(tempDir(t), func(name string) string {
		if name == "GIT_DIR" {
			return "/somewhere"
		}
		return getenv(name)
	})
	assert.FileExists(t, ran, "GIT_DIR")
}

// TestFIFOIsNotRead: a hook must not block on a FIFO in place of HEAD or .git.
func TestFIFOIsNotRead(t *testing.T) {
	for _, name := range []string{".git", ".git/HEAD"} {
		getenv, ran := machine(t)
		top := tempDir(t)
		path := filepath.Join(top, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, files.Mkfifo(path, 0o600))
		_, ok := findBranch(top, getenv)
		assert.False(t, ok, name)
		assert.NoFileExists(t, ran, "git would block on it")
	}
}

// TestOnlyItsExitCodeSaysThatHeadIsDetached: a git that was too slow and was killed has not said so.
func TestOnlyItsExitCodeSaysThatHeadIsDetached(t *testing.T) {
	for end, known := range map[string]bool{"exit 1": true, "exit 128": false, "kill -9 $$": false} {
		git := filepath.Join(t.TempDir(), "git")
		script := "#!/bin/sh\nif [ $3 = rev-parse ]; then echo /top; exit; fi\n" + end + "\n"
		require.NoError(t, os.WriteFile(git, []byte(script), 0o755))
		place, ok := askGit(git, "/")
		assert.Equal(t, known, ok, end)
		if known {
			assert.Equal(t, branchPlace{detached, "/top"}, place)
		}
	}
}

// TestAgreesWithGit compares with the real program.
func TestAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	top := filepath.Join(tempDir(t), "repo")
	do := func(args ...string) {
		must(exec.Command(git, append([]string{"-c", "user.name=n", "-c", "user.email=e"}, args...)...).CombinedOutput())
	}
	agree := func(dir string) {
		t.Helper()
		ours, ok := findBranch(dir, os.Getenv)
		require.True(t, ok)
		theirs, ok := askGit(git, dir)
		require.True(t, ok)
		assert.Equal(t, theirs, ours)
	}
	do("init", "-q", "-b", "feature/new", top)
	agree(top) // a branch without a commit
	do("-C", top, "commit", "-q", "--allow-empty", "-m", "x")
	agree(top)
	do("-C", top, "pack-refs", "--all")
	agree(top)
	do("-C", top, "worktree", "add", "-q", "-b", "feature/other", filepath.Join(top, "..", "linked"))
	agree(filepath.Join(filepath.Dir(top), "linked"))
	do("-C", top, "checkout", "-q", "--detach")
	agree(top)
}

func TestFindRunsGitForReftables(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	top := filepath.Join(tempDir(t), "repo")
	if out, err := exec.Command(git, "init", "-q", "-b", "feature/x", "--ref-format=reftable", top).CombinedOutput(); err != nil {
		t.Skip("this git has no reftable storage: " + string(out))
	}
	place, ok := findBranch(top, os.Getenv)
	assert.True(t, ok)
	assert.Equal(t, branchPlace{"feature/x", top}, place)
}
