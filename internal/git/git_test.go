package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/message"
)

// world is a repository with a commit.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "config"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	w := world{t, t.TempDir()}
	w.git("config", "--global", "user.name", "Ada")
	w.git("config", "--global", "user.email", "ada@example.org")
	w.git("config", "--global", "protocol.file.allow", "always")
	w.git("init", "-q", "-b", "main")
	w.put("a.go", "a")
	w.put("dir/b.go", "b")
	w.put(".gitignore", "*.log\n")
	w.commit()
	return w
}

func (w world) git(args ...string) string {
	w.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = w.dir
	out, err := c.CombinedOutput()
	require.NoError(w.t, err, string(out))
	return strings.TrimSpace(string(out))
}

func (w world) put(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

func (w world) commit() {
	w.t.Helper()
	w.git("add", "--all")
	w.git("commit", "-q", "-m", "x")
}

func (w world) now(store string) git.Content { return git.Now(w.t.Context(), w.dir, store) }

// tree is that of the commit.
func (w world) tree() string { w.t.Helper(); return w.git("rev-parse", "HEAD^{tree}") }

func TestTheTreeIsThatOfTheFilesAsTheyAre(t *testing.T) {
	w := newWorld(t)
	store := filepath.Join(t.TempDir(), "objects")
	require.Equal(t, git.Content{Head: w.git("rev-parse", "HEAD"), Trees: []string{w.tree()}}, w.now(store))
	w.put("x.log", "ignored")
	require.Equal(t, []string{w.tree()}, w.now(store).Trees)
	for _, change := range []func(){
		func() { w.put("a.go", "other") },
		func() { w.put("dir/new.go", "new") },
		func() { require.NoError(t, os.Remove(filepath.Join(w.dir, "dir/b.go"))) },
		func() { require.NoError(t, os.Chmod(filepath.Join(w.dir, "a.go"), 0o755)) },
		func() { require.NoError(t, os.Symlink("a.go", filepath.Join(w.dir, "link"))) },
	} {
		change()
		before := all(t, w.dir)
		seen := w.now(store)
		require.NotEqual(t, []string{w.tree()}, seen.Trees)
		require.Equal(t, before, all(t, w.dir), "nothing is written into the repository")
		w.commit()
		require.Equal(t, []string{w.tree()}, seen.Trees, "it is the tree of a commit of all that")
		require.Equal(t, seen.Trees, w.now("").Trees)
	}
}

// all returns the names, modes and times of what is in a directory. Objects have no times: git notes on them that they are in use.
func all(t *testing.T, dir string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil || info.IsDir():
		case strings.Contains(path, "/objects/"):
			found = append(found, path)
		default:
			found = append(found, path+info.ModTime().String()+info.Mode().String())
		}
		return err
	}))
	return found
}

// TestAChangeThatIsSetBack: of the same size, with the time of before, as git would not see it if the repository had its way.
func TestAChangeThatIsSetBack(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.dir, "a.go")
	info, err := os.Stat(file)
	require.NoError(t, err)
	w.git("config", "core.trustctime", "false")
	w.git("config", "core.checkStat", "minimal")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file, old, old))
	w.git("status")
	second := func() int64 { // by the clock of the file system
		w.put("a.go", "b")
		now, err := os.Stat(file)
		require.NoError(t, err)
		return now.ModTime().Unix()
	}
	for begun := second(); second() == begun; { // git knows the time of a file's status by the second
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, os.Chtimes(file, old, old))
	require.Equal(t, info.Size(), int64(1))
	require.NotEqual(t, []string{w.tree()}, w.now("").Trees)
	dirty, err := git.Repository{Dir: w.dir}.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a.go"}, dirty)
}

// TestWhatIsHidden: each way to keep a change from git is named.
func TestWhatIsHidden(t *testing.T) {
	for name, c := range map[string]struct {
		hide func(world)
		want string
	}{
		"nothing":          {func(world) {}, ""},
		"assume unchanged": {func(w world) { w.git("update-index", "--assume-unchanged", "dir/b.go") }, "dir/b.go (assume-unchanged)"},
		"skip worktree":    {func(w world) { w.git("update-index", "--skip-worktree", "a.go") }, "a.go (skip-worktree)"},
		"both": {func(w world) {
			w.git("update-index", "--skip-worktree", "a.go")
			w.git("update-index", "--assume-unchanged", "a.go")
		}, "a.go (skip-worktree)"},
		"sparse":             {func(w world) { w.git("sparse-checkout", "set", "none") }, "dir/b.go (skip-worktree)"},
		"a change":           {func(w world) { w.put("a.go", "x") }, ""},
		"a submodule":        {func(world) {}, ""},
		"a submodule's file": {func(w world) { w.put("sub/a.go", "x") }, "sub/a.go (changed in a submodule)"},
		"a submodule's new":  {func(w world) { w.put("sub/new.go", "x") }, "sub/new.go (changed in a submodule)"},
		"a submodule's index": {func(w world) { w.git("-C", "sub", "update-index", "--assume-unchanged", "a.go") },
			"sub/a.go (assume-unchanged)"},
		"a submodule that is not there": {func(w world) { w.git("submodule", "deinit", "-q", "-f", "sub") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if strings.Contains(name, "submodule") {
				other := newWorld(t)
				w.git("config", "--global", "protocol.file.allow", "always")
				w.git("config", "--global", "user.name", "Ada")
				w.git("config", "--global", "user.email", "ada@example.org")
				w.git("submodule", "add", "-q", other.dir, "sub")
				w.git("config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
				w.git("config", "submodule.sub.ignore", "all")
				w.git("config", "diff.ignoreSubmodules", "all")
				w.commit()
			}
			c.hide(w)
			found, err := git.Repository{Dir: w.dir}.Hidden(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(found, ", "))
			require.Equal(t, c.want == "", w.now("").Unknown == "", w.now("").Unknown)
			require.Contains(t, w.now("").Unknown, c.want)
		})
	}
}

// TestACommitOfASubmodule is a change like others, whatever is to be ignored.
func TestACommitOfASubmodule(t *testing.T) {
	other := newWorld(t)
	w := newWorld(t)
	w.git("submodule", "add", "-q", other.dir, "sub")
	w.git("config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
	w.git("config", "diff.ignoreSubmodules", "all")
	w.commit()
	require.Equal(t, []string{w.tree()}, w.now("").Trees)
	w.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "y")
	dirty, err := git.Repository{Dir: w.dir}.Dirty(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"sub"}, dirty)
	require.NotEqual(t, []string{w.tree()}, w.now("").Trees)
}

// TestTheFilesOfAnotherDirectory: a repository that says that its files are elsewhere is not believed.
func TestTheFilesOfAnotherDirectory(t *testing.T) {
	w := newWorld(t)
	w.git("config", "core.worktree", t.TempDir())
	require.Contains(t, w.now("").Unknown, "git looks for the files of "+w.dir+" in ")
}

func TestWhereThereIsNothing(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, git.Now(t.Context(), t.TempDir(), "").Unknown, "is not in a git repository")
	w.git("checkout", "-q", "--orphan", "new")
	c := w.now("")
	require.Empty(t, c.Head)
	require.Empty(t, c.Unknown)
	w.git("rm", "-r", "-q", "--cached", ".")
	require.Equal(t, c.Trees, w.now("").Trees, "no index is needed")
}

func TestOneAfterTheOther(t *testing.T) {
	a, b := git.Content{Head: "1", Trees: []string{"x"}}, git.Content{Head: "2", Trees: []string{"y"}}
	require.Equal(t, a, a.Then(a))
	require.Equal(t, git.Content{Head: "2", Trees: []string{"x", "y"}}, a.Then(b))
	require.Equal(t, git.Content{Head: "1", Trees: []string{"x", "y"}}, a.Then(b).Then(a))
	require.Equal(t, []string{"x"}, a.Trees)
	none := git.Content{Unknown: "why"}
	require.Equal(t, none, a.Then(none))
	require.Equal(t, none, none.Then(a))
}

// BenchmarkNow is with 50,000 files in 500 directories: nothing changed, and one file changed.
func BenchmarkNow(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(b, err, string(out))
	}
	run("init", "-q")
	run("config", "gc.auto", "0")
	for i := range 50_000 {
		sub := filepath.Join(dir, "d"+strconv.Itoa(i%500))
		if i < 500 {
			require.NoError(b, os.Mkdir(sub, 0o755))
		}
		require.NoError(b, os.WriteFile(filepath.Join(sub, strconv.Itoa(i)), []byte(strconv.Itoa(i)+"\n"), 0o644))
	}
	run("add", "--all")
	run("commit", "-q", "-m", "x")
	store := filepath.Join(b.TempDir(), "objects")
	for _, changed := range []bool{false, true} {
		b.Run("changed="+strconv.FormatBool(changed), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if changed {
					require.NoError(b, os.WriteFile(filepath.Join(dir, "d7/7"), []byte("now "+strconv.Itoa(i)), 0o644))
				}
				require.Empty(b, git.Now(b.Context(), dir, store).Unknown)
			}
		})
	}
}

// TestARepositoryOfAnotherUser: git's refusal is said with what to do. Git itself says so only to another user.
func TestARepositoryOfAnotherUser(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\necho \"fatal: detected dubious ownership in repository at '/x y'\" >&2\nexit 128\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	_, err := git.Open(t.Context(), "/x y/z")
	require.EqualError(t, err, "git refuses the repository of /x y/z, because it belongs to another user")
	require.Equal(t, "if you trust it: git config --global --add safe.directory '/x y'", message.Hint(err))
}
