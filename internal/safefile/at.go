package safefile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OpenAt opens name relative to the directory of a descriptor, or, with
// unix.AT_FDCWD, as usual. The descriptor that it returns is not inherited, and
// opening never blocks for longer than a second. Its error is the system's, without a
// path.
func OpenAt(dirfd int, name string, flag int, perm fs.FileMode) (fd int, err error) {
	var w leaseWait
	for {
		fd, err = unix.Openat(dirfd, name, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm.Perm()))
		if !errors.Is(err, unix.EINTR) && !w.again(err) {
			return fd, err
		}
	}
}

// leaseWait waits for the end of a lease, of an edit or of a file server. Opening a
// regular file without blocking returns EWOULDBLOCK for nothing else.
type leaseWait struct{ began time.Time }

// again reports whether to open once more, after a pause.
func (w *leaseWait) again(err error) bool {
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return false
	}
	if w.began.IsZero() {
		w.began = time.Now()
	}
	time.Sleep(time.Millisecond)
	return time.Since(w.began) < time.Second
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
