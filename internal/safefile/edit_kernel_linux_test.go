package safefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/kernel"
)

// prepared returns a file with the content "old" as Read returns it.
func prepared(t *testing.T) *Edit {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	e, err := ReadToEdit(path, 100)
	require.NoError(t, err)
	return e
}

// TestWhatAnEditSyncs: the new content before it has the name, then the name. A disk that fails at any of
// it is reported.
func TestWhatAnEditSyncs(t *testing.T) {
	for name, c := range map[string]struct {
		data  []byte
		syncs string
	}{
		"replaced": {[]byte("new"), ".fsmtx-write-f .."},
		"removed":  {nil, ".."},
	} {
		t.Run(name, func(t *testing.T) {
			syncs := strings.Fields(c.syncs)
			for n := range len(syncs) + 1 {
				e := prepared(t)
				var err error
				var synced []string
				kernel.Answering(t, func() { err = e.Replace(c.data) }, func(call kernel.Call) unix.Errno {
					what := ".."
					if call.Path() != filepath.Dir(e.Path) {
						what = strings.TrimRight(filepath.Base(call.Path()), "0123456789")
					}
					if synced = append(synced, what); len(synced) == n {
						return unix.EIO
					}
					return 0
				}, unix.SYS_FSYNC)
				if n > 0 {
					require.ErrorIs(t, err, unix.EIO, "sync %d of %s", n, c.syncs)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, syncs, synced)
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

// TestAnEditLeavesNothingOpen after an edit, or after one that was refused.
func TestAnEditLeavesNothingOpen(t *testing.T) {
	open := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(names)
	}
	e := prepared(t)
	before := open()
	for range 30 {
		require.NoError(t, e.Replace([]byte("new")))
		require.ErrorIs(t, e.Replace([]byte("newer")), ErrChanged)
		require.NoError(t, os.WriteFile(e.Path, []byte("old"), 0o600))
	}
	require.Less(t, open(), before+15)
}
