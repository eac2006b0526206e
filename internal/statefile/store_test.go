package statefile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestStore: what has a name is read and written, and synced where that is promised; other files are not seen.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	var synced []string
	files := &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if strings.Contains(s.String(), "sync") {
			synced = append(synced, s.String())
		}
		return nil
	}}
	for _, name := range []string{"log", "journal", "late-", ".hidden", "LOG", "log1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	s := statefile.Stored(statefile.In(files, dir, "journal"), filepath.Join(dir, "tmp-"))
	for _, name := range []string{"journal", "late-", ".hidden", "LOG", "log1", "", "a/b"} {
		_, err := s.ReadState(name)
		require.ErrorIs(t, err, statefile.ErrName, name)
		require.ErrorIs(t, s.WriteState(name, nil), statefile.ErrName, name)
	}
	for name, write := range map[string]func(string) error{
		"written":  func(name string) error { return s.WriteState(name, []byte("text\n")) },
		"unlocked": func(name string) error { return s.WriteUnlocked(name, []byte("text\n")) },
		"appended": func(name string) error { return s.AppendState(name, []byte("text")) },
	} {
		synced = nil
		require.NoError(t, write(name))
		assert.NotEmpty(t, synced, name)
		data, err := s.ReadState(name)
		require.NoError(t, err)
		assert.Equal(t, "text\n", string(data), name)
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
	}
	for prefix, want := range map[string][]string{"": {"appended", "log", "unlocked", "written"}, "l": {"log"}, "x": nil} {
		names, err := s.StateNames(prefix)
		require.NoError(t, err)
		assert.Equal(t, want, names, prefix)
	}
	s.Shut()
	_, err := s.StateNames("")
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = s.ReadState("log")
	require.ErrorIs(t, err, fs.ErrClosed)
}
