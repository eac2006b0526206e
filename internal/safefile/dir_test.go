package safefile

import (
	"context"
	"errors"
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

// held returns an open directory with these files, which hold their own names. A directory ends in a slash, a FIFO in a bar, and a
// symbolic link has its target behind an arrow.
func held(t *testing.T, names ...string) (d *Dir, path string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path = filepath.Join(root, "held")
	require.NoError(t, os.Mkdir(path, 0o700))
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		switch at := filepath.Join(path, strings.TrimRight(name, "/|")); {
		case isLink:
			err = os.Symlink(target, at)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(at, 0o700)
		case strings.HasSuffix(name, "|"):
			err = files.Mkfifo(at, 0o600)
		default:
			err = os.WriteFile(at, []byte(name), 0o600)
		}
		require.NoError(t, err)
	}
	d, err = OpenDir(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, d.Close()) })
	return d, path
}

func TestOpenDirOpensOnlyADirectory(t *testing.T) {
	d, path := held(t, "file", "dir/", "link -> dir", "fifo|")
	for name, want := range map[string]error{"file": ErrNotDir, "link": ErrNotDir, "fifo": ErrNotDir, "none": fs.ErrNotExist} {
		_, err := d.OpenDir(name)
		require.ErrorIs(t, err, want, name)
		require.ErrorContains(t, err, "open "+filepath.Join(path, name)+": ")
		_, err = OpenDir(filepath.Join(path, name))
		require.ErrorIs(t, err, want, name)
	}
	inner, err := d.OpenDir("dir")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(path, "dir", "x"), inner.Path("x"))
	require.NoError(t, inner.Close())
	require.NoError(t, inner.Close(), "a second time")
	_, err = inner.Lstat("x")
	require.Error(t, err)
	require.NoError(t, Unheld.Close())
	assert.Equal(t, "x", Unheld.Path("x"))
}

// TestNamesLeadIntoTheDirectoryThatWasOpened: whatever is at its path by now.
func TestNamesLeadIntoTheDirectoryThatWasOpened(t *testing.T) {
	d, path := held(t, "old", "sub/")
	moved := path + " moved"
	require.NoError(t, os.Rename(path, moved))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(path, "old"), []byte("another"), 0o600))

	data, err := d.ReadFile("old", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, "old", string(data))
	f, err := d.Create("created", 0o600)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, d.Mkdir("made", 0o700))
	require.NoError(t, d.Mkdir("sub/made", 0o700))
	require.NoError(t, d.Link("old", d, "linked"))
	require.NoError(t, d.Rename("created", d, "renamed"))
	require.NoError(t, d.Remove("old"))
	require.NoError(t, d.Sync("."))
	files.RequireOnly(t, path, "old")
	files.RequireOnly(t, moved, "linked", "made", "renamed", "sub")
	files.RequireOnly(t, filepath.Join(moved, "sub"), "made")
	entries, err := d.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 4)
}

// TestNoNameLeavesTheDirectory: with the methods that say so.
func TestNoNameLeavesTheDirectory(t *testing.T) {
	d, path := held(t, "out -> ../outside")
	outside := filepath.Join(filepath.Dir(path), "outside")
	require.NoError(t, os.Mkdir(outside, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "x"), nil, 0o600))
	before, err := os.Stat(filepath.Join(outside, "x"))
	require.NoError(t, err)
	for name, do := range map[string]func(name string) error{
		"lstat":  func(name string) error { _, err := d.Lstat(name); return err },
		"mkdir":  func(name string) error { return d.Mkdir(name+"y", 0o700) },
		"remove": d.Remove, "remove all": d.RemoveAll,
		"chtimes": func(name string) error { return d.Chtimes(name, time.Unix(1, 0)) },
	} {
		for _, way := range []string{"out/x", "../outside/x"} {
			err := do(way)
			require.Error(t, err, "%s %s", name, way)
			require.ErrorContains(t, err, filepath.Dir(path)+"/", "%s %s", name, way)
		}
	}
	files.RequireOnly(t, outside, "x")
	after, err := os.Stat(filepath.Join(outside, "x"))
	require.NoError(t, err)
	assert.Equal(t, before.ModTime(), after.ModTime())
}

// TestTheDirectoryThatIsKeptOpenIsForgotten: when its name, or one above, leads elsewhere.
func TestTheDirectoryThatIsKeptOpenIsForgotten(t *testing.T) {
	for name, change := range map[string]func(d *Dir) error{
		"renamed":       func(d *Dir) error { return d.Rename("a/b", d, "c") },
		"renamed above": func(d *Dir) error { return d.Rename("a", d, "c") },
		"removed":       func(d *Dir) error { return errors.Join(d.Remove("a/b/x"), d.Remove("a/b")) },
		"removed above": func(d *Dir) error { return d.RemoveAll("a") },
		"made anew": func(d *Dir) error {
			return errors.Join(os.RemoveAll(d.Path("a")), d.Mkdir("a", 0o700), d.Mkdir("a/b", 0o700))
		},
		"put in its way": func(d *Dir) error { return errors.Join(d.Rename("a", d, "c"), d.RenameNew("other", d, "a")) },
	} {
		t.Run(name, func(t *testing.T) {
			d, path := held(t, "a/b/", "a/b/x", "other/b/")
			_, err := d.Lstat("a/b/x")
			require.NoError(t, err)
			err = change(d)
			if errors.Is(err, errors.ErrUnsupported) {
				t.Skip("skipped: this file system cannot rename without replacing")
			}
			require.NoError(t, err)
			require.NoError(t, os.MkdirAll(filepath.Join(path, "a", "b"), 0o700))
			_, err = d.Lstat("a/b/x")
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.NoError(t, d.Mkdir("a/b/new", 0o700))
			files.RequireOnly(t, filepath.Join(path, "a", "b"), "new")
		})
	}
}

func TestTwoNames(t *testing.T) {
	d, path := held(t, "a", "b", "c/")
	for name, call := range map[string]func() error{
		"link":   func() error { return d.Link("a", d, "b") },
		"rename": func() error { return d.RenameNew("a", d, "b") },
	} {
		err := call()
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		require.ErrorIs(t, err, fs.ErrExist)
		require.ErrorContains(t, err, name+" "+filepath.Join(path, "a")+" "+filepath.Join(path, "b")+": ")
		files.RequireContent(t, filepath.Join(path, "a"), "a")
		files.RequireContent(t, filepath.Join(path, "b"), "b")
	}
	inner, err := d.OpenDir("c")
	require.NoError(t, err)
	defer inner.Close()
	require.NoError(t, d.Link("a", inner, "linked"))
	require.NoError(t, d.Rename("a", d, "b"))
	files.RequireContent(t, filepath.Join(path, "b"), "a")
	files.RequireContent(t, filepath.Join(path, "c", "linked"), "a")
	files.RequireOnly(t, path, "b", "c")
}

func TestWhatIsOpenedIsRegular(t *testing.T) {
	d, path := held(t, "file", "dir/", "link -> file", "fifo|")
	for _, name := range []string{"dir", "link", "fifo"} {
		_, err := d.Open(name, os.O_RDONLY)
		require.ErrorIs(t, err, ErrNotRegular, name)
		_, err = d.Open(name, os.O_WRONLY)
		require.ErrorIs(t, err, ErrNotRegular, name)
		_, err = d.ReadFile(name, 0, 9)
		require.ErrorIs(t, err, ErrNotRegular, name)
	}
	f, err := d.Open("new", os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	require.NoError(t, err)
	for _, text := range []string{"a", "b"} {
		_, err = f.WriteAt([]byte(text), 0)
		require.Error(t, err, "it is open for appending")
		_, err = f.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	files.RequireContent(t, filepath.Join(path, "new"), "ab")
	info, err := d.Lstat("new")
	require.NoError(t, err)
	assert.Equal(t, 0o600&^umask(), info.Mode())
	_, err = d.Create("new", 0o640)
	require.ErrorIs(t, err, fs.ErrExist)
	f, err = d.Create("newer", 0o640)
	require.NoError(t, err)
	_, err = f.WriteString("text")
	require.NoError(t, err)
	_, err = f.ReadAt(make([]byte, 4), 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	info, err = d.Lstat("newer")
	require.NoError(t, err)
	assert.Equal(t, 0o640&^umask(), info.Mode())
}

func TestReadFileReadsFromAnOffsetWithinTheLimit(t *testing.T) {
	d, path := held(t, "0123456789")
	require.NoError(t, os.WriteFile(filepath.Join(path, "empty"), nil, 0o600))
	for _, c := range []struct {
		offset, max int64
		want        string
		err         error
	}{
		{0, 10, "0123456789", nil}, {0, 9, "", ErrTooLarge}, {4, 6, "456789", nil}, {4, 5, "", ErrTooLarge}, {10, 1, "", nil}, {11, 1, "", nil},
	} {
		data, err := d.ReadFile("0123456789", c.offset, c.max)
		require.ErrorIs(t, err, c.err, "%v", c)
		assert.Equal(t, c.want, string(data), "%v", c)
		assert.Equal(t, err == nil, data != nil, "%v", c)
	}
	data, err := d.ReadFile("empty", 0, 1)
	require.NoError(t, err)
	assert.NotNil(t, data)
	_, err = d.ReadFile("none", 0, 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "open "+filepath.Join(path, "none")+": ")
}

func TestListsAreSortedAndFollowNoLink(t *testing.T) {
	d, path := held(t, "c", "a", "b", "dir/", "dir/x", "link -> dir")
	entries, err := d.ReadDir(".")
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"a", "b", "c", "dir", "link"}, names)
	_, err = d.ReadDir("link")
	require.Error(t, err)
	entries, err = Unheld.ReadDir(filepath.Join(path, "link"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Error(t, d.Sync("link"))
	require.NoError(t, d.Sync("dir"))
	require.NoError(t, Unheld.Sync(filepath.Join(path, "link")))
	require.ErrorIs(t, d.Sync("none"), fs.ErrNotExist)
}

func TestHas(t *testing.T) {
	d, _ := held(t, "a", "b", "link -> a")
	info, err := d.Lstat("a")
	require.NoError(t, err)
	require.NoError(t, d.Link("a", d, "same"))
	for name, want := range map[string]bool{"a": true, "same": true, "b": false, "link": false, "none": false} {
		assert.Equal(t, want, d.Has(name, info), name)
	}
}

func TestTimes(t *testing.T) {
	d, path := held(t, "a")
	at := time.Unix(1_000_000, 0)
	for _, name := range []string{"a", "."} {
		require.NoError(t, d.Chtimes(name, at))
		info, err := os.Stat(filepath.Join(path, name))
		require.NoError(t, err)
		assert.True(t, at.Equal(info.ModTime()), name)
	}
	require.NoError(t, Unheld.Chtimes(filepath.Join(path, "a"), at.Add(time.Hour)))
	info, err := Unheld.Lstat(filepath.Join(path, "a"))
	require.NoError(t, err)
	assert.True(t, at.Add(time.Hour).Equal(info.ModTime()))
}

// TestErrorsAreThoseOfPackageOS: the operation, the whole path once, and the cause.
func TestErrorsAreThoseOfPackageOS(t *testing.T) {
	d, path := held(t, "f", "sub/")
	const none = ": no such file or directory"
	for want, do := range map[string]func() error{
		"lstat PATH/none" + none:                         func() error { _, err := d.Lstat("none"); return err },
		"lstat PATH/sub/none" + none:                     func() error { _, err := d.Lstat("sub/none"); return err },
		"lstat PATH/none/x" + none:                       func() error { _, err := d.Lstat("none/x"); return err },
		"mkdir PATH/f: file exists":                      func() error { return d.Mkdir("f", 0o700) },
		"remove PATH/none" + none:                        func() error { return d.Remove("none") },
		"chtimes PATH/none" + none:                       func() error { return d.Chtimes("none", time.Unix(1, 0)) },
		"open PATH/none" + none:                          func() error { _, err := d.Open("none", 0); return err },
		"open PATH/f: file exists":                       func() error { _, err := d.Create("f", 0o600); return err },
		"open PATH/sub: file exists":                     func() error { return d.WriteNew("sub", nil, 0o600) },
		"open PATH/f: not a directory":                   func() error { _, err := d.OpenDir("f"); return err },
		"read PATH/f: file too large: more than 0 bytes": func() error { _, err := d.ReadFile("f", 0, 0); return err },
		"open PATH/none2" + none:                         func() error { return d.Sync("none2") },
		"link PATH/none PATH/x" + none:                   func() error { return d.Link("none", d, "x") },
		"rename PATH/none PATH/x" + none:                 func() error { return d.Rename("none", d, "x") },
		"rmdir PATH/f: not a directory":                  func() error { return Rmdir(path + "/f") },
	} {
		require.EqualError(t, do(), strings.ReplaceAll(want, "PATH", path))
	}
}

func TestALockIsHeldByOne(t *testing.T) {
	d, path := held(t, "lock")
	info, err := d.Lstat("lock")
	require.NoError(t, err)
	path = filepath.Join(path, "lock")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	unlock, err := Lock(done, path, info)
	require.NoError(t, err, "it is free, so nobody waits")
	_, err = Lock(NoWait(), path, info)
	require.ErrorIs(t, err, ErrBusy)
	_, err = Lock(done, path, info)
	require.ErrorIs(t, err, ErrBusy)
	ended := make(chan error)
	go func() {
		unlock, err := Lock(context.Background(), path, info)
		if err == nil {
			unlock()
		}
		ended <- err
	}()
	unlock()
	require.NoError(t, <-ended)
}

// TestTheLockIsOnWhatWasOpened: another file, a link or nothing at the path is not it.
func TestTheLockIsOnWhatWasOpened(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"gone": os.Remove,
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+" kept"), os.Symlink(path+" kept", path))
		},
		"another": func(path string) error {
			return errors.Join(os.Rename(path, path+" kept"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := held(t, "lock")
			info, err := d.Lstat("lock")
			require.NoError(t, err)
			path = filepath.Join(path, "lock")
			require.NoError(t, change(path))
			_, err = Lock(NoWait(), path, info)
			require.ErrorIs(t, err, ErrMoved)
			_, err = Lock(t.Context(), path, info)
			require.ErrorIs(t, err, ErrMoved)
		})
	}
}

func TestADirectoryIsLocked(t *testing.T) {
	d, path := held(t)
	unlock, err := d.Lock(t.Context())
	require.NoError(t, err)
	other, err := OpenDir(path)
	require.NoError(t, err)
	defer other.Close()
	_, err = other.Lock(NoWait())
	require.ErrorIs(t, err, ErrBusy)
	unlock()
	unlock, err = other.Lock(NoWait())
	require.NoError(t, err)
	unlock()
	require.NoError(t, os.Rename(path, path+" moved"))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = d.Lock(NoWait())
	require.ErrorIs(t, err, ErrMoved)
}

func TestFilesAndEmptyDirectoriesAreRemoved(t *testing.T) {
	d, path := held(t, "a", "1/", "full/", "full/x", "link -> full")
	for _, name := range []string{"a", "1", "link"} {
		require.NoError(t, d.Remove(name), name)
	}
	for kept, want := range map[string]error{"none": fs.ErrNotExist, "full": syscall.ENOTEMPTY} {
		err := d.Remove(kept)
		require.ErrorIs(t, err, want, kept)
		require.ErrorContains(t, err, "remove "+filepath.Join(path, kept)+": ")
	}
	require.Error(t, d.Remove("."))
	require.Error(t, d.Remove(".."))
	files.RequireOnly(t, path, "full")
	files.RequireOnly(t, filepath.Join(path, "full"), "x")
}
