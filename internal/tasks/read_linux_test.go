package tasks

import (
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// TestReadWaitsForALease: a file server may hold a lease on a task file. Opening the file
// without blocking fails until the lease ends.
func TestReadWaitsForALease(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "1.json", task(taggedTask, "1.json"))
	f, err := os.OpenFile(filepath.Join(dir, "1.json"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skip("this file system has no leases: ", err)
	}
	broken, released := make(chan os.Signal, 1), make(chan error, 1)
	signal.Notify(broken, unix.SIGIO) // the kernel asks the holder of a lease to release it
	defer signal.Stop(broken)
	go func(fd uintptr) {
		<-broken
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		released <- err
	}(f.Fd())
	snap, _, err := ClientForm{}.Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"1.json"}, namesOf(snap.Tasks))
	require.NoError(t, <-released)
}
