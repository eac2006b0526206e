package edit

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// lease takes a read lease: other processes that open the file for writing wait until the
// descriptor is closed, at most 45 s (/proc/sys/fs/lease-break-time). It returns EAGAIN
// if a process already has the file open for writing. held is false if the file system
// has no leases.
func lease(fd int) (held bool, err error) {
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		return false, nil
	}
	return err == nil, err
}

// leaseHolds reports whether the lease is intact: no process waits for its end.
func leaseHolds(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

// leaseExclusively takes a write lease: other processes that open the file, also for
// reading, wait until endLease. It has no effect if another process has the file open.
func leaseExclusively(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK) }

func endLease(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK) }

func clone(*os.File, *safefile.Dir, string) (*os.File, error) { return nil, errors.ErrUnsupported }
