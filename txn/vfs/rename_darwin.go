package vfs

import "golang.org/x/sys/unix"

func renameNew(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_EXCL) // ENOTSUP is errors.ErrUnsupported
}
