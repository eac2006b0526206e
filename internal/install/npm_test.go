package install

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRemoveTakesWhatAKilledInstallLeft, and nothing of others.
func TestRemoveTakesWhatAKilledInstallLeft(t *testing.T) {
	data := t.TempDir()
	getenv := func(name string) (string, bool) { return data, name == "XDG_DATA_HOME" }
	dir := filepath.Join(data, "fsmtx", "bin")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{"fsmtx", ".fsmtx-write-fsmtx123", ".fsmtx7", ".other12"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o755))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-2*time.Hour)))
	}

	require.Equal(t, []string{dir + "/.fsmtx-write-fsmtx123"}, must(copyLeftovers(getenv)))
	_, err := removeCopy(getenv)
	require.NoError(t, err)
	require.Equal(t, []string{dir + "/.fsmtx7", dir + "/.other12"}, must(filepath.Glob(filepath.Join(dir, ".*"))))
	require.NoFileExists(t, filepath.Join(dir, "fsmtx"))
}
