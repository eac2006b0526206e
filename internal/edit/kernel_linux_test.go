package edit

import (
	"errors"
	"fmt"
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
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// changes are the four ways in which Replace changes a file in the directory root, and what it
// syncs meanwhile, below root: the new content before it has the name, and the names after that. What
// is in parentheses may fail: a directory that was emptied, and a work directory, may come back.
var changes = map[string]struct {
	before, file string
	data         []byte
	emptied      int
	syncs        string
}{
	"replaced": {"old", "f", []byte("new"), 0, "WORK/new . WORK (.)"},
	"created":  {"none", "f", []byte("new"), 0, "WORK/new . (.)"},
	"created with directories": {"none", "a/b/f", []byte("new"), 0,
		"WORK/new/b/f WORK/new/b WORK/new . (.)"},
	"removed":                  {"old", "f", nil, 0, ". WORK (.)"},
	"removed with directories": {"old", "a/b/f", nil, 2, "a/b WORK (a) (.) (.)"},
}

// prepared returns a file as Read returns it, in a new directory root.
func prepared(t *testing.T, file, content string) (root string, e *File) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(root, file)
	if content != "none" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	e, err = Read(path, 100)
	require.NoError(t, err)
	return root, e
}

// TestWhatIsSynced, and that a disk that fails at any of it is reported.
func TestWhatIsSynced(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			syncs := strings.Fields(c.syncs)
			for n := range len(syncs) + 1 {
				root, e := prepared(t, c.file, c.before)
				var err error
				var synced []string
				kernel.Answering(t, func() { err = e.Replace(c.data, c.emptied) }, func(call kernel.Call) unix.Errno {
					path, _ := filepath.Rel(root, call.Path())
					first, rest, _ := strings.Cut(path, "/")
					if strings.HasPrefix(first, workPrefix) {
						path = filepath.Join("WORK", rest)
					}
					if synced = append(synced, path); len(synced) == n {
						return unix.EIO
					}
					return 0
				}, unix.SYS_FSYNC)
				switch {
				case n == 0:
					require.NoError(t, err)
					require.Equal(t, strings.NewReplacer("(", "", ")", "").Replace(c.syncs), strings.Join(synced, " "))
				case strings.HasPrefix(syncs[n-1], "("):
					require.NoError(t, err)
				default:
					require.ErrorIs(t, err, unix.EIO, "sync %d of %s", n, c.syncs)
				}
			}
		})
	}
}

// TestWithoutRenamesThatReplaceNothing: as on a network file system.
func TestWithoutRenamesThatReplaceNothing(t *testing.T) {
	do := func(t *testing.T, e *File, data []byte, emptied int) (err error) {
		kernel.Answering(t, func() { err = e.Replace(data, emptied) }, func(kernel.Call) unix.Errno { return unix.EINVAL },
			unix.SYS_RENAMEAT2)
		return err
	}
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			root, e := prepared(t, c.file, c.before)
			require.NoError(t, do(t, e, c.data, c.emptied))
			if c.data == nil {
				files.RequireOnly(t, root)
				return
			}
			files.RequireContent(t, e.Path, string(c.data))
			assert.Equal(t, c.before == "old", e.Unguarded != nil)
			first, _, _ := strings.Cut(c.file, "/")
			files.RequireOnly(t, root, first)
		})
	}
	for _, file := range []string{"f", "a/f"} {
		root, e := prepared(t, file, "none")
		require.NoError(t, os.MkdirAll(filepath.Dir(e.Path), 0o700))
		require.NoError(t, os.WriteFile(e.Path, []byte("theirs"), 0o600))
		require.ErrorIs(t, do(t, e, []byte("ours"), 0), ErrChanged)
		files.RequireContent(t, e.Path, "theirs")
		first, _, _ := strings.Cut(file, "/")
		files.RequireOnly(t, root, first)
	}
	_, e := prepared(t, "a/f", "none")
	require.NoError(t, os.WriteFile(filepath.Dir(e.Path), []byte("theirs"), 0o600))
	require.Error(t, do(t, e, []byte("ours"), 0))
	files.RequireContent(t, filepath.Dir(e.Path), "theirs")
}

// TestAProgramThatBeginsToWrite at any sync of an edit gets its file back, whether the edit has taken it
// already or not. Before it has, nothing is exchanged.
func TestAProgramThatBeginsToWrite(t *testing.T) {
	defer func() { exchange = (*safefile.Dir).Exchange }()
	for name, data := range map[string][]byte{"replaced": []byte("new"), "removed": nil} {
		t.Run(name, func(t *testing.T) {
			for n := 1; n <= 3-len(name)%2; n++ {
				root, e := prepared(t, "f", "old")
				exchanges, syncs := 0, 0
				exchange = func(from *safefile.Dir, name string, to *safefile.Dir, newname string) error {
					exchanges++
					return from.Exchange(name, to, newname)
				}
				var err error
				kernel.Answering(t, func() { err = e.Replace(data, 0) }, func(kernel.Call) unix.Errno {
					if syncs++; syncs == n {
						old := e.Path
						if taken, _ := filepath.Glob(filepath.Join(root, workPrefix+"f", hashOf(e.Data)+".*")); len(taken) > 0 {
							old = taken[0]
						}
						_, err := os.OpenFile(old, os.O_WRONLY|unix.O_NONBLOCK, 0)
						assert.ErrorIs(t, err, unix.EWOULDBLOCK)
					}
					return 0
				}, unix.SYS_FSYNC)
				require.ErrorIs(t, err, ErrChanged, "at sync %d", n)
				files.Require(t, e.Path, "old", 0o600)
				files.RequireOnly(t, root, "f")
				if n == 1 {
					assert.Zero(t, exchanges)
				}
			}
		})
	}
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
		_, e := prepared(t, "f", "old")
		e.Mode = 0o640
		var err error
		kernel.Answering(t, func() { err = e.Replace([]byte("new"), 0) }, func(kernel.Call) unix.Errno { return c.errno }, c.call)
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
	root, e := prepared(t, "f", "old")
	replace := func(call int32) (err error) {
		kernel.Answering(t, func() { err = e.Replace([]byte("new"), 0) }, func(kernel.Call) unix.Errno { return unix.EPERM }, call)
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
	files.RequireOnly(t, root, "f")
}

// TestNothingStaysOpen after an edit, or after one that was killed.
func TestNothingStaysOpen(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(names)
	}
	root, e := prepared(t, "f", "old")
	work := filepath.Join(root, workPrefix+"f")
	for name, do := range map[string]func() error{
		"edit": func() error {
			err := e.Replace([]byte("new"), 0)
			return errors.Join(err, os.WriteFile(e.Path, []byte("old"), 0o600))
		},
		"refused": func() error {
			changed := *e
			changed.Data = []byte("older")
			if err := changed.Replace([]byte("new"), 0); !errors.Is(err, ErrChanged) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
		"put back": func() error {
			err := errors.Join(os.Mkdir(work, 0o700), os.Rename(e.Path, filepath.Join(work, slotName([]byte("x"), nil))))
			return errors.Join(err, Sweep(e.Path))
		},
		"found": func() error {
			_, err := Leftovers(root)
			return errors.Join(err, os.Mkdir(work, 0o700), RemoveLeftover(work))
		},
		"removed": func() error {
			err := e.Replace(nil, 0)
			return errors.Join(err, os.WriteFile(e.Path, []byte("old"), 0o600))
		},
	} {
		before := open()
		for range 30 {
			require.NoError(t, do(), name)
		}
		require.Less(t, open(), before+15, name)
	}
}

// TestWithoutLocksAYoungWorkDirectoryStays: its process may be alive. An old one is swept.
func TestWithoutLocksAYoungWorkDirectoryStays(t *testing.T) {
	root, e := prepared(t, "f", "old")
	work := filepath.Join(root, workPrefix+"f")
	require.NoError(t, os.Mkdir(work, 0o700))
	sweep := func() (found []string, err error) {
		kernel.Answering(t, func() {
			found, _ = Leftovers(root)
			err = Sweep(e.Path)
		}, func(kernel.Call) unix.Errno { return unix.ENOLCK }, unix.SYS_FLOCK)
		return found, err
	}
	found, err := sweep()
	require.ErrorIs(t, err, safefile.ErrBusy)
	require.ErrorContains(t, err, "it is removed after 1h0m0s")
	require.Empty(t, found)
	require.DirExists(t, work)
	long := time.Now().Add(-safefile.SweepAge - time.Minute)
	require.NoError(t, os.Chtimes(work, long, long))
	found, err = sweep()
	require.NoError(t, err)
	require.Equal(t, []string{work}, found)
	files.RequireOnly(t, root, "f")
}
