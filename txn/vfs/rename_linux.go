package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNew(oldname, newname string) error {
	err := unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.EINVAL) { // the file system does not know the flag
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
}
