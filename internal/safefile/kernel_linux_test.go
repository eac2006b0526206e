package safefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
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

// synced syncs a file that a call has returned.
func synced(u *Unsynced, err error) error {
	if err != nil {
		return err
	}
	return u.Sync()
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
		"pending":   {func(d *Dir, _ string) error { return synced(d.WritePending("f", []byte("x"), 0o600)) }, "temp"},
		"started":   {func(d *Dir, _ string) error { return synced(d.StartSync("file")) }, "file"},
		"mkdir":     {func(_ *Dir, path string) error { _, err := Mkdir(path + "/a/b"); return err }, ". a"},
		"rmdir":     {func(_ *Dir, path string) error { return Rmdir(path + "/sub") }, "."},
		"names":     {func(d *Dir, _ string) error { return d.SyncNames(".") }, "."},
		"sync":      {func(d *Dir, _ string) error { return d.Sync("file") }, "file"},
		"edit":      {func(_ *Dir, path string) error { return edit(t, path+"/file", to("x")) }, "temp ."},
		"removal":   {func(_ *Dir, path string) error { return edit(t, path+"/file", func([]byte) []byte { return nil }) }, "."},
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
		"begin":  {unix.SYS_SYNC_FILE_RANGE, func(d *Dir) error { return synced(d.StartSync("f")) }},
		"end":    {unix.SYS_FSYNC, func(d *Dir) error { return synced(d.StartSync("f")) }},
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
		"write": {unix.SYS_WRITE, unix.ENOSPC, func(d *Dir, _ string) error { return d.WriteNew("new", []byte("x"), 0o600) },
			nil, "new"},
		"permissions": {unix.SYS_FCHMOD, unix.EPERM, func(d *Dir, _ string) error { return d.WriteNew("new", nil, 0o677) },
			nil, "new"},
		"replace, no space":       {unix.SYS_WRITE, unix.ENOSPC, replace, nil, ""},
		"replace, too many files": {unix.SYS_OPENAT, unix.EMFILE, replace, nil, ""},
		"lock": {unix.SYS_FLOCK, unix.EOPNOTSUPP, func(d *Dir, _ string) error { _, err := d.Lock(NoWait()); return err },
			nil, ""},
		"lock, without locks": {unix.SYS_FLOCK, unix.ENOLCK, func(d *Dir, _ string) error { _, err := d.Lock(t.Context()); return err },
			nil, ""},
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

// TestTheWritebackIsStarted when a file is written, and its error is reported. Where it cannot be started, the
// sync does all.
func TestTheWritebackIsStarted(t *testing.T) {
	for name, do := range map[string]func(d *Dir) (*Unsynced, error){
		"new":   func(d *Dir) (*Unsynced, error) { return d.WritePending("new", []byte("x"), 0o644) },
		"there": func(d *Dir) (*Unsynced, error) { return d.StartSync("f") },
	} {
		for errno, fails := range map[unix.Errno]bool{0: false, unix.ENOSYS: false, unix.EPERM: false, unix.EINVAL: false,
			unix.EIO: true, unix.ENOSPC: true, unix.EDQUOT: true} {
			d, path := held(t, "f")
			var err error
			started := 0
			kernel.Answering(t, func() { err = synced(do(d)) }, func(call kernel.Call) unix.Errno {
				assert.Equal(t, path, filepath.Dir(call.Path()))
				assert.EqualValues(t, unix.SYNC_FILE_RANGE_WRITE, call.Args[3])
				started++
				return errno
			}, unix.SYS_SYNC_FILE_RANGE)
			assert.Equal(t, 1, started, name)
			if fails {
				require.ErrorIs(t, err, errno, name)
				require.ErrorContains(t, err, path)
			} else {
				require.NoError(t, err, name)
			}
		}
	}
}

// TestTheWritebackIsAwaited: its error is reported, by this call if not by the sync.
func TestTheWritebackIsAwaited(t *testing.T) {
	for errno, fails := range map[unix.Errno]bool{0: false, unix.ENOSYS: false, unix.EPERM: false, unix.EIO: true} {
		d, path := held(t, "f")
		u, err := d.WritePending("new", []byte("x"), 0o644)
		require.NoError(t, err)
		waits := 0
		kernel.Answering(t, func() { err = u.Wait() }, func(call kernel.Call) unix.Errno {
			assert.EqualValues(t, unix.SYNC_FILE_RANGE_WAIT_BEFORE, call.Args[3])
			waits++
			return errno
		}, unix.SYS_SYNC_FILE_RANGE)
		assert.Equal(t, 1, waits)
		if fails {
			require.ErrorIs(t, err, errno)
			require.ErrorContains(t, err, path)
		} else {
			require.NoError(t, err)
		}
		require.NoError(t, u.Sync())
	}
}

// TestMostOpen leaves descriptors for everything else.
func TestMostOpen(t *testing.T) {
	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &was) }()
	for limit, want := range map[uint64]int{1: 1, 100: 50, 1024: 512, was.Max: int(min(was.Max/2, 2048))} {
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: was.Max}))
		assert.Equal(t, want, MostOpen())
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
	d, path := held(t, "f", "sub/", "fifo|")
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
		"pending":   func() { assert.NoError(t, synced(d.WritePending("sub/f", []byte("x"), 0o600))) },
		"started":   func() { assert.NoError(t, synced(d.StartSync("f"))) },
		"not named": func() { _, _ = d.WritePending("absent/f", nil, 0o600) },
		"not synced": func() {
			if u, err := d.StartSync("f"); assert.NoError(t, err) {
				assert.NoError(t, u.Close())
			}
		},
		"edit": func() {
			e, err := ReadToEdit(path+"/f", 100)
			assert.NoError(t, err)
			assert.NoError(t, e.Replace(append(e.Data, 'x')))
			assert.ErrorIs(t, e.Replace([]byte("y")), ErrChanged)
		},
		"sync": func() { _ = d.SyncNames(".") },
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

// prepared returns a file with the content "old" as Read returns it.
func prepared(t *testing.T) *Edit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	e, err := ReadToEdit(path, 100)
	require.NoError(t, err)
	return e
}

// TestWithoutAttributesOrLocks: a file system may have neither. One whose calls fail in another way is not taken for such a one.
func TestWithoutAttributesOrLocks(t *testing.T) {
	for _, c := range []struct {
		call  int32
		errno unix.Errno
		is    error
	}{
		{unix.SYS_FLISTXATTR, unix.EOPNOTSUPP, nil}, {unix.SYS_FLISTXATTR, unix.EIO, errOwnership},
		{unix.SYS_FLOCK, unix.EOPNOTSUPP, nil}, {unix.SYS_FLOCK, unix.ENOLCK, nil},
		{unix.SYS_FCHMOD, unix.EPERM, errOwnership},
	} {
		e := prepared(t)
		e.Mode = 0o640
		var err error
		kernel.Answering(t, func() { err = e.Replace([]byte("new")) }, func(kernel.Call) unix.Errno { return c.errno }, c.call)
		require.ErrorIs(t, err, c.is, "%v", c)
		if c.is != nil {
			require.ErrorIs(t, err, c.errno, "%v", c)
			files.Require(t, e.Path, "old", 0o600)
		} else {
			files.Require(t, e.Path, "new", 0o640)
		}
		files.RequireOnly(t, filepath.Dir(e.Path), "f")
	}
}

// TestAttributesThatCannotBeSet: the file keeps what it has. Those that are right already are not set.
func TestAttributesThatCannotBeSet(t *testing.T) {
	e := prepared(t)
	replace := func(call int32) (err error) {
		kernel.Answering(t, func() { err = e.Replace([]byte("new")) }, func(kernel.Call) unix.Errno { return unix.EPERM }, call)
		return err
	}
	if err := unix.Setxattr(e.Path, "user.note", []byte("mine"), 0); err != nil {
		t.Logf("no attribute of a user is set here: %v", err)
	} else {
		err := replace(unix.SYS_FSETXATTR)
		require.ErrorIs(t, err, errOwnership)
		require.ErrorIs(t, err, unix.EPERM)
		require.ErrorContains(t, err, "setting the attribute user.note")
		files.RequireContent(t, e.Path, "old")
	}
	require.NoError(t, replace(unix.SYS_FCHMOD))
	files.Require(t, e.Path, "new", 0o600)
	files.RequireOnly(t, filepath.Dir(e.Path), "f")
}

// accessACL is the attribute in which Linux keeps an access control list.
const accessACL = "system.posix_acl_access"

// acl returns a list that lets one more user read and write.
func acl(user uint32) []byte {
	entry := func(tag, perm uint16, id uint32) []byte {
		b := binary.LittleEndian.AppendUint16(nil, tag)
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(b, perm), id)
	}
	const none = ^uint32(0)
	return bytes.Join([][]byte{{2, 0, 0, 0}, entry(1, 6, none), entry(2, 6, user), entry(4, 0, none), entry(16, 6, none),
		entry(32, 0, none)}, nil)
}

func TestRootKeepsTheOwnerOfAFile(t *testing.T) {
	files.AsRoot(t)
	for _, owner := range [][2]int{{12345, 23456}, {12345, 0}, {0, 23456}} {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		require.NoError(t, os.Chown(path, owner[0], owner[1]))
		require.NoError(t, os.Chmod(path, 0o640|fs.ModeSticky))
		require.NoError(t, unix.Setxattr(path, "user.note", []byte("mine"), 0))
		withACL := unix.Setxattr(path, accessACL, acl(34567), 0) == nil
		if !withACL {
			t.Log("this file system has no access control lists")
		}
		before, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, edit(t, path, to("new")))

		after, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, before.Mode(), after.Mode())
		st := after.Sys().(*syscall.Stat_t)
		require.Equal(t, owner, [2]int{int(st.Uid), int(st.Gid)})
		requireAttribute(t, path, "user.note", []byte("mine"))
		if withACL {
			requireAttribute(t, path, accessACL, acl(34567))
		}
	}
}

func requireAttribute(t *testing.T, path, name string, want []byte) {
	t.Helper()
	buf := make([]byte, 200)
	n, err := unix.Getxattr(path, name, buf)
	require.NoError(t, err)
	require.Equal(t, want, buf[:n])
}

// TestDefaultACLIsNotInherited: a new file in a directory with a default access control
// list would get that list.
func TestDefaultACLIsNotInherited(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	if err := unix.Setxattr(dir, "system.posix_acl_default", acl(34567), 0); err != nil {
		t.Skipf("skipped: this file system has no access control lists: %v", err)
	}
	require.NoError(t, edit(t, path, to("new")))
	_, err := unix.Getxattr(path, accessACL, nil)
	require.Error(t, err)
	files.Require(t, path, "new", 0o600)
}

// openToAll lets other users reach and write the directory.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	files.AsRoot(t)
	require.NoError(t, os.Chmod(dir, 0o777))
	for d := dir; d != "/"; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(d, info.Mode().Perm()|0o111|info.Mode()&fs.ModeSticky))
	}
}

// become switches the file system accesses of the calling thread to another user.
func become(t *testing.T, uid int) {
	t.Helper()
	runtime.LockOSThread()
	require.NoError(t, unix.Setfsgid(uid))
	require.NoError(t, unix.Setfsuid(uid))
	t.Cleanup(func() {
		_ = unix.Setfsuid(0)
		_ = unix.Setfsgid(0)
		runtime.UnlockOSThread()
	})
}

func TestReplaceRefusesToChangeTheOwner(t *testing.T) {
	dir := t.TempDir()
	openToAll(t, dir)
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.NoError(t, os.Chown(path, 12345, 12345))
	become(t, 23456)
	err := edit(t, path, to("new"))
	require.ErrorIs(t, err, errOwnership)
	require.ErrorContains(t, err, path+": would not keep its owner and permissions: it belongs to user 12345 and group 12345")
	files.Require(t, path, "old", 0o644)
	files.RequireOnly(t, dir, "f")
}

// TestAnOpenWaitsForALease: a file server gives its lease up when it is told that
// somebody opens the file.
func TestAnOpenWaitsForALease(t *testing.T) {
	d, path := held(t, "leased")
	released := files.Lease(t, filepath.Join(path, "leased"))
	data, err := d.ReadFile("leased", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, "leased", string(data))
	released()
}

func TestChildProcessesDoNotInherit(t *testing.T) {
	d, _ := held(t, "file")
	f, err := d.Open("file", os.O_RDONLY)
	require.NoError(t, err)
	defer f.Close()
	for _, fd := range []uintptr{f.Fd(), uintptr(d.Fd())} {
		flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
		require.NoError(t, err)
		assert.NotZero(t, flags&unix.FD_CLOEXEC)
	}
}

func TestReadInto(t *testing.T) {
	d, _ := held(t, "first", "two", "link -> two")
	dir, err := d.List(".")
	require.NoError(t, err)
	defer dir.Close()
	var buf bytes.Buffer
	for _, name := range []string{"first", "two"} {
		data, err := ReadInto(&buf, dir, name, 5)
		require.NoError(t, err)
		assert.Equal(t, name, string(data))
	}
	for name, want := range map[string]error{"first": ErrTooLarge, "link": ErrNotRegular, "none": fs.ErrNotExist} {
		_, err := ReadInto(&buf, dir, name, 4)
		require.ErrorIs(t, err, want, name)
	}
}

// TestNothingIsReadOfAFileOverTheLimit: a file's size costs neither memory nor time.
func TestNothingIsReadOfAFileOverTheLimit(t *testing.T) {
	_, err := readAll(iotest.ErrReader(errors.New("read")), 11, 10)
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = readAll(strings.NewReader("12345"), 0, 4)
	require.ErrorIs(t, err, ErrTooLarge, "a file that grows")

	d, _ := held(t, "eleven.....")
	dir, err := d.List(".")
	require.NoError(t, err)
	defer dir.Close()
	var buf bytes.Buffer
	_, err = ReadInto(&buf, dir, "eleven.....", 10)
	require.ErrorIs(t, err, ErrTooLarge)
	assert.Zero(t, buf.Cap())
}
