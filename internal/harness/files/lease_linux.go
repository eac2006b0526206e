package files

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Lease takes an exclusive lease on a file and gives it up when the kernel tells that somebody
// opens the file. It skips the test where there are no leases. The function that it returns
// waits until the lease is given up.
func Lease(t *testing.T, path string) (released func()) {
	t.Helper()
	holder, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = holder.Close() })
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGIO)
	t.Cleanup(func() { signal.Stop(told) })
	if _, err := unix.FcntlInt(holder.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("skipped: this file system has no leases: %v", err)
	}
	done := make(chan error)
	go func() {
		<-told
		_, err := unix.FcntlInt(holder.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
		done <- err
	}()
	return func() { require.NoError(t, <-done) }
}
