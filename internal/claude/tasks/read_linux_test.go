package tasks

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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
	time.AfterFunc(20*time.Millisecond, func() { _, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) })
	snap, _, err := Read(t.Context(), vfs.OS{}, dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"1.json"}, namesOf(snap.Tasks))
}
