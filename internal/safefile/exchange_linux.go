package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeAt exchanges the names of two files atomically. It returns
// errors.ErrUnsupported if the kernel or the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return renameAt(oldfd, oldname, newfd, newname, unix.RENAME_EXCHANGE)
}

// RenameNewAt renames relative to the directories of two descriptors. It returns EEXIST if
// the new name exists, and errors.ErrUnsupported if the kernel or the file system cannot
// rename without replacing.
func RenameNewAt(oldfd int, oldname string, newfd int, newname string) error {
	return renameAt(oldfd, oldname, newfd, newname, unix.RENAME_NOREPLACE)
}

func renameAt(oldfd int, oldname string, newfd int, newname string, flag uint) error {
	err := unix.Renameat2(oldfd, oldname, newfd, newname, flag)
	if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
		return errors.ErrUnsupported
	}
	return err
}

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

func cloneAt(*os.File, int, string) (int, error) { return -1, errors.ErrUnsupported }
