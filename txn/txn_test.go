package txn_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn"
)

func TestCommitReplaces(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks", "list")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	put(t, dir, "1.json", "manual")
	put(t, dir, "2.json", "old")
	commit(t, dir, txn.Change{Creates: []txn.File{{Name: "3.json", Data: []byte("new"), Mode: 0o644}}, Deletes: []string{"2.json"}, Label: "x"})
	assert.Equal(t, map[string]string{"1.json": "manual", "3.json": "new"}, contents(t, dir))

	d, err := txn.Open(context.Background(), dir)
	require.NoError(t, err)
	defer d.Close()
	h, err := d.History()
	require.NoError(t, err)
	require.Len(t, h, 1)
	assert.Equal(t, []string{"2.json"}, h[0].Deleted)
	assert.Equal(t, map[string]string{"2.json": "old"}, contents(t, h[0].Backups))
}

func commit(t *testing.T, dir string, c txn.Change) {
	t.Helper()
	d, err := txn.Open(context.Background(), dir)
	require.NoError(t, err)
	require.NoError(t, d.Commit(context.Background(), c))
	require.NoError(t, d.Close())
}

func put(t *testing.T, dir, name, data string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	m := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		m[e.Name()] = string(data)
	}
	return m
}

func TestClosedDirIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "list")
	d, err := txn.Open(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close(), "closing again does nothing")

	assert.ErrorIs(t, d.Commit(t.Context(), txn.Change{Creates: []txn.File{{Name: "1.json"}}}), txn.ErrClosed)
	_, err = d.Lock(t.Context())
	assert.ErrorIs(t, err, txn.ErrClosed)
	_, err = d.History()
	assert.ErrorIs(t, err, txn.ErrClosed)
	assert.NoDirExists(t, dir)
}
