package safefile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OpenAt opens name relative to the directory of a descriptor, or, with
// unix.AT_FDCWD, as usual. The descriptor that it returns is not inherited, and
// opening never blocks. Its error is the system's, without a path.
func OpenAt(dirfd int, name string, flag int, perm fs.FileMode) (fd int, err error) {
	for {
		fd, err = unix.Openat(dirfd, name, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm.Perm()))
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// OpenFileAt is Open relative to the directory of a descriptor. path is the file's
// path, for errors.
func OpenFileAt(dirfd int, name, path string, flag int) (*os.File, error) {
	fd, err := OpenAt(dirfd, name, flag, 0o600)
	if err != nil {
		return nil, notRegular(path, &fs.PathError{Op: "open", Path: path, Err: err})
	}
	return regular(os.NewFile(uintptr(fd), path))
}
