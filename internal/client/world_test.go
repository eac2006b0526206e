package client_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/locator/aferofs"
)

const (
	config       = "/home/me/.claude"
	project      = "/projects/myapp"
	registryPath = config + "/plugins/installed_plugins.json"
	knownPath    = config + "/plugins/known_marketplaces.json"
	tree         = "/src/market"
	manifestPath = tree + "/.claude-plugin/marketplace.json"
)

// world is a file system in memory.
type world struct {
	client.FS
	t   *testing.T
	mem afero.Fs
}

func newWorld(t *testing.T) *world {
	mem := afero.NewMemMapFs()
	return &world{aferofs.New(afero.NewReadOnlyFs(mem)), t, mem}
}

func (w *world) put(path, content string) string {
	w.t.Helper()
	require.NoError(w.t, afero.WriteFile(w.mem, path, []byte(content), 0o644))
	return path
}

// writeFile is put for tests that have no *testing.T.
func writeFile(w *world, path, content string) error {
	return afero.WriteFile(w.mem, path, []byte(content), 0o644)
}

// registry returns the registry with the given content.
func (w *world) registry(content string) *client.Registry {
	w.t.Helper()
	w.put(registryPath, content)
	return must(client.ReadRegistry(w, config))
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// texts returns the texts of errors, which are all of type *FileError.
func texts(t *testing.T, errs []error) []string {
	t.Helper()
	var all []string
	for _, err := range errs {
		require.ErrorAs(t, err, new(*client.FileError))
		all = append(all, err.Error())
	}
	return all
}
