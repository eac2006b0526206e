package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/harness/files"
)

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
	d, path := held(t, "first", "two")
	require.NoError(t, os.Symlink("two", filepath.Join(path, "link")))
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

	d, _ := held(t, "eleven.....")
	dir, err := d.List(".")
	require.NoError(t, err)
	defer dir.Close()
	var buf bytes.Buffer
	_, err = ReadInto(&buf, dir, "eleven.....", 10)
	require.ErrorIs(t, err, ErrTooLarge)
	assert.Zero(t, buf.Cap())
}
