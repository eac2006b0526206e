package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/git"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// TestEachFlagAndSettingOfGit: a file is changed while git is told one thing. The tree differs then, or it is not known, and the work tree
// is not clean or something is hidden in it, unless the row names the words with which the page about statements says why not.
func TestEachFlagAndSettingOfGit(t *testing.T) {
	worlds.Long(t)
	page, err := os.ReadFile("../../docs/internals/attestation.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## On which content\n")
	section, _, _ = strings.Cut(section, "\n## ")
	config := func(args ...string) func(world) {
		return func(w world) { w.git(append([]string{"config"}, args...)...) }
	}
	index := func(args ...string) func(world) {
		return func(w world) { w.git(append([]string{"update-index"}, args...)...) }
	}
	own := func(name, text string) func(world) { // a file of the repository's own
		return func(w world) {
			require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, ".git/info"), 0o755))
			require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, ".git", name), []byte(text), 0o644))
		}
	}
	env := func(name, value string) func(world) { return func(w world) { w.t.Setenv(name, value) } }
	put := func(name, text string) func(world) { return func(w world) { w.put(name, text) } }
	mode := func(w world) { require.NoError(w.t, os.Chmod(filepath.Join(w.dir, "a.go"), 0o755)) }
	rename := func(from, to string) func(world) {
		return func(w world) { require.NoError(w.t, os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to))) }
	}
	type row struct {
		name   string
		set    func(world)
		change func(world) // nil for other bytes in a.go
		index  bool        // the change is one of the index alone
		except string      // where the answer does not change: words of the page that say so
	}
	crlf := put("a.go", "a\r\n")
	rows := []row{
		{name: "nothing", set: func(world) {}},
		{name: "nothing, and a mode", set: func(world) {}, change: mode},
		{name: "nothing, and other line ends", set: func(world) {}, change: crlf},
		{name: "assume-unchanged", set: index("--assume-unchanged", "a.go")},
		{name: "skip-worktree", set: index("--skip-worktree", "a.go")},
		{name: "a file that is only named", set: func(world) {}, change: func(w world) { w.put("new", "x"); w.git("add", "-N", "new") }},
		{name: "a file that the index has no more", set: index("--force-remove", "a.go")},
		{name: "a deletion that the index has", set: index("--force-remove", "a.go"), change: func(world) {}, index: true},
		{name: "other content in the index", set: func(w world) { w.put("a.go", "i"); w.git("add", "a.go") }},
		{name: "a mode in the index", set: index("--chmod=+x", "a.go"), change: func(world) {}, index: true},
		{name: "a conflict", set: func(w world) {
			id := w.git("rev-parse", "HEAD:a.go")
			c := "0 " + strings.Repeat("0", 40) + "\ta.go\n100644 " + id + " 2\ta.go\n100644 " + id + " 3\ta.go\n"
			own("conflict", c)(w)
			w.git("-c", "alias.x=!git update-index --index-info <.git/conflict", "x")
		}},
		{name: "a split index", set: index("--split-index")},
		{name: "an untracked cache", set: index("--force-untracked-cache"), change: put("new", "x")},
		{name: "what a monitor said", set: func(w world) {
			w.git("config", "core.fsmonitor", "true")
			w.git("update-index", "--fsmonitor")
			w.git("update-index", "--fsmonitor-valid", "a.go")
			w.git("config", "--unset", "core.fsmonitor")
		}},
		{name: "sparse", set: func(w world) { w.git("sparse-checkout", "set", "--sparse-index", "other") }},
		{name: "ignoreStat", set: config("core.ignoreStat", "true")},
		{name: "checkStat", set: config("core.checkStat", "minimal")},
		{name: "trustctime", set: config("core.trustctime", "false")},
		{name: "showUntrackedFiles", set: config("status.showUntrackedFiles", "no"), change: put("new", "x")},
		{name: "relativePaths", set: config("status.relativePaths", "false")},
		{name: "worktree", set: config("core.worktree", "/")},
		{name: "bare", set: config("core.bare", "true")},
		{name: "quotePath", set: config("core.quotePath", "true"), change: put("ä", "x")},
		{name: "a configuration that is included", set: func(w world) {
			own("more", "[core]\n\tignoreStat = true\n")(w)
			config("include.path", "more")(w)
		}},
		{name: "a configuration of the work tree", set: func(w world) {
			config("extensions.worktreeConfig", "true")(w)
			w.git("config", "--worktree", "core.checkStat", "minimal")
		}},
		{name: "a repository in it", set: func(w world) { w.git("init", "-q", "dir") }, change: put("dir/b.go", "x")},
		{name: "a repository in it, and a new file", set: func(w world) { w.git("init", "-q", "dir") }, change: put("dir/new.go", "x")},
		{name: "a repository with a commit in it, and a new file", set: func(w world) {
			w.git("init", "-q", "dir")
			w.git("-C", "dir", "commit", "-q", "--allow-empty", "-m", "x")
		}, change: put("dir/new.go", "x")},
		{name: "index", set: env("GIT_INDEX_FILE", "/none")},
		{name: "directory", set: env("GIT_DIR", "/none")},
		{name: "files elsewhere", set: env("GIT_WORK_TREE", "/")},
		{name: "a configuration in variables", set: func(w world) {
			env("GIT_CONFIG_COUNT", "1")(w)
			env("GIT_CONFIG_KEY_0", "core.fileMode")(w)
			env("GIT_CONFIG_VALUE_0", "false")(w)
		}, change: mode},
		{name: "configurations in a variable", set: env("GIT_CONFIG_PARAMETERS", "'core.filemode'='false'"), change: mode},
		{name: "the case of names", set: config("core.ignoreCase", "true"), change: rename("a.go", "A.go")},

		{name: "fileMode", set: config("core.fileMode", "false"), change: mode, except: "`core.fileMode`"},
		{name: "symlinks", set: func(w world) {
			require.NoError(w.t, os.Symlink("a.go", filepath.Join(w.dir, "link")))
			w.commit()
			config("core.symlinks", "false")(w)
		}, change: func(w world) {
			require.NoError(w.t, os.Remove(filepath.Join(w.dir, "link")))
			w.put("link", "a.go")
		}, except: "`core.symlinks`"},
		{name: "autocrlf", set: func(w world) {
			w.put("a.go", "a\n")
			w.commit()
			config("core.autocrlf", "input")(w)
		}, change: crlf, except: "`core.autocrlf`"},
		{name: "attributes", set: func(w world) {
			w.put("a.go", "a\n")
			w.commit()
			own("info/attributes", "*.go text\n")(w)
		}, change: crlf, except: "attributes"},
		{name: "attributes elsewhere", set: func(w world) {
			w.put("a.go", "$Id$\n")
			w.commit()
			own("more", "*.go ident\n")(w)
			config("core.attributesFile", filepath.Join(w.dir, ".git/more"))(w)
		}, change: put("a.go", "$Id: other$\n"), except: "attributes"},
		{name: "a filter", set: func(w world) {
			own("info/attributes", "a.go filter=x\n")(w)
			config("filter.x.clean", "printf a")(w)
		}, except: "filters"},
		{name: "an exclusion", set: own("info/exclude", "new\n"), change: put("new", "x"), except: "files that git ignores"},
		{name: "an exclusion elsewhere", set: func(w world) {
			own("more", "new\n")(w)
			config("core.excludesFile", filepath.Join(w.dir, ".git/more"))(w)
		}, change: put("new", "x"), except: "files that git ignores"},
	}
	made := newWorld(t)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			w := world{t, t.TempDir()}
			require.NoError(t, os.CopyFS(w.dir, os.DirFS(made.dir)))
			if c.change == nil {
				c.change = put("a.go", "b")
			}
			c.set(w)
			c.change(w)
			r := git.Repository{Dir: w.dir, Sub: "."}
			commit, err := r.Line(t.Context(), "rev-parse", "HEAD^{tree}")
			require.NoError(t, err)
			same := slices.Equal(w.now("").Trees, []string{commit})
			require.Equal(t, c.except != "" || c.index, same, "the tree")
			dirty, dirtyErr := r.Dirty(t.Context())
			hidden, hiddenErr := r.Hidden(t.Context())
			if c.except == "" {
				require.False(t, dirtyErr == nil && hiddenErr == nil && len(dirty)+len(hidden) == 0, "the work tree is clean")
			}
			require.Contains(t, section, c.except)
		})
	}
}
