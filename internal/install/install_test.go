package install

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// installWorld is a home and a project, in which the test is.
type installWorld struct {
	t          *testing.T
	root       string // has home and project
	out, hints strings.Builder
}

// newWorld makes this test the program fsmtx, which PATH has, in an empty home and project.
func newWorld(t *testing.T) *installWorld {
	t.Helper()
	root := must(filepath.EvalSymlinks(t.TempDir()))
	self := must(os.Executable())
	bin := filepath.Join(t.TempDir(), settings.Program)
	require.NoError(t, os.Symlink(self, bin))
	require.NoError(t, os.Symlink(self, bin+"-mcp")) // nobody starts it
	t.Setenv("PATH", filepath.Dir(bin))
	was := os.Args[0]
	os.Args[0] = bin
	t.Cleanup(func() { os.Args[0] = was })
	w := &installWorld{t: t, root: root}
	for _, dir := range []string{"home", "project"} {
		require.NoError(t, os.Mkdir(w.path(dir), 0o755))
	}
	t.Chdir(w.path("project"))
	return w
}

func (w *installWorld) path(name string) string { return filepath.Join(w.root, name) }

func (w *installWorld) streams() terminal.Streams {
	return terminal.Streams{In: strings.NewReader(""), Out: io.Writer(&w.out), Err: io.Writer(&w.hints), Getenv: func(name string) (string,
		bool) {
		if name == "HOME" {
			return w.path("home"), true
		}
		return "", false
	}}
}

func (w *installWorld) write(name, text string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(text), 0o644))
}

// tree returns the directories and files below the root, with what is in them.
func (w *installWorld) tree() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			all[path] = ""
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// installs ends the test unless the request can be carried out.
func (w *installWorld) installs(r Request) {
	w.t.Helper()
	require.NoError(w.t, Install(w.streams(), r))
}

// requests are one of each kind.
func requests() map[string]Request {
	all := map[string]Request{
		"local": {}, "project": {Scope: Project}, "user": {Scope: User},
		"local server": {MCP: true}, "project's server": {Scope: Project, MCP: true}, "user's server": {Scope: User, MCP: true},
		"guards": {Guards: true}, "user's guards": {Scope: User, Guards: true}, "status line": {Line: With}, "task tools": {TaskTools: With},
		"no steps": {Steps: Steps{None: true}}, "every call": {Steps: Steps{Only: true, Stop: "hold", Checks: "off"}},
		"flags": {Hydrate: []string{"--announce"}},
	}
	for _, a := range agent.Others() {
		all[a.Name] = Request{Scope: User, Agents: []string{a.Name}, MCP: true}
		all[a.Name+" here"] = Request{Scope: Project, Agents: []string{a.Name}, MCP: true}
	}
	return all
}

// regular returns a tree without its directories: an empty one may stay.
func regular(tree map[string]string) map[string]string {
	maps.DeleteFunc(tree, func(_, text string) bool { return text == "" })
	return tree
}

// asTheClient returns JSON as the client writes it.
func asTheClient(json string) string {
	text := jsontext.Value(json)
	_ = text.Indent(jsontext.WithIndent("  "))
	return string(text) + "\n"
}

// TestEveryInstallation is installed is found as it was installed, is installed once, and leaves nothing when it is removed. A preview
// changes nothing, and what a person has written stays.
func TestEveryInstallation(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(requests())) {
		for _, had := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r, w := requests()[name], newWorld(t)
				if had {
					for _, file := range []string{"project/.claude/settings.json", "project/.claude/settings.local.json", "home/.claude/settings.json"} {
						w.write(file, asTheClient(`{"model": "x", "hooks": {"Stop": [{"hooks": []}]}}`))
					}
					w.write("home/.claude.json", asTheClient(`{"numStartups": 3}`))
					w.write("project/.mcp.json", asTheClient(`{"mcpServers": {"other": {"command": "other"}}}`))
				}
				before := w.tree()
				require.NoError(t, Preview(w.streams(), Request{Scope: r.Scope, Agents: r.Agents, Steps: r.Steps}, false))
				require.Equal(t, before, w.tree(), "a preview changes nothing")
				w.installs(r)
				after := w.tree()
				require.NotEqual(t, before, after)
				require.Contains(t, []Status{Installed, Off}, must(Check(w.streams(), r)), w.out.String())
				for _, removed := range []bool{true, false} {
					require.NoError(t, Preview(w.streams(), Request{Scope: r.Scope, Agents: r.Agents}, removed))
				}
				require.Equal(t, after, w.tree(), "a preview changes nothing")
				w.installs(r)
				require.Equal(t, after, w.tree(), "it is there already")
				require.NoError(t, Remove(w.streams(), Request{Scope: r.Scope, Agents: r.Agents}))
				require.Equal(t, regular(before), regular(w.tree()))
			})
		}
	}
}

// The server is in another file than the hooks. It is updated with them, but not by a preview; and the hooks are removed
// also if it cannot be known whether the server is there, which is an error.
func TestTheServersFile(t *testing.T) {
	w := newWorld(t)
	w.installs(Request{MCP: true})
	const file = "home/.claude.json"
	written := w.tree()[w.path(file)]
	w.write(file, strings.ReplaceAll(written, os.Args[0], "/old/fsmtx"))
	before := w.tree()
	require.NotEqual(t, written, before[w.path(file)])
	require.NoError(t, Preview(w.streams(), Request{}, false))
	assert.Equal(t, before, w.tree())
	w.installs(Request{})
	assert.Equal(t, written, w.tree()[w.path(file)])

	w.write(file, "{nonsense")
	require.ErrorIs(t, Remove(w.streams(), Request{}), settings.ErrNotJSON)
	assert.NoDirExists(t, w.path("project/.claude"))
	assert.Equal(t, "{nonsense", w.tree()[w.path(file)])
}

func TestFlagsOfSteps(t *testing.T) {
	for _, c := range []struct {
		chosen     Steps
		have, want []string
	}{
		{Steps{}, []string{"--stop=hold", "--x"}, []string{"--stop=hold", "--x"}},
		{Steps{Stop: "off"}, []string{"--stop", "hold", "--checks=off"}, []string{"--checks=off", "--stop=off"}},
		{Steps{Stop: "remind", Checks: "on"}, []string{"--stop=hold", "--checks", "off", "--x"}, []string{"--x"}},
		{Steps{Checks: "off"}, nil, []string{"--checks=off"}},
	} {
		assert.Equal(t, c.want, c.chosen.Applied(c.have), "%+v", c)
	}
}

// The client's limit of a hook is above the hook's own wait for locks, and that of one that may run a check never below the
// longest check's.
func TestTimeLimits(t *testing.T) {
	for _, wait := range []string{"1s", "5s", "2h"} {
		h := settings.Hook{Timeout: 30, Flags: []string{"--lock-timeout=" + wait}}
		short, own := limit(h), map[string]int{"1s": 1, "5s": 5, "2h": 7200}[wait]
		assert.Greater(t, short, own)
		assert.Less(t, short, own+30)
		h.Timeout = settings.StepTimeout
		assert.Equal(t, max(short, settings.StepTimeout), limit(h))
	}
	assert.Equal(t, 30, limit(settings.Hook{Timeout: 30, Flags: []string{"--lock-timeout=soon"}}), "hydrate reports it")
}

// What a person, or install before, has chosen stays unless the request says otherwise.
func TestWhatWasChosenStays(t *testing.T) {
	const variable, mine, line = settings.TaskTools, `{"env": {"` + settings.TaskTools + `": "0"}}`, "fsmtx statusline"
	const dated = `{"statusLine": {"type": "command", "command": "date"}}`
	for name, c := range map[string]struct {
		file     string
		requests []Request
		has, not string
	}{
		"the person's variable":      {mine, []Request{{TaskTools: With}}, `"` + variable + `": "0"`, `"` + variable + `": "1"`},
		"the variable":               {"", []Request{{TaskTools: With}, {}}, `"` + variable + `": "1"`, "nothing"},
		"no variable":                {"", []Request{{TaskTools: With}, {TaskTools: Without}}, "hooks", variable},
		"the line":                   {"", []Request{{Line: With}, {}}, line, "nothing"},
		"no line":                    {"", []Request{{Line: With}, {Line: Without}}, "hooks", line},
		"the guards":                 {"", []Request{{Guards: true}, {}}, "guard", "nothing"},
		"the flags of steps":         {"", []Request{{Steps: Steps{Stop: "hold"}}, {}}, "--stop=hold", "nothing"},
		"the flags of a hydration":   {"", []Request{{Hydrate: []string{"--announce"}}, {}}, "--announce", "nothing"},
		"no flags of a hydration":    {"", []Request{{Hydrate: []string{"--announce"}}, {Hydrate: []string{}}}, "hooks", "--announce"},
		"a person's line":            {dated, []Request{{Line: Without}}, `"command": "date"`, line},
		"a person's line, untouched": {dated, []Request{{}}, `"command": "date"`, line},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.file != "" {
				w.write("project/.claude/settings.local.json", c.file)
			}
			for _, r := range c.requests {
				w.installs(r)
			}
			text := w.tree()[w.path("project/.claude/settings.local.json")]
			assert.Contains(t, text, c.has)
			assert.NotContains(t, text, c.not)
		})
	}
}

// A project's file is for everyone: it names no directory of one machine.
func TestAProjectsFileIsPortable(t *testing.T) {
	for _, flag := range []string{"--plugin-dir=/here", "--add-dir=/here"} {
		w := newWorld(t)
		assert.Error(t, Install(w.streams(), Request{Scope: Project, Hydrate: []string{flag}}), flag)
		assert.NoFileExists(t, w.path("project/.claude/settings.json"))
		w.installs(Request{Hydrate: []string{flag}})
	}
}

// With all agents, hooks of Claude Code are the person's in all projects, as those of the others are.
func TestAllAgents(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"home/.claude", "home/.codex"} {
		require.NoError(t, os.Mkdir(w.path(dir), 0o755))
	}
	w.installs(Request{Agents: []string{All}})
	assert.FileExists(t, w.path("home/.claude/settings.json"))
	assert.FileExists(t, w.path("home/.codex/hooks.json"))
	assert.NoDirExists(t, w.path("project/.claude"))
	assert.NoDirExists(t, w.path("home/.gemini"), "which is not used here")
}

// A file with comments keeps them if the agent reads it. Another one is not edited; if it has nothing of fsmtx, there is
// nothing to remove or to compare.
func TestAFileWithComments(t *testing.T) {
	w := newWorld(t)
	for _, file := range []string{"home/.gemini/settings.json", "home/.codex/hooks.json", "project/.claude/settings.local.json"} {
		w.write(file, "{\n  // mine\n  \"a\": 1}\n")
	}
	before := w.tree()
	for _, r := range []Request{{}, {Scope: User, Agents: []string{"codex"}}} {
		require.ErrorIs(t, Install(w.streams(), r), settings.ErrNotJSON)
		require.NoError(t, Remove(w.streams(), r))
	}
	gemini := Request{Scope: User, Agents: []string{"gemini"}}
	assert.Equal(t, Absent, must(Check(w.streams(), gemini)))
	assert.Equal(t, before, w.tree())
	w.installs(gemini)
	assert.Contains(t, w.tree()[w.path("home/.gemini/settings.json")], "// mine")
	require.NoError(t, Remove(w.streams(), gemini))
	assert.Equal(t, "{\n  // mine\n  \"a\": 1}\n", w.tree()[w.path("home/.gemini/settings.json")])
}

// TestPurge removes everything, but not a copy of the program that hooks of other projects run.
func TestPurge(t *testing.T) {
	for _, used := range []bool{false, true} {
		w := newWorld(t)
		copied := w.path("home/.local/share/fsmtx/bin/fsmtx")
		w.write("home/.local/share/fsmtx/bin/fsmtx", "program")
		w.write("home/.claude.json", `{"projects": {"`+w.path("other")+`": {}}}`)
		if used {
			w.write("other/.claude/settings.local.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "`+copied+`"}]}]}}`)
		}
		for _, r := range []Request{{}, {Scope: Project, MCP: true}, {Scope: User}, {Scope: User, Agents: []string{"codex"}}} {
			w.installs(r)
		}
		err := Purge(t.Context(), w.streams())
		assert.Equal(t, used, err != nil, "%v", err)
		_, missing := os.Stat(copied)
		assert.Equal(t, !used, missing != nil, "a copy that is run is kept")
		for path, text := range w.tree() {
			if !strings.Contains(path, "/other/") {
				assert.NotContains(t, text, "hook", path)
			}
		}
	}
}

// The home directory is not a project, by whichever path it is named.
func TestTheHomeIsNotAProject(t *testing.T) {
	w := newWorld(t)
	w.write("home/.claude/settings.json", "{}")
	require.NoError(t, os.MkdirAll(w.path("home/sub/dir"), 0o755))
	require.NoError(t, os.Symlink(w.path("home"), w.path("link")))
	for _, home := range []string{"home", "link"} {
		s := w.streams()
		s.Getenv = func(string) (string, bool) { return w.path(home), true }
		for _, dir := range []string{"home/sub/dir", "link/sub/dir"} {
			assert.Empty(t, projectAbove(s, w.path(dir)), "%s in %s", dir, home)
		}
	}
	w.write("home/sub/.claude/settings.json", "{}")
	assert.Equal(t, w.path("home/sub"), projectAbove(w.streams(), w.path("home/sub/dir")))
}
