package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/hint"
)

var (
	// ErrNotRegular is returned when a path is not a regular file but a directory, a
	// FIFO, a socket, a device or, with NoFollow, a symbolic link.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is returned when a file is larger than the caller's limit.
	ErrTooLarge = errors.New("file too large")
	// ErrNotOwner is returned when a file belongs to another user.
	ErrNotOwner = hint.New("owned by another user", "remove it, or ask its owner to")
)

// NoFollow makes Open and ReadFile refuse a symbolic link as the last element of
// the path.
const NoFollow = syscall.O_NOFOLLOW

// Open opens a regular file with the flags of os.OpenFile. With O_CREATE a new file has
// mode 0600 less the umask. Open never blocks for longer than a second; for a FIFO or a
// device it returns ErrNotRegular.
func Open(path string, flag int) (*os.File, error) {
	return OpenFileAt(unix.AT_FDCWD, path, path, flag)
}

// regular returns the open file, or closes it and returns ErrNotRegular.
func regular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil {
		err = checkRegular(f.Name(), info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// notRegular translates the kernel's errors for a symbolic link (ELOOP), for a
// directory opened for writing (EISDIR), and for a socket or a FIFO without a
// reader (ENXIO).
func notRegular(path string, err error) error {
	for _, errno := range []syscall.Errno{syscall.ELOOP, syscall.EISDIR, syscall.ENXIO} {
		if errors.Is(err, errno) {
			return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w (%w)", ErrNotRegular, errno)}
		}
	}
	return err
}

// ReadFile returns the content of a regular file of at most max bytes, never nil.
// flag is 0 or NoFollow. It returns ErrNotRegular, ErrTooLarge or the system's
// error.
func ReadFile(path string, max int64, flag int) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY|flag)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, max)
}

// ReadAll is ReadFile for a file that is open.
func ReadAll(f *os.File, max int64) ([]byte, error) { return readAll(f, f.Name(), max) }

// CheckOwner returns ErrNotOwner unless this user owns the file that info describes.
func CheckOwner(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int64(st.Uid) != int64(os.Geteuid()) {
		return &fs.PathError{Op: "open", Path: path, Err: ErrNotOwner}
	}
	return nil
}
