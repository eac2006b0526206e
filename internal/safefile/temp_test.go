package safefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

// TestOnlyOldFilesOfOursAreLeftovers, and nothing that merely has their name.
func TestOnlyOldFilesOfOursAreLeftovers(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path string) error
		left    bool
	}{
		"old": {func(t *testing.T, path string) error { return nil }, true},
		"young": {func(t *testing.T, path string) error {
			return os.Chtimes(path, time.Time{}, time.Now().Add(-leftoverAge+time.Minute))
		}, false},
		"another name": {func(t *testing.T, path string) error {
			return os.Rename(path, filepath.Join(filepath.Dir(path), ".fsmtx-writer-f1"))
		}, false},
		"without a number": {func(t *testing.T, path string) error { return os.Rename(path, strings.TrimSuffix(path, "1")) }, false},
		"hard link":        {func(t *testing.T, path string) error { return os.Link(path, filepath.Join(t.TempDir(), "second")) }, false},
		"symbolic link": {func(t *testing.T, path string) error {
			require.NoError(t, os.Rename(path, path+"x"))
			return os.Symlink(path+"x", path)
		}, false},
		"directory": {func(t *testing.T, path string) error {
			require.NoError(t, os.Remove(path))
			return os.Mkdir(path, 0o700)
		}, false},
		"FIFO": {func(t *testing.T, path string) error {
			require.NoError(t, os.Remove(path))
			return unix.Mkfifo(path, 0o600)
		}, false},
		"another user's": {func(t *testing.T, path string) error {
			files.AsRoot(t)
			return os.Chown(path, 12345, 12345)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, ".fsmtx-write-f1")
			require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-leftoverAge-time.Minute)))
			require.NoError(t, c.prepare(t, path))
			left, err := Leftovers(dir)
			require.NoError(t, err)
			if c.left {
				require.Equal(t, []string{path}, left)
			} else {
				require.Empty(t, left)
			}
		})
	}
	_, err := Leftovers(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestShortened: a name with a prefix has at most 255 bytes, and no two names become one.
func TestShortened(t *testing.T) {
	name := strings.Repeat("n", 200)
	require.Equal(t, name, Shortened(name))
	require.Len(t, Shortened(name+"n"), 32)
	require.NotEqual(t, Shortened(name+"n"), Shortened(name+"m"))
}
