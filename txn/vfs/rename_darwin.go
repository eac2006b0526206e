package vfs

import (
	"os"

	"golang.org/x/sys/unix"
)

func renameNew(oldname, newname string) error {
	err := unix.RenameatxNp(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_EXCL)
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err} // ENOTSUP is errors.ErrUnsupported
}
