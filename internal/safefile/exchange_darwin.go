package safefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchangeAt exchanges the names of two files atomically. It returns
// errors.ErrUnsupported if the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_SWAP) // ENOTSUP is errors.ErrUnsupported
}

// RenameNewAt renames relative to the directories of two descriptors. It returns EEXIST if
// the new name exists, and errors.ErrUnsupported if the file system cannot rename without
// replacing.
func RenameNewAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_EXCL)
}

// Darwin has no leases.
func lease(int) (held bool, err error) { return false, nil }
func leaseHolds(int) bool              { return true }
func leaseExclusively(int)             {}
func endLease(int)                     {}

// cloneACL is CLONE_ACL of <sys/clonefile.h>.
const cloneACL = 4

// cloneAt creates an empty clone of a file and opens it for writing. Unlike a new file
// the clone has the access control list, which on darwin is not an extended attribute.
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
