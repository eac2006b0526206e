package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeAt gives each of two files the other's name, in one step. It returns
// errors.ErrUnsupported if the kernel or the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return renameAt(oldfd, oldname, newfd, newname, unix.RENAME_EXCHANGE)
}

// RenameNewAt renames relative to the directories of two descriptors, and returns EEXIST if
// the new name is taken, or errors.ErrUnsupported if the file system cannot.
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

// lease keeps other processes from opening the file of a descriptor for writing; they
// wait until it is closed, at most 45 s. It returns EAGAIN if one has it open for
// writing already. held is false where there are no leases.
func lease(fd int) (held bool, err error) {
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		return false, nil
	}
	return err == nil, err
}

// leaseHolds reports whether nobody waits for the end of the lease.
func leaseHolds(fd int) bool {
	kind, err := unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

// leaseAlone keeps other processes from opening, for reading too, a file that nobody else
// has open; they wait until endLease.
func leaseAlone(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK) }

func endLease(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK) }

func cloneAt(*os.File, int, string) (int, error) { return -1, errors.ErrUnsupported }
