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
	started  = "/projects/started" // where the client was started
	known    = config + "/plugins/known_marketplaces.json"
	tree     = "/src/market"
)

// world is a locator that reads from a file system in memory.
type world struct {
	t   *testing.T
	mem afero.Fs
	locator.Locator
}

func newWorld(t *testing.T) *world {
	mem := afero.NewMemMapFs()
	return &world{t, mem, locator.Locator{FS: aferofs.New(afero.NewReadOnlyFs(mem)), ConfigDir: config}}
}

func (w *world) put(path, content string) string {
	w.t.Helper()
	require.NoError(w.t, afero.WriteFile(w.mem, path, []byte(content), 0o644))
	return path
}

// skill puts an fsm.json into folder and returns its path.
func (w *world) skill(folder string) string {
	w.t.Helper()
	return w.put(filepath.Join(folder, "fsm.json"), spec)
}

// has puts files, each with "=" and its content, and folders, each with an fsm.json.
func (w *world) has(files ...string) {
	w.t.Helper()
	for _, file := range files {
		if path, content, ok := strings.Cut(file, "="); ok {
			w.put(path, content)
		} else {
			w.skill(file)
		}
	}
}

func (w *world) locate(command, cwd string) locator.Result {
	w.t.Helper()
	return must(w.Locate(command, cwd))
}

func (w *world) finds(path, command, cwd string) locator.Result {
	w.t.Helper()
	result := w.locate(command, cwd)
	require.Equal(w.t, path, result.Path, "%s", explain(result))
	require.Equal(w.t, path != "", result.Found())
	return result
}

// entry is one installation, to be written in either form.
type entry struct {
	key, scope, project, install, updated string
}

// forms are the two forms of installed_plugins.json.
var forms = map[string]func(entries ...entry) string{
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

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// specIn returns the path of the fsm.json in a folder, and "" for none.
func specIn(folder string) string {
	if folder == "" {
		return ""
	}
	return folder + "/fsm.json"
}

// explain returns the steps as lines of text.
func explain(r locator.Result) string {
	var b strings.Builder
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s | %s | %s | %s\n", s.Rule, s.Path, s.Outcome, s.Detail)
	}
	return b.String()
}
