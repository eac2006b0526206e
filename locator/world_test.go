package locator_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/locator"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

const (
	config   = "/home/me/.claude"
	project  = "/projects/myapp"
	registry = config + "/plugins/installed_plugins.json"
	spec     = `[{"id":1,"subject":"s"}]`
)

// world is a filesystem in memory with what a test puts into it.
type world struct {
	t  *testing.T
	fs afero.Fs
	locator.Locator
}

func newWorld(t *testing.T) *world {
	fs := afero.NewMemMapFs()
	return &world{t, fs, locator.Locator{Fs: aferofs.New(afero.NewReadOnlyFs(fs)), ConfigDir: config}}
}

func (w *world) put(path, content string) string {
	w.t.Helper()
	require.NoError(w.t, afero.WriteFile(w.fs, path, []byte(content), 0o644))
	return path
}

// skill puts an fsm.json into a folder and returns its path.
func (w *world) skill(folder string) string {
	w.t.Helper()
	return w.put(filepath.Join(folder, "fsm.json"), spec)
}

func (w *world) locate(command, cwd string) locator.Result {
	w.t.Helper()
	result, err := w.Locate(command, cwd)
	require.NoError(w.t, err)
	return result
}

func (w *world) finds(path, command, cwd string) locator.Result {
	w.t.Helper()
	result := w.locate(command, cwd)
	require.Equal(w.t, path, result.Path, "%s", told(result))
	require.Equal(w.t, path != "", result.Found())
	return result
}

// entry is one installation, written in either format.
type entry struct {
	key, scope, project, install, updated string
}

// formats are the two shapes of installed_plugins.json.
var formats = map[string]func(entries ...entry) string{
	"array":  arrayOf,
	"object": objectOf,
}

func arrayOf(entries ...entry) string {
	var items []string
	for _, e := range entries {
		items = append(items, fmt.Sprintf(`{"name": %q, %s}`, e.key, e.members()))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func objectOf(entries ...entry) string {
	byKey := map[string][]string{}
	for _, e := range entries {
		byKey[e.key] = append(byKey[e.key], "{"+e.members()+"}")
	}
	var keys []string
	for key, items := range byKey {
		keys = append(keys, fmt.Sprintf("%q: [%s]", key, strings.Join(items, ", ")))
	}
	return `{"version": 2, "plugins": {` + strings.Join(keys, ", ") + "}}"
}

func (e entry) members() string {
	text := fmt.Sprintf(`"scope": %q, "installPath": %q`, e.scope, e.install)
	if e.project != "" {
		text += fmt.Sprintf(`, "projectPath": %q`, e.project)
	}
	if e.updated != "" {
		text += fmt.Sprintf(`, "lastUpdated": %q`, e.updated)
	}
	return text
}

// inBothFormats runs a test with each shape of the registry.
func inBothFormats(t *testing.T, test func(t *testing.T, w *world, install func(...entry))) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test(t, w, func(entries ...entry) { w.put(registry, format(entries...)) })
		})
	}
}

// told is the steps as a person would read them.
func told(r locator.Result) string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s | %s | %s | %s\n", s.Rule, s.Path, s.Outcome, s.Detail)
	}
	return b.String()
}
