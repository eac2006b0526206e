package guard

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemoveOld(t *testing.T) {
	b := newBench(t, passing)
	now := time.Now()
	old := now.AddDate(0, 0, -31)
	for _, name := range []string{"planning-hooks-a.log", "planning-hook-breaker-a.json", "planning-stop-blocks-a.json.lock",
		"budget-a.json", "planning-notes.md", "other.log"} {
		path := filepath.Join(b.dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, old, old))
	}
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "planning-hooks-dir.log"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(b.dir, "planning-hooks-dir.log"), old, old))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "planning-hooks-new.log"), nil, 0o600))
	RemoveOld(b.session(), now.AddDate(0, 0, -30), "budget-")
	var left []string
	entries := must(os.ReadDir(b.dir))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	assert.Equal(t, []string{"other.log", "planning-hooks-dir.log", "planning-hooks-new.log", "planning-notes.md"}, left)
}
