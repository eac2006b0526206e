package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameNew(oldname, newname string) error {
	err := unix.RenameatxNp(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_EXCL)
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ENOTSUP) {
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
}
