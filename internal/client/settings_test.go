package client_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

func TestSettings(t *testing.T) {
	w := newWorld(t)
	shared := w.put(project+"/.claude/settings.json", `{"enabledPlugins": {"a@m": true, "list@m": ["1.0"], "local@m": false}}`)
	user := w.put(config+"/settings.json", `{"enabledPlugins": {"a@m": false, "b@m": false}}`)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"local@m": true}}`)
	s := client.ReadSettings(w, config, project)

	for key, want := range map[string]struct {
		enabled bool
		path    string
	}{
		"a@m": {true, shared}, "b@m": {false, user}, "local@m": {true, local}, "list@m": {}, "other@m": {},
	} {
		enabled, path := s.Lookup(key)
		assert.Equal(t, want.enabled, enabled, key)
		assert.Equal(t, want.path, path, key)
		assert.Equal(t, key == "b@m", s.Disabled(key), key)
	}
	assert.Empty(t, s.Problems())
	enabled, path := (*client.Settings)(nil).Lookup("a@m")
	assert.False(t, enabled)
	assert.Empty(t, path)
}

// Fact 102.
func TestLocalSettingsOfTheRepositoryComeFirst(t *testing.T) {
	w := newWorld(t)
	w.put("/projects/.git/HEAD", "")
	root := w.put("/projects/.claude/settings.local.json", `{"enabledPlugins": {"a@m": false, "b@m": true}}`)
	w.put("/projects/.claude/settings.json", `{"enabledPlugins": {"c@m": true}}`)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"a@m": true, "d@m": true}}`)
	w.put(project+"/.claude/settings.json", `{"enabledPlugins": {"b@m": false}}`)
	s := client.ReadSettings(w, config, project)
	for key, want := range map[string]struct {
		enabled bool
		path    string
	}{"a@m": {false, root}, "b@m": {true, root}, "c@m": {}, "d@m": {true, local}} {
		enabled, path := s.Lookup(key)
		assert.Equal(t, want.enabled, enabled, key)
		assert.Equal(t, want.path, path, key)
	}
}

func TestUnusableSettingsAreReported(t *testing.T) {
	w := newWorld(t)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": {"a@m": true, "b@m": }}`)
	user := w.put(config+"/settings.json", "{")
	s := client.ReadSettings(w, config, project)
	assert.Len(t, s.Problems(), 2)
	assert.ErrorContains(t, s.Problems()[0], local+":1:41: ")
	enabled, _ := s.Lookup("a@m")
	assert.False(t, enabled)
	assert.Equal(t, []string{user + ":1:2: unexpected end of file: the { at 1:1 is not closed"},
		texts(t, client.ReadSettings(w, config, "").Problems()))
	assert.Len(t, client.ReadSettings(w, "", project).Problems(), 1)
	w.put(config+"/settings.json", "\ufeff \t\r\n")
	assert.Empty(t, client.ReadSettings(w, config, "").Problems(), "a blank file")
}

func TestSettingsOfEmptyDirectoriesAreNotRead(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
		w.put(path, "{")
	}
	assert.Empty(t, client.ReadSettings(w, "", "").Problems())
}

// Fact 163: the nearest file that names a skill decides what skillOverrides say of it.
func TestOverride(t *testing.T) {
	w := newWorld(t)
	w.put(config+"/settings.json", `{"skillOverrides": {"a": "off", "b": "name-only"}}`)
	shared := w.put(project+"/.claude/settings.json", "{\n\"skillOverrides\": {\n\"b\": \"off\"}}")
	local := w.put(project+"/.claude/settings.local.json", `{"skillOverrides": {"a": "on"}}`)
	s := client.ReadSettings(w, config, project)
	for name, want := range map[string]struct {
		value, path string
		line        int
	}{"a": {"on", local, 1}, "b": {client.OverrideOff, shared, 3}, "c": {}} {
		value, path, line := s.Override(name)
		assert.Equal(t, want.value, value, name)
		assert.Equal(t, want.path, path, name)
		assert.Equal(t, want.line, line, name)
	}
	value, _, _ := (*client.Settings)(nil).Override("a")
	assert.Empty(t, value)
	assert.False(t, s.Says(), "no plugin is named")
}

func TestWorkTreesAndTheSettingsReadInThem(t *testing.T) {
	mem := afero.NewMemMapFs()
	for path, text := range map[string]string{
		"/repo/.git/HEAD":                             "ref: refs/heads/main\n",
		"/repo/a/b/x":                                 "",
		"/linked/.git":                                "gitdir: /repo/.git/worktrees/linked\n",
		"/linked/a/x":                                 "",
		"/repo/.git/worktrees/linked/commondir":       "../..\n",
		"/relative/.git":                              "gitdir: ../repo/.git/worktrees/relative\n",
		"/repo/.git/worktrees/relative/commondir":     "/repo/.git\n",
		"/repo/module/.git":                           "gitdir: ../.git/modules/module\n",
		"/repo/.git/modules/module/HEAD":              "ref: refs/heads/main\n",
		"/ofBare/.git":                                "gitdir: /bare.repository/worktrees/ofBare\n",
		"/bare.repository/worktrees/ofBare/commondir": "../..\n",
		"/odd/.git":                                   "not a pointer\n",
		"/outside/a/x":                                "",
		"/gone/.git":                                  "gitdir: /nowhere/.git/worktrees/gone\n",
		"/repo/a/b/.claude/settings.local.json/not-read": "",
	} {
		require.NoError(t, afero.WriteFile(mem, path, []byte(text), 0o644))
	}
	fsys := aferofs.New(mem)
	for dir, want := range map[string]struct {
		root, main string
		above      string // the local settings that precede those in dir
	}{
		"/repo":          {"/repo", "/repo", ""},
		"/repo/a/b":      {"/repo", "/repo", "/repo/.claude/settings.local.json"},
		"/repo/a/b/":     {"/repo", "/repo", "/repo/.claude/settings.local.json"},
		"/linked":        {"/linked", "/repo", "/repo/.claude/settings.local.json"},
		"/linked/a":      {"/linked", "/repo", "/repo/.claude/settings.local.json"},
		"/relative":      {"/relative", "/repo", "/repo/.claude/settings.local.json"},
		"/repo/module":   {"/repo/module", "/repo/module", ""},
		"/repo/module/a": {"/repo/module", "/repo/module", "/repo/module/.claude/settings.local.json"},
		"/ofBare":        {"/ofBare", "/ofBare", ""},
		"/odd":           {"/odd", "/odd", ""},
		"/gone":          {"/gone", "/gone", ""},
		"/outside/a":     {"", "", ""},
		"/":              {"", "", ""},
	} {
		root, main := client.WorkTree(fsys, dir)
		assert.Equal(t, want.root, root, dir)
		assert.Equal(t, want.main, main, dir)

		files := client.SettingsFiles(fsys, "/config", dir)
		if want.above != "" && assert.NotEmpty(t, files, dir) {
			assert.Equal(t, want.above, files[0], dir)
			files = files[1:]
		}
		own := dir
		if own[len(own)-1] != '/' {
			own += "/"
		}
		assert.Equal(t, []string{own + ".claude/settings.local.json", own + ".claude/settings.json", "/config/settings.json"}, files, dir)
	}
	assert.Equal(t, []string{"/config/settings.json"}, client.SettingsFiles(fsys, "/config", ""))
	assert.Equal(t, []string{"/outside/.claude/settings.local.json", "/outside/.claude/settings.json"},
		client.SettingsFiles(fsys, "", "/outside"))
}
