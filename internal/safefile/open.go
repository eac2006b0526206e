package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openAt opens name relative to the directory of the descriptor dirfd. Child processes do not
// inherit the new descriptor. openAt never blocks for longer than a second. Its error is the
// system's, without a path.
//
// The descriptor of anything else than a directory is non-blocking; fileOf changes that.
func openAt(dirfd int, name string, flag int, perm fs.FileMode) (fd int, err error) {
	if flag&oDirectory == 0 {
		flag |= syscall.O_NONBLOCK
	}
	// A lease, which a file server may hold, is the only reason for which a non-blocking
	// open of a regular file returns EWOULDBLOCK.
	for end := time.Now().Add(leaseWait); ; time.Sleep(time.Millisecond) {
		fd, err = retry(func() (int, error) {
			return openOnce(dirfd, name, flag, uint32(perm.Perm()))
		})
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return fd, err
		}
	}
}

// leaseWait is how long an open waits until a lease ends. Tests shorten it.
var leaseWait = time.Second

// openRegular opens a regular file and describes it. A new one has mode 0600 less the umask. Its
// errors are the system's, without a path, and ErrNotRegular.
func openRegular(dirfd int, name string, flag int) (fd int, st stat, err error) {
	fd, err = openAt(dirfd, name, flag, 0o600)
	if err != nil {
		return -1, st, notRegular(err)
	}
	if err = fstat(fd, &st); err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFREG {
		return fd, st, nil
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if err == nil {
		err = regular(f)
	}
	return -1, st, err
}

// regular returns ErrNotRegular unless an open file is regular.
func regular(f fs.File) error {
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(info.Mode())
	}
	return err
}

// checkRegular returns nil for a regular file, and otherwise an ErrNotRegular with the
// type of the file.
func checkRegular(mode fs.FileMode) error {
	kind := ""
	switch {
	case mode.IsDir():
		kind = " but a directory"
	case mode.IsRegular():
		return nil
	case mode&fs.ModeNamedPipe != 0:
		kind = " but a FIFO"
	case mode&fs.ModeSocket != 0:
		kind = " but a socket"
	case mode&fs.ModeDevice != 0:
		kind = " but a device"
	}
	return fmt.Errorf("%w%s", ErrNotRegular, kind)
}

// notRegular translates the kernel's errors for a symbolic link (ELOOP), for a
// directory opened for writing (EISDIR), and for a socket or a FIFO without a
// reader (ENXIO).
func notRegular(err error) error {
	for _, errno := range []syscall.Errno{syscall.ELOOP, syscall.EISDIR, syscall.ENXIO} {
		if errors.Is(err, errno) {
			return fmt.Errorf("%w (%w)", ErrNotRegular, errno)
		}
	}
	return err
}

// raw is a regular file that is open for reading. Opened, read and closed it costs four system
// calls, where an os.File costs seven.
type raw struct {
	fd   int
	size int64 // 0 if it is not known
	at   int64
}

// Read returns io.EOF with the last bytes, because a short read up to the size of the file is
// at its end. The size of a file of the kernel's, which is 0, does not count.
func (r *raw) Read(p []byte) (int, error) {
	n, err := retry(func() (int, error) { return readFd(r.fd, p) })
	if err != nil {
		return 0, err
	}
	r.at += int64(n)
	if n == 0 || n < len(p) && r.size > 0 && r.at >= r.size {
		return n, io.EOF
	}
	return n, nil
}

// retry repeats a system call that a signal interrupts.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}

// readAll reads nothing of a file whose size is over the limit. It does not trust a smaller size that
// the file system reports, because the file may be growing.
func readAll(f io.Reader, size, limit int64) ([]byte, error) {
	if size > limit {
		return nil, tooLarge(limit)
	}
	buf := bytes.NewBuffer(make([]byte, 0, max(size, 0)+bytes.MinRead))
	if err := readInto(buf, f, limit); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func readInto(buf *bytes.Buffer, f io.Reader, limit int64) error {
	_, err := buf.ReadFrom(io.LimitReader(f, max(limit, limit+1))) // limit may be the largest number
	if err == nil && int64(buf.Len()) > limit {
		err = tooLarge(limit)
	}
	return err
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }

// ReadInto returns the content of a regular file in the open directory dir, valid until buf is
// used again, and follows no link. Its errors are the system's without a path, ErrNotRegular,
// and ErrTooLarge for a file of more than max bytes.
func ReadInto(buf *bytes.Buffer, dir *os.File, name string, max int64) ([]byte, error) {
	fd, st, err := openRegular(int(dir.Fd()), name, os.O_RDONLY|NoFollow)
	if err != nil {
		return nil, err
	}
	defer closeFd(fd)
	if st.Size > max {
		return nil, tooLarge(max)
	}
	buf.Reset()
	buf.Grow(readAhead)
	err = readInto(buf, &raw{fd: fd, size: st.Size}, max)
	return buf.Bytes(), err
}

// readAhead is the initial size of the buffer, in bytes. Most files that are read into a buffer
// are smaller, so one read is enough.
const readAhead = 4096
