package vfs_test

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// held returns a file system that holds dir/d, which has the file x. Afterwards dir/d is
// moved to dir/away and replaced by a symbolic link to dir/other, which has a file x too.
func held(t *testing.T) (files vfs.FS, h *vfs.Held, dir string) {
	dir = newDir(t)
	require.NoError(t, os.WriteFile(dir+"/d/x", []byte("held"), 0o600))
	h = new(vfs.Held)
	require.NoError(t, h.Hold(dir+"/d"))
	t.Cleanup(func() { _ = h.Close() })
	require.NoError(t, os.Rename(dir+"/d", dir+"/away"))
	require.NoError(t, os.Mkdir(dir+"/other", 0o755))
	require.NoError(t, os.WriteFile(dir+"/other/x", []byte("other"), 0o600))
	require.NoError(t, os.Symlink("other", dir+"/d"))
	seen := 0
	steps := &faultfs.Steps{FS: vfs.OS{}, Before: func(faultfs.Step) error { seen++; return nil }}
	files = vfs.At(steps, h)
	require.NoError(t, files.Sync(dir+"/away"))
	require.NotZero(t, seen, "it is still wrapped")
	return files, h, dir
}

// synced syncs a file that a call has returned.
func synced(u vfs.Unsynced, err error) error {
	if err != nil {
		return err
	}
	return u.Sync()
}

// named writes a file for the path name and renames it to other, which may be name.
func named(files vfs.FS, name, other string) error {
	u, err := files.WritePending(name, []byte("p"), 0o666)
	if err := synced(u, err); err != nil {
		return err
	}
	return files.Rename(u.Path(), other)
}

// changes are all calls that change something in d, which has the file x. One makes a link to outside.
func changes(files vfs.FS, d, outside string) []func() error {
	return []func() error{
		func() error { return files.Mkdir(d+"/sub", 0o700) },
		func() error { return files.WriteNew(d+"/sub/a", []byte("a"), 0o600) },
		func() error { return named(files, d+"/sub/w", d+"/sub/v") },
		func() error { return synced(files.StartSync(d + "/sub/v")) },
		func() error { return files.Overwrite(d+"/b", []byte("b")) },
		func() error { return files.AppendLine(d+"/b", []byte("c")) },
		func() error { return files.Link(d+"/b", d+"/sub/l") },
		func() error { return files.Link(d+"/b", outside) },
		func() error { return files.Rename(d+"/b", d+"/r") },
		func() error { return files.RenameNew(d+"/r", d+"/n") },
		func() error { return files.Chtimes(d+"/n", time.Unix(1e9, 0)) },
		func() error { return files.Chtimes(d, time.Unix(1e9, 0)) },
		func() error { return files.Sync(d + "/n") },
		func() error { return files.Sync(d) },
		func() error { return files.Remove(d + "/x") },
	}
}

// TestEveryOperationStaysInTheHeldDirectory calls every operation after the directory was
// replaced by a symbolic link.
func TestEveryOperationStaysInTheHeldDirectory(t *testing.T) {
	files, h, dir := held(t)
	d := dir + "/d"
	assert.False(t, h.Current(d))
	data, err := files.ReadFile(d + "/x")
	require.NoError(t, err)
	assert.Equal(t, "held", string(data))
	for _, do := range changes(files, d, dir+"/outside") {
		require.NoError(t, do())
	}
	for in, want := range map[string]string{"/away": "n sub ", "/away/sub": "a l v ", "/other": "x "} {
		entries, err := os.ReadDir(dir + in)
		require.NoError(t, err)
		got := ""
		for _, e := range entries {
			got += e.Name() + " "
		}
		assert.Equal(t, want, got, in)
	}
	require.NoError(t, os.Symlink("../other", dir+"/away/link"))
	_, err = files.ReadDir(d + "/link")
	require.Error(t, err, "a link inside the directory is not followed either")
	require.Error(t, files.Sync(d+"/link"))
	require.Error(t, synced(files.StartSync(d+"/link")))
	require.NoError(t, files.Remove(d+"/link"))
	entries, err := files.ReadDir(d)
	require.NoError(t, err)
	assert.Len(t, entries, 2)
	list, err := vfs.OpenDir(files, d)
	require.NoError(t, err)
	defer list.Close()
	names, err := list.Readdirnames(-1)
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"n", "sub"}, names)
	assert.Equal(t, "b\nc\n", text(t, dir+"/outside"), "a link from the held directory")
	info, err := os.Stat(dir + "/other")
	require.NoError(t, err)
	assert.NotEqual(t, int64(1e9), info.ModTime().Unix())
	info, err = files.Lstat(d)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the directory itself is described as it is at its path")
	_, err = files.Lstat(d + "/x")
	var path *fs.PathError
	require.ErrorAs(t, err, &path)
	assert.Equal(t, d+"/x", path.Path, "errors have the whole path")
}

// TestADirectoryThatIsCreatedIsHeld creates a held directory that did not exist, and again
// after it was removed.
func TestADirectoryThatIsCreatedIsHeld(t *testing.T) {
	dir := newDir(t)
	d := dir + "/new"
	h := new(vfs.Held)
	require.NoError(t, h.Hold(d))
	defer h.Close()
	files := vfs.At(vfs.OS{}, h)
	for range 2 {
		require.ErrorIs(t, files.WriteNew(d+"/a", nil, 0o600), fs.ErrNotExist)
		require.NoError(t, files.Mkdir(d, 0o755))
		require.True(t, h.Current(d))
		require.ErrorIs(t, files.Mkdir(d, 0o755), fs.ErrExist)
		require.NoError(t, files.WriteNew(d+"/a", nil, 0o600))
		require.FileExists(t, d+"/a")
		require.NoError(t, os.RemoveAll(d))
	}
	for _, name := range []string{"/a", "/l", "/p"} {
		other := new(vfs.Held)
		require.ErrorIs(t, other.Hold(dir+name), vfs.ErrNotDir)
		require.NoError(t, other.Close())
	}
	require.NoError(t, os.Symlink("d", dir+"/link"))
	other := new(vfs.Held)
	require.ErrorIs(t, other.Hold(dir+"/link"), vfs.ErrNotDir, "a link is not followed")
	require.NoError(t, other.Close())
}

func TestAFileWithASecondLinkOrAnotherOwnerIsNotWrittenInPlace(t *testing.T) {
	dir := newDir(t)
	require.NoError(t, os.Link(dir+"/a", dir+"/second"))
	require.ErrorIs(t, vfs.OS{}.Overwrite(dir+"/a", []byte("x")), vfs.ErrNotOwn)
	require.ErrorIs(t, vfs.OS{}.AppendLine(dir+"/a", []byte("x")), vfs.ErrNotOwn)
	assert.Equal(t, "a's", text(t, dir+"/a"))
	if os.Geteuid() != 0 {
		t.Skip("skipped: only root can give a file away")
	}
	require.NoError(t, os.Remove(dir+"/second"))
	require.NoError(t, os.Chown(dir+"/a", 65534, 65534))
	require.ErrorIs(t, vfs.OS{}.Overwrite(dir+"/a", []byte("x")), vfs.ErrNotOwn)
	require.ErrorContains(t, vfs.OS{}.Overwrite(dir+"/a", nil), "it belongs to user 65534")
	assert.Equal(t, "a's", text(t, dir+"/a"))
}

// TestNothingIsReachedInADirectoryThatDidNotExist: after Hold another program creates the
// directory, or a symbolic link as here. It was never checked, so no operation uses it.
func TestNothingIsReachedInADirectoryThatDidNotExist(t *testing.T) {
	dir := newDir(t)
	h := new(vfs.Held)
	require.NoError(t, h.Hold(dir+"/absent"))
	t.Cleanup(func() { _ = h.Close() })
	require.NoError(t, os.WriteFile(dir+"/d/x", []byte("x's"), 0o600))
	require.NoError(t, os.Symlink("d", dir+"/absent"))
	files := vfs.At(vfs.OS{}, h)
	d := dir + "/absent"
	for i, do := range append(changes(files, d, dir+"/outside"),
		func() error { _, err := files.Lstat(d + "/x"); return err },
		func() error { _, err := files.ReadDir(d); return err },
		func() error { _, err := files.ReadFile(d + "/x"); return err },
		func() error { return files.Link(dir+"/a", d+"/link") },
	) {
		assert.ErrorIs(t, do(), fs.ErrNotExist, i)
	}
	assert.Equal(t, "x's", text(t, dir+"/d/x"))
	entries, err := os.ReadDir(dir + "/d")
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	info, err := files.Lstat(dir + "/absent")
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the directory itself is described as it is at its path")
}
