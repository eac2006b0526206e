package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchangeAt exchanges the names of two files atomically. It returns
// errors.ErrUnsupported if the file system cannot.
func exchangeAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_SWAP) // ENOTSUP is errors.ErrUnsupported
}

// renameNewAt renames relative to the directories of two descriptors. It returns EEXIST if
// the new name exists, and errors.ErrUnsupported if the file system cannot rename without
// replacing.
func renameNewAt(oldfd int, oldname string, newfd int, newname string) error {
	return unix.RenameatxNp(oldfd, oldname, newfd, newname, unix.RENAME_EXCL)
}

// fsync makes a file durable, as os.File.Sync does: fsync(2) of darwin leaves it to the disk when
// to write.
func fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) { // on SMB
		return unix.Fsync(fd)
	}
	return err
}
