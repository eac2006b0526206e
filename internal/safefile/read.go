package safefile

import (
	"errors"
	"os"
)

var (
	// ErrNotRegular is returned when a path is not a regular file but a directory, a
	// FIFO, a socket, a device or, with NoFollow, a symbolic link.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned when a file is larger than the caller's limit.
	ErrTooLarge = errors.New("file too large")
)

// NoFollow makes Open and ReadFile refuse a symbolic link as the last element of
// the path.
const NoFollow = noFollow

// Open opens a regular file with the flags of os.OpenFile. With O_CREATE a new file has
// mode 0600 less the umask. Open never blocks for longer than a second; for a FIFO or a
// device it returns ErrNotRegular.
func Open(path string, flag int) (*os.File, error) {
	return Unheld.openFile(path, flag)
}

// OpenAny opens for reading what is at the path, also if it is not a regular file. It never blocks
// for longer than a second.
func OpenAny(path string) (*os.File, error) { return Unheld.open(path, os.O_RDONLY, 0) }

// ReadFile returns the content of a regular file of at most max bytes, never nil.
// flag is 0 or NoFollow. It returns ErrNotRegular, ErrTooLarge or the system's
// error.
func ReadFile(path string, max int64, flag int) ([]byte, error) {
	return Unheld.readFile(path, 0, max, flag)
}

// ReadAll is ReadFile for a file that is open.
func ReadAll(f *os.File, max int64) ([]byte, error) {
	data, err := readAll(f, sizeOf(f), max)
	return data, pathError("read", f.Name(), err)
}

// KernelText returns the beginning, at most 1024 bytes, of a file that the kernel makes, such as
// those in /proc. It makes three system calls; its errors are the system's, without a path.
func KernelText(path string) ([]byte, error) {
	fd, err := openAt(atCwd, path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer closeFd(fd)
	text := make([]byte, 1024)
	n, err := readFd(fd, text)
	return text[:max(0, n)], err
}
