package safefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMkdirReturnsWhatItMadeInnermostFirst(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b", "c")
	made, err := Mkdir(inner)
	require.NoError(t, err)
	assert.Equal(t, []string{inner, filepath.Join(root, "a", "b"), filepath.Join(root, "a")}, made)

	made, err = Mkdir(inner)
	require.NoError(t, err)
	assert.Empty(t, made)
}

func TestMkdirRefusesAFileOnTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Mkdir(file)
	assert.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = Mkdir(filepath.Join(file, "below"))
	assert.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestRmdirTakesOnlyEmptyDirectories(t *testing.T) {
	root := t.TempDir()
	full, link := filepath.Join(root, "full"), filepath.Join(root, "link")
	require.NoError(t, os.MkdirAll(filepath.Join(full, "empty"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(full, "empty"), link))

	assert.Error(t, Rmdir(full))
	assert.ErrorIs(t, Rmdir(link), syscall.ENOTDIR)
	assert.NoError(t, Rmdir(filepath.Join(full, "empty")))
}

func TestWriteLeavesTheOldFileIfContentFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))

	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return broken
	})
	require.ErrorIs(t, err, broken)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(got))
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 1, "the temporary file is gone")
}
