package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

func TestMkdirReturnsWhatItCreatedInnermostFirst(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b", "c")
	made, err := Mkdir(inner)
	require.NoError(t, err)
	assert.Equal(t, []string{inner, filepath.Join(root, "a", "b"), filepath.Join(root, "a")}, made)

	made, err = Mkdir(inner)
	require.NoError(t, err)
	assert.Empty(t, made)
}

func TestMkdirRefusesAFileInThePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Mkdir(file)
	assert.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = Mkdir(filepath.Join(file, "below"))
	assert.ErrorIs(t, err, syscall.ENOTDIR)
}

// TestMkdirEnds where a directory cannot be made although what is above it is there.
func TestMkdirEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Symlink("none", dir+"link"))
	require.NoError(t, os.Mkdir(dir, 0o700))
	t.Chdir(dir)
	require.NoError(t, os.Remove(dir))
	for _, impossible := range []string{"", "a/b", dir + "link", dir + "link/a"} {
		created, err := Mkdir(impossible)
		assert.ErrorIs(t, err, fs.ErrNotExist, "%q", impossible)
		assert.Empty(t, created)
	}
}

func TestMkdirTakesOnlyTheUmaskAway(t *testing.T) {
	defer files.Umask(files.Umask(0o005))
	dir := filepath.Join(t.TempDir(), "a")
	_, err := Mkdir(dir)
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o772), info.Mode().Perm())
}

func TestRmdirRemovesOnlyEmptyDirectories(t *testing.T) {
	root := t.TempDir()
	full, link := filepath.Join(root, "full"), filepath.Join(root, "link")
	require.NoError(t, os.MkdirAll(filepath.Join(full, "empty"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(full, "empty"), link))

	assert.Error(t, Rmdir(full))
	assert.ErrorIs(t, Rmdir(link), syscall.ENOTDIR)
	assert.NoError(t, Rmdir(filepath.Join(full, "empty")))
}

func TestWriteSetsContentAndMode(t *testing.T) {
	for name, write := range map[string]func(string, []byte, Mode) error{"Write": Write, "Replace": Replace} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			require.NoError(t, write(path, []byte("old and longer"), Exactly(0o600)))
			files.Require(t, path, "old and longer", 0o600)
			require.NoError(t, write(path, []byte("new"), Exactly(0o666)))
			files.Require(t, path, "new", 0o666)
			require.NoError(t, write(path, nil, LessUmask(0o777)))
			files.Require(t, path, "", 0o777&^umask())

			names, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.Len(t, names, 1, "no temporary file is left")
		})
	}
}

func TestWriteReplacesASymbolicLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, Write(link, []byte("new"), Exactly(0o600)))
	files.Require(t, link, "new", 0o600)
	files.Require(t, target, "old", 0o600)
}

func TestFailedWriteRemovesTheTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "directory")
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, Write(path, []byte("new"), Exactly(0o600)), "a rename cannot replace a directory")
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, names, 1)
}

func umask() fs.FileMode {
	mask := files.Umask(0)
	files.Umask(mask)
	return fs.FileMode(mask)
}

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
			return files.Mkfifo(path, 0o600)
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
