package vfs

import (
	"errors"

	"golang.org/x/sys/unix"
)

func renameNew(oldfd int, oldname string, newfd int, newname string) error {
	err := unix.Renameat2(oldfd, oldname, newfd, newname, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
		return errors.ErrUnsupported
	}
	return err
}
