package install

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// world is a doctor who examines the directory project of a home.
func world(t *testing.T) (d *doctor, write func(name, text string) (path string)) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
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

// A state directory is left over if its list is gone, and not since just now. Repairing removes it alone.
func TestStateDirectoriesThatAreLeft(t *testing.T) {
	d, write := world(t)
	const tasks = ".claude/tasks/"
	var states []string
	for _, name := range []string{"gone", "young", "there"} {
		states = append(states, filepath.Dir(write(tasks+"."+name+".fsmtx/lock", "")))
	}
	list := write(tasks+"there/1.json", "{}")
	aged(t, states[0], 2*time.Hour)
	aged(t, states[2], 2*time.Hour)
	found, err := d.leftovers(t.Context())
	require.NoError(t, err)
	require.Equal(t, states[:1], files(found))
	found[0].Repair(t.Context())
	assert.True(t, found[0].Fixed, found[0].What)
	assert.NoDirExists(t, states[0])
	assert.DirExists(t, states[1])
	assert.DirExists(t, states[2])
	assert.FileExists(t, list)
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
