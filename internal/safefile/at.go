package safefile

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OpenAt opens name relative to the directory of the descriptor dirfd, or relative to the
// working directory if dirfd is unix.AT_FDCWD. Child processes do not inherit the new
// descriptor. OpenAt never blocks for longer than a second. Its error is the system's,
// without a path.
//
// The descriptor of anything else than a directory is non-blocking; FileOf changes that.
func OpenAt(dirfd int, name string, flag int, perm fs.FileMode) (fd int, err error) {
	var w leaseWait
	if flag&unix.O_DIRECTORY == 0 {
		flag |= unix.O_NONBLOCK
	}
	for {
		fd, err = unix.Openat(dirfd, name, flag|unix.O_CLOEXEC, uint32(perm.Perm()))
		if !errors.Is(err, unix.EINTR) && !w.again(err) {
			return fd, err
		}
	}
}

// leaseWait waits until a lease ends, which an edit or a file server may hold. A lease is
// the only reason for which a non-blocking open of a regular file returns EWOULDBLOCK.
type leaseWait struct{ began time.Time }

// again pauses and reports whether to retry the open that returned err.
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
	return regular(FileOf(fd, path, flag))
}

// FileOf returns the file of a descriptor that OpenAt has opened with these flags. It makes
// the descriptor blocking: else package os would ask the kernel to poll it, which regular
// files and directories refuse, and each call of Fd would make it blocking again.
func FileOf(fd int, path string, flag int) *os.File {
	if flag&unix.O_DIRECTORY == 0 {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flag&unix.O_APPEND) // if it fails, the file is only slower
	}
	return os.NewFile(uintptr(fd), path)
}
