package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchangeAt exchanges the names of two files atomically. It returns
// errors.ErrUnsupported if the kernel or the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return renameAt(oldfd, oldname, newfd, newname, unix.RENAME_EXCHANGE)
}

// renameNewAt renames relative to the directories of two descriptors. It returns EEXIST if
// the new name exists, and errors.ErrUnsupported if the kernel or the file system cannot
// rename without replacing.
func renameNewAt(oldfd int, oldname string, newfd int, newname string) error {
	return renameAt(oldfd, oldname, newfd, newname, unix.RENAME_NOREPLACE)
}

func renameAt(oldfd int, oldname string, newfd int, newname string, flag uint) error {
	err := unix.Renameat2(oldfd, oldname, newfd, newname, flag)
	if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
		return errors.ErrUnsupported
	}
	return err
}

// fsync makes a file durable.
func fsync(fd int) error { return unix.Fsync(fd) }
