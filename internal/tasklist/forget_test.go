package tasklist

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn"
)

// TestForgetKeepsTheQuarantine of other programs' files, also if it cannot be listed.
func TestForgetKeepsTheQuarantine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	require.NoError(t, Forget(t.Context(), dir), "there is nothing to forget")
	d, err := txn.Open(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	aside := filepath.Join(dir, "..", ".list.fsmtx", "conflicts")
	require.NoError(t, os.WriteFile(aside, nil, 0o600)) // not a directory
	require.ErrorContains(t, Forget(t.Context(), dir), "conflicts: not a directory")
	require.FileExists(t, aside)
	require.NoError(t, os.Remove(aside))
	require.NoError(t, os.MkdirAll(aside+"/1", 0o700))
	require.ErrorIs(t, Forget(t.Context(), dir), errInUse)
	require.DirExists(t, aside+"/1")
	require.NoError(t, os.Remove(aside+"/1"))
	require.NoError(t, Forget(t.Context(), dir))
	require.NoDirExists(t, filepath.Dir(aside))
}
