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

// startWriteback tells the kernel to write the bytes of a file to the disk, and does not wait for it. Where that is
// not known or not allowed, fsync does all of it.
func startWriteback(fd int) error { return syncRange(fd, unix.SYNC_FILE_RANGE_WRITE) }

// awaitWriteback waits until what startWriteback has started is over. Only then does the inode have its last change for the
// journal of the file system: ext4 notes at the end that the new blocks are written.
func awaitWriteback(fd int) error { return syncRange(fd, unix.SYNC_FILE_RANGE_WAIT_BEFORE) }

func syncRange(fd, flags int) error {
	_, err := retry(func() (int, error) { return 0, unix.SyncFileRange(fd, 0, 0, flags) })
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}
