package worlds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Long skips a test that takes seconds if it is run with -short, as make quick does.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes seconds: make test runs it")
	}
}

// Tree creates files (a name), directories (a name and a slash) and symbolic links
// (name -> target) in a new directory, and returns its path without symbolic links. Every
// file holds one letter.
func Tree(t testing.TB, entries ...string) string {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, entry := range entries {
		name, target, isLink := strings.Cut(entry, " -> ")
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		switch {
		case isLink:
			require.NoError(t, os.Symlink(target, path))
		case strings.HasSuffix(name, "/"):
			require.NoError(t, os.MkdirAll(path, 0o755))
		default:
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o644))
		}
	}
	return root
}
