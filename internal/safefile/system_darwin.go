package safefile

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames without replacing. It returns errors.ErrUnsupported, which ENOTSUP is, if the
// file system cannot.
func renameNew(oldfd int, old string, newfd int, new string) error {
	return unix.RenameatxNp(oldfd, old, newfd, new, unix.RENAME_EXCL)
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

// startWriteback does nothing: darwin has no call for it.
func startWriteback(int) error { return nil }

func awaitWriteback(int) error { return nil }
