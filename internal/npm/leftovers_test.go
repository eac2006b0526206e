package npm

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRemoveTakesWhatAKilledInstallLeft: the copies of earlier versions too, but nothing young
// and nothing of others.
func TestRemoveTakesWhatAKilledInstallLeft(t *testing.T) {
	data := t.TempDir()
	getenv := func(name string) (string, bool) { return data, name == "XDG_DATA_HOME" }
	dir := filepath.Join(data, "fsmtx", "bin")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	old := time.Now().Add(-2 * formerAge)
	for name, age := range map[string]time.Time{
		"fsmtx": old, ".fsmtx-write-fsmtx/.fsmtx123": time.Now(), ".fsmtx123": old, ".fsmtx-mcp9": old,
		".fsmtx7": time.Now(), ".fsmtx": old, ".fsmtx12x": old, ".other12": old,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o755))
		require.NoError(t, os.Chtimes(path, age, age))
	}
	require.NoError(t, os.Symlink("fsmtx", filepath.Join(dir, ".fsmtx1")))

	found, err := Leftovers(getenv)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{dir + "/.fsmtx-write-fsmtx", dir + "/.fsmtx123", dir + "/.fsmtx-mcp9"}, found)
	_, err = Remove(getenv)
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{dir + "/.fsmtx7", dir + "/.fsmtx", dir + "/.fsmtx12x", dir + "/.fsmtx1", dir + "/.other12"}, left)
	require.NoFileExists(t, filepath.Join(dir, "fsmtx"))
}
