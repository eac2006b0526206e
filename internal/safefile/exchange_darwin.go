package safefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchangeAt gives each of two files the other's name, in one step. It returns
// errors.ErrUnsupported if the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_SWAP) // ENOTSUP is errors.ErrUnsupported
}

// RenameNewAt renames relative to the directories of two descriptors, and returns EEXIST if
// the new name is taken, or errors.ErrUnsupported if the file system cannot.
func RenameNewAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_EXCL)
}

// There are no leases.
func lease(int) (held bool, err error) { return false, nil }
func leaseHolds(int) bool              { return true }
func leaseAlone(int)                   {}
func endLease(int)                     {}

// cloneACL is CLONE_ACL of <sys/clonefile.h>.
const cloneACL = 4

// cloneAt creates a copy of a file, empty and open for writing. Unlike a new file it has
// the access control list, which is not an extended attribute here.
func cloneAt(like *os.File, dirfd int, name string) (fd int, err error) {
	if err := unix.Fclonefileat(int(like.Fd()), dirfd, name, unix.CLONE_NOFOLLOW|cloneACL); err != nil {
		return -1, err
	}
	fd, err = OpenAt(dirfd, name, os.O_RDWR|os.O_TRUNC|NoFollow, 0)
	if err != nil {
		_ = unix.Fchmodat(dirfd, name, 0o600, 0) // the file may not be writable
		fd, err = OpenAt(dirfd, name, os.O_RDWR|os.O_TRUNC|NoFollow, 0)
	}
	if err != nil {
		_ = unix.Unlinkat(dirfd, name, 0)
	}
	return fd, err
}
