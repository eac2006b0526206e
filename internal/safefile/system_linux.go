package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

const (
	exchange  = unix.RENAME_EXCHANGE
	noReplace = unix.RENAME_NOREPLACE
)

// renameWith renames with a flag. The call returns errors.ErrUnsupported if the kernel or the file
// system cannot.
func renameWith(flag uint) onNames {
	return func(oldfd int, old string, newfd int, new string) error {
		err := unix.Renameat2(oldfd, old, newfd, new, flag)
		if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
			return errors.ErrUnsupported
		}
		return err
	}
}

// fsync makes a file durable.
func fsync(fd int) error { return unix.Fsync(fd) }
