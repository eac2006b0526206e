package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/kernel"
)

// counted calls do and returns how many calls of this number it makes.
func counted(t *testing.T, call int32, do func()) (n int) {
	t.Helper()
	kernel.Answering(t, do, func(kernel.Call) unix.Errno { n++; return 0 }, call)
	return n
}

// TestWhatIsSynced, and that a disk that fails at any of it is reported. A file system that cannot sync
// directories is not a disk that fails.
func TestWhatIsSynced(t *testing.T) {
	for name, c := range map[string]struct {
		do    func(d *Dir, path string) error
		syncs string // a file that is written is called temp
	}{
		"write":     {func(_ *Dir, path string) error { return Write(path+"/f", []byte("x"), Exactly(0o600)) }, "temp ."},
		"replace":   {func(_ *Dir, path string) error { return Replace(path+"/f", []byte("x"), Exactly(0o600)) }, "temp"},
		"write new": {func(d *Dir, _ string) error { return d.WriteNew("new", []byte("x"), 0o600) }, "temp"},
		"mkdir":     {func(_ *Dir, path string) error { _, err := Mkdir(path + "/a/b"); return err }, ". a"},
		"rmdir":     {func(_ *Dir, path string) error { return Rmdir(path + "/sub") }, "."},
		"names":     {func(d *Dir, _ string) error { return d.SyncNames(".") }, "."},
		"sync":      {func(d *Dir, _ string) error { return d.Sync("file") }, "file"},
		"nothing":   {func(_ *Dir, path string) error { _, err := Mkdir(path + "/sub"); return err }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			syncs := strings.Fields(c.syncs)
			for n := range len(syncs) + 1 {
				for _, errno := range []unix.Errno{unix.EIO, unix.EINVAL, unix.ENOTSUP} {
					d, path := held(t, "file", "sub/")
					var err error
					var synced []string
					kernel.Answering(t, func() { err = c.do(d, path) }, func(call kernel.Call) unix.Errno {
						at, _ := filepath.Rel(path, call.Path())
						if strings.HasPrefix(at, ".f") || at == "new" {
							at = "temp"
						}
						if synced = append(synced, at); len(synced) == n {
							return errno
						}
						return 0
					}, unix.SYS_FSYNC)
					if n > 0 && (errno == unix.EIO || syncs[n-1] == "file" || syncs[n-1] == "temp") {
						require.ErrorIs(t, err, errno, "sync %d", n)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, c.syncs, strings.Join(synced, " "))
				}
			}
		})
	}
}

func TestAnInterruptedCallIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		call int32
		do   func(d *Dir) error
	}{
		"open":   {unix.SYS_OPENAT, func(d *Dir) error { f, err := d.Open("f", os.O_RDONLY); return errors.Join(err, f.Close()) }},
		"read":   {unix.SYS_READ, func(d *Dir) error { _, err := d.ReadFile("f", 0, 9); return err }},
		"write":  {unix.SYS_WRITE, func(d *Dir) error { return d.WriteNew("new", []byte("x"), 0o600) }},
		"sync":   {unix.SYS_FSYNC, func(d *Dir) error { return d.Sync("f") }},
		"rename": {unix.SYS_RENAMEAT2, func(d *Dir) error { return d.RenameNew("f", d, "new") }},
		"link":   {unix.SYS_LINKAT, func(d *Dir) error { return d.Link("f", d, "new") }},
		"lock":   {unix.SYS_FLOCK, func(d *Dir) error { _, err := d.Lock(NoWait()); return err }},
	} {
		d, _ := held(t, "f")
		var err error
		calls := 0
		kernel.Answering(t, func() { err = c.do(d) }, func(kernel.Call) unix.Errno {
			if calls++; calls < 3 {
				return unix.EINTR
			}
			return 0
		}, c.call)
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, calls, 3, name)
	}
}

// TestFailingCallsAreReported with the path and as what they are, and leave nothing behind.
func TestFailingCallsAreReported(t *testing.T) {
	replace := func(_ *Dir, path string) error { return Replace(path+"/f", []byte("x"), Exactly(0o600)) }
	read := func(d *Dir, _ string) error { _, err := d.ReadFile("f", 1, 9); return err }
	rename := func(d *Dir, _ string) error { return d.RenameNew("f", d, "h") }
	for name, c := range map[string]struct {
		call  int32
		errno unix.Errno
		do    func(d *Dir, path string) error
		is    error // nil is errno
		left  string
	}{
		"open a directory":  {unix.SYS_FSTAT, unix.EIO, func(_ *Dir, path string) error { _, err := OpenDir(path); return err }, nil, ""},
		"stat of a file":    {unix.SYS_FSTAT, unix.EIO, read, nil, ""},
		"seek":              {unix.SYS_LSEEK, unix.EIO, read, nil, ""},
		"read":              {unix.SYS_READ, unix.EIO, read, nil, ""},
		"open":              {unix.SYS_OPENAT, unix.EACCES, read, nil, ""},
		"rename":            {unix.SYS_RENAMEAT2, unix.EINVAL, rename, errors.ErrUnsupported, ""},
		"rename, not known": {unix.SYS_RENAMEAT2, unix.ENOSYS, rename, errors.ErrUnsupported, ""},
		"rename, elsewhere": {unix.SYS_RENAMEAT2, unix.EXDEV, rename, nil, ""},
		"write": {unix.SYS_WRITE, unix.ENOSPC, func(d *Dir, _ string) error { return d.WriteNew("new", []byte("x"), 0o600) }, nil,
			"new"},
		"permissions": {unix.SYS_FCHMOD, unix.EPERM, func(d *Dir, _ string) error { return d.WriteNew("new", nil, 0o677) }, nil,
			"new"},
		"replace, no space":       {unix.SYS_WRITE, unix.ENOSPC, replace, nil, ""},
		"replace, too many files": {unix.SYS_OPENAT, unix.EMFILE, replace, nil, ""},
		"lock": {unix.SYS_FLOCK, unix.EOPNOTSUPP, func(d *Dir, _ string) error { _, err := d.Lock(NoWait()); return err }, nil,
			""},
		"lock, without locks": {unix.SYS_FLOCK, unix.ENOLCK, func(d *Dir, _ string) error { _, err := d.Lock(t.Context()); return err }, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, path := held(t, "f", "g", "sub/")
			var err error
			kernel.Answering(t, func() { err = c.do(d, path) }, func(call kernel.Call) unix.Errno {
				if call.Number == unix.SYS_WRITE && !strings.HasPrefix(call.Path(), path) {
					return 0 // package testing writes a log of the files that are opened
				}
				return c.errno
			}, c.call)
			if c.is == nil {
				c.is = c.errno
			}
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, path)
			files.RequireContent(t, filepath.Join(path, "f"), "f")
			files.RequireContent(t, filepath.Join(path, "g"), "g")
			for _, dir := range []string{path, filepath.Join(path, "sub")} {
				entries, err := os.ReadDir(dir)
				require.NoError(t, err)
				for _, e := range entries {
					require.Contains(t, []string{"f", "g", "sub", c.left}, e.Name())
				}
			}
		})
	}
}

// unsized is a file whose size is not known.
type unsized struct{ fs.File }

func (unsized) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

func TestTheSizeOfAFile(t *testing.T) {
	_, path := held(t, "four")
	f, err := os.Open(path + "/four")
	require.NoError(t, err)
	defer f.Close()
	assert.EqualValues(t, 4, sizeOf(f))
	assert.Zero(t, sizeOf(unsized{f}))
}

// TestADirectoryThatIsReplacedWhileItIsOpened: by a link, which would be followed, by another
// directory, or by a FIFO, for whose writer an open would wait.
func TestADirectoryThatIsReplacedWhileItIsOpened(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink("other", path) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":      func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		for _, isHeld := range []bool{true, false} {
			d, path := held(t, "dir/", "other/")
			at := "dir"
			if !isHeld {
				d, at = Unheld, path+"/dir"
			}
			opens := 0
			var err error
			kernel.Answering(t, func() { _, err = d.OpenDir(at) }, func(kernel.Call) unix.Errno {
				if opens++; opens == 2 {
					assert.NoError(t, os.Rename(path+"/dir", path+"/moved"))
					assert.NoError(t, replace(path+"/dir"))
				}
				return 0
			}, unix.SYS_OPENAT)
			require.ErrorIs(t, err, ErrNotDir, name)
		}
	}
}

// TestCallsThatAreSpared: a hook reads many files, and a transaction removes many from one directory.
func TestCallsThatAreSpared(t *testing.T) {
	d, path := held(t, "f", "a/b/", "a/b/x", "a/b/y")
	assert.Equal(t, 1, counted(t, unix.SYS_READ, func() { _, _ = d.ReadFile("f", 0, 99) }), "the size is known")
	assert.Zero(t, counted(t, unix.SYS_LSEEK, func() { _, _ = d.ReadFile("f", 0, 99) }))
	assert.Zero(t, counted(t, unix.SYS_FCHMOD, func() { _ = d.WriteNew("right", nil, 0o600) }), "the permissions are right")
	require.NoError(t, os.WriteFile(path+"/g", bytes.Repeat([]byte("x"), 3000), 0o600))
	dir, err := d.List(".")
	require.NoError(t, err)
	defer dir.Close()
	var buf bytes.Buffer
	assert.Equal(t, 1, counted(t, unix.SYS_READ, func() { _, _ = ReadInto(&buf, dir, "g", 4000) }))

	_, err = d.Lstat("a/b/x")
	require.NoError(t, err)
	require.NoError(t, d.Link("a/b/x", d, "a/b/z"))
	assert.Zero(t, counted(t, unix.SYS_OPENAT, func() {
		_, err = d.Lstat("a/b/y")
		_ = d.Remove("a/b/x")
	}), "the directory is open already")
	require.NoError(t, err)
	files.RequireOnly(t, path+"/a/b", "y", "z")
}

// TestNothingStaysOpen after a call, whether it succeeded or not.
func TestNothingStaysOpen(t *testing.T) {
	d, path := held(t, "f", "sub/")
	require.NoError(t, unix.Mkfifo(path+"/fifo", 0o600))
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(names)
	}
	for name, do := range map[string]func(){
		"read":      func() { _, _ = d.ReadFile("f", 0, 9) },
		"too large": func() { _, _ = d.ReadFile("f", 0, 0) },
		"not regular": func() {
			_, _ = d.ReadFile("fifo", 0, 9)
			_, _ = d.Open("sub", os.O_RDONLY)
		},
		"directory": func() { inner, _ := d.OpenDir("sub"); _ = inner.Close() },
		"replace":   func() { assert.NoError(t, Write(path+"/f", nil, Exactly(0o600))) },
		"new":       func() { _ = os.Remove(path + "/new"); assert.NoError(t, d.WriteNew("new", nil, 0o600)) },
		"list":      func() { _, _ = d.ReadDir("sub") },
		"sync":      func() { _ = d.SyncNames(".") },
		"lock": func() {
			if unlock, err := d.Lock(NoWait()); assert.NoError(t, err) {
				unlock()
			}
		},
	} {
		before := open()
		for range 40 {
			do()
		}
		assert.Less(t, open(), before+20, name)
	}
	inner, err := d.OpenDir("sub")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(path+"/sub/x", 0o700))
	_, _ = inner.Lstat("x/y")
	require.NotNil(t, inner.sub)
	require.NoError(t, inner.Close())
	assert.Nil(t, inner.sub)
}

func TestALeaseIsNotWaitedForForEver(t *testing.T) {
	defer func(wait time.Duration) { leaseWait = wait }(leaseWait)
	d, _ := held(t, "f")
	for wait, want := range map[time.Duration]error{-time.Second: unix.EWOULDBLOCK, time.Minute: nil} {
		leaseWait = wait
		opens := 0
		var err error
		kernel.Answering(t, func() { _, err = d.ReadFile("f", 0, 9) }, func(kernel.Call) unix.Errno {
			if opens++; opens < 4 {
				return unix.EWOULDBLOCK
			}
			return 0
		}, unix.SYS_OPENAT)
		require.ErrorIs(t, err, want)
	}
}
