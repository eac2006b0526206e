package locator_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
)

func TestReadRegistry(t *testing.T) {
	w := newWorld(t)
	_, err := locator.ReadRegistry(w.Fs, config)
	require.ErrorIs(t, err, fs.ErrNotExist)

	w.put(registry, `{"version": 2.0, "extra": 1, "plugins": {
		"p@m@n": [{"scope": "local", "projectPath": "/projects/myapp/", "installPath": "/p", "version": "1", "installedAt": 1, "lastUpdated": "2026-01-02T03:04:05.678Z"}],
		"a@m": [{"scope": "user", "installPath": "/a", "projectPath": null}, 1]}}`)
	r, err := locator.ReadRegistry(w.Fs, config)
	require.NoError(t, err)
	assert.Equal(t, []locator.Installation{
		{Key: "a@m", Plugin: "a", Marketplace: "m", Scope: locator.ScopeUser, InstallPath: "/a"},
		{
			Key: "p@m@n", Plugin: "p", Marketplace: "m@n", Scope: locator.ScopeLocal, ProjectPath: "/projects/myapp/", InstallPath: "/p",
			LastUpdated: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC),
		},
	}, r.Installations())
	assert.Equal(t, []locator.Problem{{Where: `plugins["a@m"][1]`, Reason: "a number, and an object is wanted"}}, r.Problems())
	assert.Equal(t, `plugins["a@m"][1]: a number, and an object is wanted`, r.Problems()[0].String())
}

func TestApplyingAndEnabled(t *testing.T) {
	w := newWorld(t)
	w.put(registry, arrayOf(
		entry{"p@m", "user", "", "/p/user", "2026-01-01T00:00:00Z"},
		entry{"q@m", "user", "", "/q/user", "2026-01-02T00:00:00Z"},
		entry{"p@m", "project", "/projects", "/p/project", ""},
		entry{"off@m", "local", "/projects", "/off/local", ""},
		entry{"r@m", "local", "/else", "/r/local", ""},
	))
	w.put(config+"/settings.json", `{"enabledPlugins": {"off@m": false, "q@m": true}}`)
	r, err := locator.ReadRegistry(w.Fs, config)
	require.NoError(t, err)
	settings := locator.ReadSettings(w.Fs, config, project)

	assert.Equal(t, []string{"/off/local", "/p/project", "/q/user", "/p/user"}, paths(r.Applying(project)))
	assert.Equal(t, []string{"/q/user", "/p/user"}, paths(r.Applying()))
	assert.Equal(t, []string{"/off/local", "/r/local", "/p/project", "/q/user", "/p/user"}, paths(r.Applying(project, "/else")))
	assert.Equal(t, []string{"/p/project", "/q/user"}, paths(r.Enabled(settings, project)))
	assert.Equal(t, []string{"/off/local", "/p/project", "/q/user"}, paths(r.Enabled(nil, project)))
}

func paths(list []locator.Installation) []string {
	var all []string
	for _, in := range list {
		all = append(all, in.InstallPath)
	}
	return all
}

func TestRoot(t *testing.T) {
	w := newWorld(t)
	w.put(registry, objectOf(entry{"p@m", "user", "", "/cache/p", ""}))
	w.put(known, `{"m": {"source": {"source": "directory", "path": "/src/market"}}}`)
	r, err := locator.ReadRegistry(w.Fs, config)
	require.NoError(t, err)
	root := r.Root(r.Installations()[0])
	assert.Equal(t, "/cache/p", root.Dir)
	assert.False(t, root.Live)
	assert.Contains(t, root.Note, "marketplace.json")

	w.put(tree+"/.claude-plugin/marketplace.json", `{"plugins": [{"name": "p", "source": "./p"}]}`)
	w.skill(tree + "/p/skills/s")
	assert.Equal(t, locator.Root{Dir: tree + "/p", Live: true}, r.Root(r.Installations()[0]))

	parsed, err := locator.ParseRegistry([]byte(objectOf(entry{"p@m", "user", "", "/cache/p", ""})))
	require.NoError(t, err)
	assert.Equal(t, locator.Root{Dir: "/cache/p"}, parsed.Root(parsed.Installations()[0]))
}

func TestSettings(t *testing.T) {
	w := newWorld(t)
	shared := w.put(project+"/.claude/settings.json", `{"enabledPlugins": {"a@m": true}}`)
	user := w.put(config+"/settings.json", `{"enabledPlugins": {"a@m": false, "b@m": false, "c@m": 1}}`)
	local := w.put(project+"/.claude/settings.local.json", `{"enabledPlugins": 1}`)
	s := locator.ReadSettings(w.Fs, config, project)

	for key, want := range map[string]struct {
		on   bool
		path string
	}{"a@m": {true, shared}, "b@m": {false, user}, "c@m": {false, ""}, "d@m": {false, ""}} {
		on, path := s.Of(key)
		assert.Equal(t, want.on, on, key)
		assert.Equal(t, want.path, path, key)
	}
	assert.True(t, s.Off("b@m"))
	assert.False(t, s.Off("a@m"))
	assert.False(t, s.Off("d@m"))
	assert.Equal(t, []locator.Problem{{Where: local, Reason: "malformed: a number, and an object is wanted"}}, s.Problems())

	assert.Empty(t, locator.ReadSettings(w.Fs, "", "").Problems())
	assert.False(t, (*locator.Settings)(nil).Off("a@m"))
}
