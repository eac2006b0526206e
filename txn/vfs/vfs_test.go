package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// newDir returns a directory with the file a, the directory d, the symbolic link l
// to a, and the FIFO p.
func newDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/a", []byte("a's"), 0o640))
	require.NoError(t, os.Mkdir(dir+"/d", 0o755))
	require.NoError(t, os.Symlink("a", dir+"/l"))
	require.NoError(t, syscall.Mkfifo(dir+"/p", 0o600))
	return dir
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestReadFileReadsRegularFilesOnly(t *testing.T) {
	dir := newDir(t)
	data, err := vfs.OS{}.ReadFile(dir + "/a")
	require.NoError(t, err)
	assert.Equal(t, "a's", string(data))
	for _, name := range []string{"/d", "/l", "/p"} {
		_, err := vfs.OS{}.ReadFile(dir + name)
		assert.ErrorIs(t, err, vfs.ErrNotRegular, name)
	}
	_, err = vfs.OS{}.ReadFile(dir + "/absent")
	assert.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, os.Truncate(dir+"/a", vfs.MaxFileBytes+1))
	_, err = vfs.OS{}.ReadFile(dir + "/a")
	assert.ErrorIs(t, err, vfs.ErrFileTooLarge)
	require.NoError(t, os.Truncate(dir+"/a", vfs.MaxFileBytes))
	data, err = vfs.OS{}.ReadFile(dir + "/a")
	require.NoError(t, err)
	assert.Len(t, data, vfs.MaxFileBytes)
	assert.Equal(t, 64<<20, vfs.MaxFileBytes, "journals of other versions have files of that size")
}

func TestOverwriteWritesRegularFilesOnly(t *testing.T) {
	dir := newDir(t)
	before, err := os.Stat(dir + "/a")
	require.NoError(t, err)
	require.NoError(t, vfs.OS{}.Overwrite(dir+"/a", []byte("b")))
	after, err := os.Stat(dir + "/a")
	require.NoError(t, err)
	assert.Equal(t, "b", text(t, dir+"/a"), "what was longer is cut off")
	assert.True(t, os.SameFile(before, after))

	require.NoError(t, vfs.OS{}.Overwrite(dir+"/new", []byte("n")))
	info, err := os.Stat(dir + "/new")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	for _, name := range []string{"/d", "/l", "/p"} {
		assert.ErrorIs(t, vfs.OS{}.Overwrite(dir+name, []byte("x")), vfs.ErrNotRegular, name)
	}
	assert.Equal(t, "b", text(t, dir+"/a"), "the link is not followed")
}

func TestAppendLineAddsWholeLinesToRegularFilesOnly(t *testing.T) {
	dir := newDir(t)
	for _, line := range []string{"b", "", "c"} {
		require.NoError(t, vfs.OS{}.AppendLine(dir+"/a", []byte(line)))
	}
	assert.Equal(t, "a's\nb\n\nc\n", text(t, dir+"/a"))
	require.NoError(t, vfs.OS{}.AppendLine(dir+"/new", []byte("n")))
	assert.Equal(t, "n\n", text(t, dir+"/new"))
	info, err := os.Stat(dir + "/new")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	for _, name := range []string{"/d", "/l", "/p"} {
		assert.ErrorIs(t, vfs.OS{}.AppendLine(dir+name, []byte("x")), vfs.ErrNotRegular, name)
	}
	require.NoError(t, os.Truncate(dir+"/new", vfs.MaxFileBytes-3))
	assert.ErrorIs(t, vfs.OS{}.AppendLine(dir+"/new", []byte("nn")), vfs.ErrFileTooLarge)
	assert.NoError(t, vfs.OS{}.AppendLine(dir+"/new", []byte("n")))
}

func TestWriteNewSetsTheModeWhateverTheUmask(t *testing.T) {
	umask := syscall.Umask(0o077)
	defer syscall.Umask(umask)
	dir := newDir(t)
	require.NoError(t, vfs.OS{}.WriteNew(dir+"/d/new", []byte("b"), 0o666))
	info, err := os.Lstat(dir + "/d/new")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o666), info.Mode())
	assert.Equal(t, "b", text(t, dir+"/d/new"))
	for _, name := range []string{"/a", "/d", "/l", "/p"} {
		require.ErrorIs(t, vfs.OS{}.WriteNew(dir+name, []byte("x"), 0o600), fs.ErrExist, name)
	}
	assert.Equal(t, "a's", text(t, dir+"/a"))
	assert.Error(t, vfs.OS{}.WriteNew(dir+"/absent/a", nil, 0o600))
}

func TestRenameReplacesAndRenameNewDoesNot(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, os.WriteFile(dir+"/b", []byte("b's"), 0o600))
	err := vfs.OS{}.RenameNew(dir+"/b", dir+"/a")
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skipf("this file system cannot rename without replacing: %v", err)
	}
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, dir+"/b "+dir+"/a")
	assert.Equal(t, "a's", text(t, dir+"/a"))
	require.NoError(t, vfs.OS{}.RenameNew(dir+"/b", dir+"/c"))
	assert.NoFileExists(t, dir+"/b")
	assert.ErrorIs(t, vfs.OS{}.RenameNew(dir+"/b", dir+"/e"), fs.ErrNotExist)

	require.NoError(t, vfs.OS{}.Rename(dir+"/c", dir+"/a"))
	assert.Equal(t, "b's", text(t, dir+"/a"))
}

func TestLinkGivesTheSameFileASecondName(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, vfs.OS{}.Link(dir+"/a", dir+"/b"))
	a, err := vfs.OS{}.Lstat(dir + "/a")
	require.NoError(t, err)
	b, err := vfs.OS{}.Lstat(dir + "/b")
	require.NoError(t, err)
	assert.True(t, os.SameFile(a, b))
	assert.ErrorIs(t, vfs.OS{}.Link(dir+"/a", dir+"/d"), fs.ErrExist)
}

func TestDirectoryOperations(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, vfs.OS{}.Mkdir(dir+"/e", 0o700))
	assert.ErrorIs(t, vfs.OS{}.Mkdir(dir+"/e", 0o700), fs.ErrExist)
	entries, err := vfs.OS{}.ReadDir(dir)
	require.NoError(t, err)
	var names string
	for _, e := range entries {
		names += e.Name()
	}
	assert.Equal(t, "adelp", names)
	for _, name := range []string{"/e", "/l", "/p"} {
		require.NoError(t, vfs.OS{}.Remove(dir+name))
	}
	assert.ErrorIs(t, vfs.OS{}.Remove(dir+"/e"), fs.ErrNotExist)
	assert.FileExists(t, dir+"/a", "only the link is removed")
	require.NoError(t, os.Symlink("absent", dir+"/l"))
	info, err := vfs.OS{}.Lstat(dir + "/l")
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())
	at := time.Unix(1e9, 7)
	require.NoError(t, vfs.OS{}.Chtimes(dir+"/a", at))
	info, err = vfs.OS{}.Lstat(dir + "/a")
	require.NoError(t, err)
	assert.True(t, at.Equal(info.ModTime()))
}

func TestSyncTakesFilesAndDirectories(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, os.Symlink("d", dir+"/link"))
	for _, name := range []string{"", "/a", "/d", "/l", "/link"} {
		assert.NoError(t, vfs.OS{}.Sync(dir+name), name)
	}
	assert.Error(t, vfs.OS{}.Sync(dir+"/p"), "it does not wait for the other end of a pipe")
	assert.ErrorIs(t, vfs.OS{}.Sync(dir+"/absent"), fs.ErrNotExist)
}
