package client_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/locator"
)

func TestReadRegistry(t *testing.T) {
	w := newWorld(t)
	_, err := client.ReadRegistry(w, config)
	require.ErrorIs(t, err, fs.ErrNotExist)

	r := w.registry(`{"version": 2.0, "extra": 1, "plugins": {
		"p@m@n": [{"scope": "local", "projectPath": "/projects/myapp/", "installPath": "/p", "version": "1", "installedAt": 1, "lastUpdated": "2026-01-02T03:04:05.678Z"}],
		"a@m": [{"scope": "user", "installPath": "/a", "projectPath": null}, 1]}}`)
	assert.Equal(t, []client.Installation{
		{Key: "a@m", Plugin: "a", Marketplace: "m", Scope: client.ScopeUser, InstallPath: "/a"},
		{
			Key: "p@m@n", Plugin: "p", Marketplace: "m@n", Scope: client.ScopeLocal, ProjectPath: "/projects/myapp/", InstallPath: "/p",
			LastUpdated: time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC),
		},
	}, r.Installations())
	assert.Equal(t, []string{registryPath + `:3:72: a@m: skipped: got a number`}, texts(t, r.Problems()))
}

func TestReadRegistryErrors(t *testing.T) {
	dir := t.TempDir()
	path := client.RegistryPath(dir)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	read := func() error {
		_, err := client.ReadRegistry(locator.OS{}, dir)
		var file *client.FileError
		require.ErrorAs(t, err, &file)
		require.Equal(t, path, file.Path)
		return err
	}
	require.EqualError(t, read(), path+": no such file or directory")

	require.NoError(t, os.WriteFile(path, []byte("[1, \"ä\",\n  }"), 0o600))
	err := read()
	require.ErrorIs(t, err, client.ErrBadFile)
	require.EqualError(t, err, path+":2:3: invalid character '}' at start of value: a trailing comma before it: remove that")

	require.NoError(t, os.Truncate(path, 16<<20+1))
	err = read()
	require.ErrorIs(t, err, safefile.ErrTooLarge)
	require.EqualError(t, err, path+": file too large: more than 16777216 bytes")

	require.NoError(t, os.Remove(path))
	require.NoError(t, files.Mkfifo(path, 0o600))
	err = read()
	require.ErrorIs(t, err, safefile.ErrNotRegular)
	require.EqualError(t, err, path+": not a regular file but a FIFO")

	_, err = client.ReadRegistry(locator.OS{}, "")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "plugins/installed_plugins.json: file does not exist")
}

func TestUnusableEntriesAreSkippedAndReported(t *testing.T) {
	tests := []struct{ entry, want string }{
		{`7`, `got a number`},
		{`{"scope": "user", "installPath": "/x"}`, `the name "" does not have the form plugin@marketplace`},
		{`{"name": 1, "scope": "user", "installPath": "/x"}`, `name: got a number`},
		{`{"name": "p", "scope": "user", "installPath": "/x"}`, `the name "p" does not have the form plugin@marketplace`},
		{`{"name": "@m", "scope": "user", "installPath": "/x"}`, `the name "@m" does not have the form plugin@marketplace`},
		{`{"name": "p@m", "installPath": "/x"}`, `"scope" is "", want one of managed, local, project, user`},
		{`{"name": "p@m", "scope": ["user"], "installPath": "/x"}`, `scope: got an array`},
		{`{"name": "p@m", "scope": "galaxy", "installPath": "/x"}`, `"scope" is "galaxy", want one of managed, local, project, user`},
		{`{"name": "p@m", "scope": "user", "installPath": null}`, `"installPath" is "", want an absolute path`},
		{`{"name": "p@m", "scope": "user", "installPath": "x/../y"}`, `"installPath" is "x/../y", want an absolute path`},
		{`{"name": "p@m", "scope": "local", "installPath": "/x"}`, `"projectPath" is "", want an absolute path`},
		{`{"name": "p@m", "scope": "project", "projectPath": "./projects", "installPath": "/x"}`,
			`"projectPath" is "./projects", want an absolute path`},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			r := must(client.ParseRegistry("file", []byte(`[`+test.entry+`, {"name": "q@m", "scope": "user", "installPath": "/q"}]`)))
			assert.Equal(t, []string{"file:1:2: an entry: skipped: " + test.want}, texts(t, r.Problems()))
			assert.Equal(t, []string{"/q"}, installPaths(r.Installations()))
		})
	}
}

func TestUnusableKeysAreSkippedAndReported(t *testing.T) {
	r := must(client.ParseRegistry("file",
		[]byte(`{"version": 2, "plugins": {"p@a": {}, "p@b": [null, {"scope": "user", "installPath": "/b"}], "p@c": null, "p": []}}`)))
	assert.Equal(t, []string{
		`file:1:35: p@a: got an object, want an array`,
		`file:1:47: p@b: skipped: "scope" is "", want one of managed, local, project, user`,
		`file:1:101: p@c: got null, want an array`,
	}, texts(t, r.Problems()))
	assert.Equal(t, []string{"/b"}, installPaths(r.Installations()))
}

func TestMalformedRegistry(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"empty", "", "1:1: unexpected end of file"},
		{"torn", "{\n  \"version\": 2,\n", "3:1: unexpected end of file: the { at 1:1 is not closed"},
		{"not JSON", `{"version": 2, plugins}`, "1:16: invalid character 'p' at start of string (expecting '\"'): strings need double quotes"},
		{"columns are characters", `{"ä": 2, plugins}`,
			"1:10: invalid character 'p' at start of string (expecting '\"'): strings need double quotes"},
		{"text after the value", `[]]`, "1:3: unexpected text after the JSON value"},
		{"null", `null`, "1:1: got null, want an object"},
		{"string", "\n \"x\"", "2:2: got a string, want an object"},
		{"no version", `{"plugins": {}}`, `1:1: "version" has to be 2`},
		{"version 1", `{"version": 1, "plugins": {}}`, `1:13: "version" has to be 2`},
		{"version as text", `{"version": "2", "plugins": {}}`, `1:13: "version" has to be 2`},
		{"version out of range", `{"version": 1e999, "plugins": {}}`, `1:13: "version" has to be 2`},
		{"no plugins", ` {"version": 2}`, `1:2: "plugins" has to be an object`},
		{"plugins is an array", `{"version": 2, "plugins": []}`, `1:27: "plugins" has to be an object`},
		{"plugins is null", `{"version": 2, "plugins": null}`, `1:27: "plugins" has to be an object`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := client.ParseRegistry("file", []byte(test.content))
			require.ErrorIs(t, err, client.ErrBadFile)
			require.EqualError(t, err, "file:"+test.want)
		})
	}
}

func TestApplyingAndEnabled(t *testing.T) {
	w := newWorld(t)
	r := w.registry(`[
		{"name": "p@m", "scope": "user", "installPath": "/p/user", "lastUpdated": "2026-01-01T00:00:00Z"},
		{"name": "q@m", "scope": "user", "installPath": "/q/user", "lastUpdated": "2026-01-02T00:00:00Z"},
		{"name": "p@m", "scope": "project", "installPath": "/p/project", "projectPath": "/projects"},
		{"name": "p@m", "scope": "project", "installPath": "/p/nearest", "projectPath": "/projects/myapp"},
		{"name": "off@m", "scope": "local", "installPath": "/off/local", "projectPath": "/projects"},
		{"name": "r@m", "scope": "local", "installPath": "/r/local", "projectPath": "/else"}]`)
	w.put(config+"/settings.json", `{"enabledPlugins": {"off@m": false, "q@m": true}}`)
	settings := client.ReadSettings(w, config, project)

	assert.Equal(t, []string{"/off/local", "/p/nearest", "/p/project", "/q/user", "/p/user"}, installPaths(r.Applying(project)))
	assert.Equal(t, []string{"/q/user", "/p/user"}, installPaths(r.Applying()))
	assert.Equal(t, []string{"/r/local", "/off/local", "/p/nearest", "/p/project", "/q/user", "/p/user"},
		sortedLocals(installPaths(r.Applying(project, "/else"))))
	assert.Equal(t, []string{"/p/nearest", "/q/user"}, installPaths(r.Enabled(settings, project)))
	assert.Equal(t, []string{"/off/local", "/p/nearest", "/q/user"}, installPaths(r.Enabled(nil, project)))
	assert.Len(t, r.Installations(), 6, "Applying and Enabled leave the registry as it is")
}

// Facts 102 and 185: which installations of a plugin that the settings enable the client may take.
func TestInstallationsOfOtherProjectsThatTheSettingsEnable(t *testing.T) {
	for name, c := range map[string]struct {
		project, dir string // of the installation, and in which the client is started
		git          string // roots of repositories
		takes        bool
	}{
		"the same":                          {"/p", "/p", "", true},
		"another":                           {"/else", "/p", "", false},
		"a parent without a repository":     {"/p", "/p/a", "", true},
		"the root of the repository":        {"/p", "/p/a", "/p", true},
		"below the root":                    {"/p/a", "/p", "/p", true},
		"a sibling in the repository":       {"/p/b", "/p/a", "/p", true},
		"a directory that is gone":          {"/p/gone/x", "/p/a", "/p", true},
		"the repository around a submodule": {"/p", "/p/lib", "/p /p/lib", true},
		"a submodule":                       {"/p/lib", "/p", "/p /p/lib", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for root := range strings.FieldsSeq(c.git) {
				w.put(root+"/.git/HEAD", "")
			}
			r := w.registry(`{"version": 2, "plugins": {
				"on@m": [{"scope": "local", "installPath": "/on", "projectPath": "` + c.project + `"}],
				"off@m": [{"scope": "local", "installPath": "/off", "projectPath": "` + c.project + `"}]}}`)
			w.put(config+"/settings.json", `{"enabledPlugins": {"on@m": true, "off@m": false}}`)
			settings := client.ReadSettings(w, config, c.dir)

			assert.Equal(t, c.takes, slices.Equal([]string{"/on"}, installPaths(r.Enabled(settings, c.dir))))
			assert.Equal(t, c.takes, r.Takes(settings, r.Of("on")[0], c.dir))
			assert.False(t, r.Takes(settings, r.Of("on")[0], "relative"))
		})
	}
}

// Fact 123: the client loads the plugins of directory marketplaces that the settings enable also
// where the registry is missing or broken.
func TestPluginsWithoutARegistry(t *testing.T) {
	for _, content := range []string{"", "{", `{"version": 1, "plugins": {}}`} {
		w := newWorld(t)
		w.put("/market/.claude-plugin/marketplace.json", `{"name": "m", "plugins": [{"name": "p", "source": "./p"}]}`)
		w.put("/market/p/skills/s/SKILL.md", "")
		w.put(config+"/plugins/known_marketplaces.json",
			`{"m": {"source": {"source": "directory", "path": "/market"}, "installLocation": "/market"}}`)
		w.put(config+"/settings.json", `{"enabledPlugins": {"p@m": true}}`)
		if content != "" {
			w.put(registryPath, content)
		}

		r, err := client.ReadRegistry(w, config)

		require.Error(t, err)
		assert.Equal(t, []string{"/market/p"}, installPaths(r.Enabled(client.ReadSettings(w, config, project), project)))
	}
}

// sortedLocals sorts the two installations of local scope. Applying does not define
// their order, because neither project contains the other.
func sortedLocals(paths []string) []string {
	slices.SortFunc(paths[:2], func(a, b string) int { return strings.Compare(b, a) })
	return paths
}

func installPaths(list []client.Installation) []string {
	var all []string
	for _, in := range list {
		all = append(all, in.InstallPath)
	}
	return all
}

func TestApplies(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	at := func(name string) string { return dir + "/" + name }
	require.NoError(t, os.MkdirAll(at("real/app/src"), 0o755))
	require.NoError(t, os.MkdirAll(at("other/below"), 0o755))
	for name, target := range map[string]string{"link": "real", "link2": at("link/app"), "real/app/out": "../../other", "loop": "loop"} {
		require.NoError(t, os.Symlink(target, at(name)))
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(client.RegistryPath(dir)), 0o755))
	require.NoError(t, os.WriteFile(client.RegistryPath(dir), []byte("[]"), 0o600))
	r := must(client.ReadRegistry(locator.OS{}, dir))

	for _, test := range []struct {
		name, project, dir string
		want               bool
	}{
		{"the same", "real/app", "real/app", true},
		{"below", "real/app", "real/app/src", true},
		{"trailing slash", "real/app/", "real/app", true},
		{"longer name", "real/app", "real/application", false},
		{"the project is below", "real/app/src", "real/app", false},
		{"project through a link", "link/app", "real/app/src", true},
		{"directory through a link", "real/app", "link/app/src", true},
		{"link to a link", "link2", "real/app/src", true},
		{"both through links", "link2/", "link/app", true},
		{"a link leads out of the project", "real/app", "real/app/out/below", false},
		{"and into another", "other", "real/app/out/below", true},
		{"deleted project", "real/gone", "real/gone/src", true},
		{"deleted project through a link", "link/gone", "real/gone", true},
		{"another deleted project", "real/gone", "real/gone2", false},
		{"deleted directory", "link/app", "real/app/src/gone", true},
		{"loop", "loop", "real/app", false},
		{"below the same loop", "loop", "loop/below", true},
		{"two dots after a link", "real/app/out/..", "other", true},
		{"the root contains everything", "../../../../../../../..", "real", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := client.Installation{Scope: client.ScopeLocal, ProjectPath: at(test.project)}
			assert.Equal(t, test.want, r.Applies(in, at(test.dir)))
			assert.Equal(t, test.want, r.Applies(in, "/elsewhere", at(test.dir)), "one of several directories")
			in.Scope = client.ScopeUser
			assert.True(t, r.Applies(in))
		})
	}
	in := client.Installation{Scope: client.ScopeProject, ProjectPath: "relative"}
	assert.False(t, r.Applies(in, "relative"), "a relative directory is in no project")

	parsed := must(client.ParseRegistry("file", []byte("[]")))
	linked := client.Installation{Scope: client.ScopeLocal, ProjectPath: at("link/app/../app")}
	assert.True(t, parsed.Applies(linked, at("link/app")))
	assert.False(t, parsed.Applies(linked, at("real/app")), "only ReadRegistry resolves links")
}

func TestDataDir(t *testing.T) {
	assert.Equal(t, config+"/plugins/data/My_plugin-2-m-n---", client.DataDir(config, "My_plugin-2@m.n ä/"))
	assert.Equal(t, config+"/plugins/data/azAZ09", client.DataDir(config, "azAZ09"))
	assert.Equal(t, config+"/plugins/data/------", client.DataDir(config, "@[`{/:"), "the neighbours of letters and digits in ASCII")
}

// TestManagedInstallations: what an organisation's settings enable is installed in a scope of
// its own (fact 115, client 2.1.329).
func TestManagedInstallations(t *testing.T) {
	r := must(client.ParseRegistry("file", []byte(`{"version": 2, "plugins": {"p@m": [
		{"scope": "user", "installPath": "/user"},
		{"scope": "managed", "installPath": "/managed"}]}}`)))

	assert.Empty(t, r.Problems())
	assert.Equal(t, "/managed", r.Enabled(nil, "/anywhere")[0].InstallPath)
}
