package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// world is a doctor who examines the directory project of a home.
func world(t *testing.T) (d *doctor, write func(name, text string) (path string)) {
	t.Helper()
	home := must(filepath.EvalSymlinks(t.TempDir()))
	d = &doctor{cwd: filepath.Join(home, "project"), age: time.Hour, Streams: terminal.Streams{Getenv: func(name string) (string, bool) {
		return map[string]string{"HOME": home}[name], name == "HOME"
	}}}
	write = func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
		return path
	}
	write("project/README", "")
	return d, write
}

// aged sets the time of a file or directory.
func aged(t *testing.T, path string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	require.NoError(t, os.Chtimes(path, at, at))
}

// files returns the files of faults.
func files(found []Fault) (all []string) {
	for _, f := range found {
		all = append(all, f.File)
	}
	return all
}

// A lock that nobody has refreshed is removed, unless a program has taken it since doctor has looked.
func TestLocksThatAreLeft(t *testing.T) {
	d, write := world(t)
	dir := filepath.Dir(write(".claude/tasks/s/1.json", "{}"))
	var locks []string
	for _, name := range []string{"1.json.lock", "2.json.lock", "3.json.lock"} {
		locks = append(locks, filepath.Join(dir, name))
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	aged(t, locks[0], 2*staleAfter)
	aged(t, locks[1], 2*staleAfter)
	found := must(d.locks(t.Context()))
	require.Equal(t, locks[:2], files(found))
	aged(t, locks[1], 0)
	for i := range found {
		found[i].Repair(t.Context())
	}
	assert.NoDirExists(t, locks[0])
	assert.DirExists(t, locks[1])
}

// The settings above the project are looked at up to the home, by whichever path that is named.
func TestParentsEndAtTheHome(t *testing.T) {
	d, write := world(t)
	home := d.Env("HOME")
	dir := filepath.Dir(write("project/a/b/x", ""))
	link := filepath.Join(home, "link")
	require.NoError(t, os.Symlink(home, link))
	for _, name := range []string{home, link} {
		assert.Equal(t, []string{filepath.Join(d.cwd, "a"), d.cwd}, parents(dir, name), name)
	}
}

// The client runs the status line of one file, the nearest that has one.
func TestAHiddenStatusLine(t *testing.T) {
	const theirs = `{"statusLine": {"type": "command", "command": "date"}}`
	ours := string(must(settings.AddStatusLine([]byte("{}"), "/bin/fsmtx")))
	for _, c := range []struct{ local, project, user, hides string }{
		{"{}", "{}", ours, ""}, {theirs, theirs, ours, client.LocalSettings}, {"{}", theirs, ours, client.ProjectSettings},
		{ours, theirs, theirs, ""}, {theirs, "{}", "{}", ""},
	} {
		d, write := world(t)
		write("project/"+client.LocalSettings, c.local)
		write("project/"+client.ProjectSettings, c.project)
		write(".claude/settings.json", c.user)
		found := must(d.statusLine(t.Context()))
		var want []string
		if c.hides != "" {
			want = []string{filepath.Join(d.cwd, c.hides)}
		}
		assert.Equal(t, want, files(found), "%+v", c)
	}
}

// The client's copy of a plugin is old if a file that it takes from the copy is another one in the source, or is not there.
func TestAnOldCopyOfAPlugin(t *testing.T) {
	for name, c := range map[string]struct {
		source, copied string
		old            bool
	}{"the same": {"a", "a", false}, "another": {"a", "b", true}, "missing": {"a", "", true}, "more than the source": {"", "b", false}} {
		_, write := world(t)
		source, copied := filepath.Dir(write("source/README", "")), filepath.Dir(write("copy/README", ""))
		for dir, text := range map[string]string{"source": c.source, "copy": c.copied} {
			if text != "" {
				write(dir+"/hooks/hooks.json", text)
			}
		}
		var want []string
		if c.old {
			want = []string{filepath.Join(copied, "hooks/hooks.json")}
		}
		found := staleCopy(client.Installation{Key: "p@m", InstallPath: copied, Scope: "local"}, source)
		assert.Equal(t, want, files(found), name)
		for _, f := range found {
			assert.Equal(t, "claude plugin update p@m --scope local", f.Command)
		}
	}
}

// The guards' configuration is looked at in the project and in the enabled plugins that have our hooks.
func TestConfigurationsOfGuards(t *testing.T) {
	d, write := world(t)
	const wrong = "- a list\n"
	for _, name := range []string{"ours", "off"} {
		_, err := small().Write(filepath.Join(d.Env("HOME"), name), false)
		require.NoError(t, err)
	}
	var want, plugins []string
	for _, name := range []string{"ours", "off", "theirs"} {
		dir := filepath.Join(d.Env("HOME"), name)
		path := write(name+"/"+guard.ConfigFile, wrong)
		plugins = append(plugins, fmt.Sprintf(`"%s@m": [{"scope": "user", "installPath": %q}]`, name, dir))
		if name == "ours" {
			want = append(want, path)
		}
	}
	write(".claude/plugins/installed_plugins.json", `{"version": 2, "plugins": {`+strings.Join(plugins, ", ")+`}}`)
	write(".claude/settings.json", `{"enabledPlugins": {"ours@m": true, "off@m": false, "theirs@m": true}}`)
	assert.Equal(t, want, files(must(d.guards(t.Context()))))
	path := write("project/.claude/planning-config.yaml", wrong)
	assert.Equal(t, append([]string{path}, want...), files(must(d.guards(t.Context()))))
}
