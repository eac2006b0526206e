package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
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
	require.NoError(t, files.Mkfifo(dir+"/p", 0o600))
	return dir
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// TestOperations: what each does to files, whatever the umask.
func TestOperations(t *testing.T) {
	umask := files.Umask(0o077)
	defer files.Umask(umask)
	dir, files := newDir(t), vfs.OS{}
	info := func(name string) fs.FileInfo {
		info, err := files.Lstat(dir + name)
		require.NoError(t, err)
		return info
	}
	a := info("/a")
	require.NoError(t, files.Overwrite(dir+"/a", []byte("b")))
	assert.Equal(t, "b", text(t, dir+"/a"), "what was longer is cut off")
	require.NoError(t, files.Overwrite(dir+"/new", []byte("n")))
	for _, line := range []string{"b", "", "c"} {
		require.NoError(t, files.AppendLine(dir+"/a", []byte(line)))
		require.NoError(t, files.AppendLine(dir+"/appended", []byte(line)))
	}
	assert.Equal(t, "b\nb\n\nc\n", text(t, dir+"/a"))
	assert.Equal(t, "b\n\nc\n", text(t, dir+"/appended"))
	data, err := files.ReadFile(dir + "/a")
	require.NoError(t, err)
	assert.Equal(t, text(t, dir+"/a"), string(data))
	data, err = files.ReadFrom(dir+"/a", 2)
	require.NoError(t, err)
	assert.Equal(t, "b\n\nc\n", string(data))
	require.NoError(t, files.WriteNew(dir+"/d/new", []byte("w"), 0o666))
	assert.Equal(t, "w", text(t, dir+"/d/new"))
	require.NoError(t, named(files, dir+"/d/pending", dir+"/d/pending"))
	assert.Equal(t, "p", text(t, dir+"/d/pending"))
	require.NoError(t, synced(files.StartSync(dir+"/d/pending")))
	require.NoError(t, files.Link(dir+"/a", dir+"/linked"))
	assert.True(t, os.SameFile(a, info("/linked")), "a is still the same file")
	require.NoError(t, files.Rename(dir+"/appended", dir+"/new"))
	assert.Equal(t, "b\n\nc\n", text(t, dir+"/new"), "it is replaced")
	require.NoError(t, files.Mkdir(dir+"/e", 0o500))
	for name, want := range map[string]fs.FileMode{"/new": 0o600, "/d/new": 0o666, "/d/pending": 0o666, "/e": fs.ModeDir | 0o500} {
		assert.Equal(t, want, info(name).Mode(), name)
	}
	at := time.Unix(1e9, 7)
	require.NoError(t, files.Chtimes(dir+"/a", at))
	assert.True(t, at.Equal(info("/a").ModTime()))
	assert.Equal(t, fs.ModeSymlink, info("/l").Mode().Type())
	real, err := files.EvalSymlinks(dir + "/l")
	require.NoError(t, err)
	assert.Equal(t, "a", filepath.Base(real))
	require.NoError(t, os.Symlink("d", dir+"/link"))
	for _, name := range []string{"", "/a", "/d", "/l", "/link"} {
		assert.NoError(t, files.Sync(dir+name), name)
	}
	for _, name := range []string{"/e", "/l", "/link", "/p"} {
		require.NoError(t, files.Remove(dir+name), name)
	}
	entries, err := files.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"a", "d", "linked", "new"}, names, "only the link is removed")
}

func TestRenameNewDoesNotReplace(t *testing.T) {
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
}

// TestWhatIsRefused: links are not followed, pipes are not waited for, and nothing is replaced.
func TestWhatIsRefused(t *testing.T) {
	dir, files := newDir(t), vfs.OS{}
	for _, name := range []string{"/d", "/l", "/p"} {
		_, err := files.ReadFile(dir + name)
		assert.ErrorIs(t, err, vfs.ErrNotRegular, name)
		assert.ErrorIs(t, files.Overwrite(dir+name, []byte("x")), vfs.ErrNotRegular, name)
		assert.ErrorIs(t, files.AppendLine(dir+name, []byte("x")), vfs.ErrNotRegular, name)
		assert.ErrorIs(t, files.WriteNew(dir+name, nil, 0o600), fs.ErrExist, name)
		assert.ErrorIs(t, files.Mkdir(dir+name, 0o700), fs.ErrExist, name)
		assert.ErrorIs(t, files.Link(dir+"/a", dir+name), fs.ErrExist, name)
	}
	assert.Error(t, files.Sync(dir+"/p"), "it does not wait for the other end of a pipe")
	_, err := files.ReadFile(dir + "/absent")
	for _, err := range []error{err, files.Sync(dir + "/absent"), files.Remove(dir + "/absent"), files.WriteNew(dir+"/absent/a", nil, 0o600),
		named(files, dir+"/absent/a", dir+"/a"), synced(files.StartSync(dir + "/absent"))} {
		assert.ErrorIs(t, err, fs.ErrNotExist)
	}
	assert.Equal(t, "a's", text(t, dir+"/a"))

	assert.Equal(t, 64<<20, vfs.MaxFileBytes, "journals of other versions have files of that size")
	require.NoError(t, os.Truncate(dir+"/a", vfs.MaxFileBytes-3))
	assert.ErrorIs(t, files.AppendLine(dir+"/a", []byte("nn")), vfs.ErrFileTooLarge, "with a newline before it")
	assert.NoError(t, files.AppendLine(dir+"/a", []byte("n")))
	require.NoError(t, os.Truncate(dir+"/a", vfs.MaxFileBytes))
	data, err := files.ReadFile(dir + "/a")
	require.NoError(t, err)
	assert.Len(t, data, vfs.MaxFileBytes)
	require.NoError(t, os.Truncate(dir+"/a", vfs.MaxFileBytes+1))
	_, err = files.ReadFile(dir + "/a")
	assert.ErrorIs(t, err, vfs.ErrFileTooLarge)
}

// TestOpenWithAnotherFileSystem: one that At cannot reach inside is on the operating system's disk.
func TestOpenWithAnotherFileSystem(t *testing.T) {
	dir, files := newDir(t), struct{ vfs.FS }{vfs.OS{}}
	f, err := vfs.Create(files, dir+"/new", 0o600)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.FileExists(t, dir+"/new")
	list, err := vfs.OpenDir(files, dir+"/d")
	require.NoError(t, err)
	require.NoError(t, list.Close())
}

// fake is a file of another file system.
type fake struct {
	fs.FileInfo
	number int
}

func (f fake) SameFile(other fs.FileInfo) bool { return other.(fake).number == f.number }

func TestSameFileOfAnotherFileSystem(t *testing.T) {
	assert.True(t, vfs.SameFile(fake{number: 1}, fake{number: 1}))
	assert.False(t, vfs.SameFile(fake{number: 1}, fake{number: 2}))
}

func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o022, 0o077, 0o777, 0o027} {
		before := files.Umask(mask)
		got := vfs.Umask()
		now := files.Umask(before)
		assert.Equal(t, fs.FileMode(mask), got)
		assert.Equal(t, mask, now, "it is unchanged")
	}
}
