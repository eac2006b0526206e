package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames without replacing. It returns errors.ErrUnsupported if the kernel or the file
// system cannot.
func renameNew(oldfd int, old string, newfd int, new string) error {
	err := unix.Renameat2(oldfd, old, newfd, new, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
		return errors.ErrUnsupported
	}
	return err
}

// fsync makes a file durable.
func fsync(fd int) error { return unix.Fsync(fd) }
