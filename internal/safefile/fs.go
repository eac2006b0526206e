package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrDangling is returned by OpenIn and ReadFileIn for a symbolic link whose
// target does not exist. It does not wrap fs.ErrNotExist, because the name exists.
var ErrDangling = errors.New("dangling symbolic link")

// FS is a file system that files are opened in: the operating system's, or one
// in memory or in an archive. Open follows symbolic links and does not block on
// a FIFO. Its errors are those of package os.
type FS interface {
	Open(path string) (fs.File, error)
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
}

// OpenIn opens a regular file of fsys for reading. It returns ErrNotRegular,
// ErrDangling or the file system's error.
//
// The type is checked before opening, because opening a device can have effects,
// and again on what was opened, because the file may have been replaced in between.
func OpenIn(fsys FS, path string) (fs.File, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, dangling(fsys, path, err)
	}
	if err := checkRegular(path, info); err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = checkRegular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// dangling returns ErrDangling if path is a symbolic link without a target, and else err.
func dangling(fsys FS, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := fsys.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &fs.PathError{Op: "open", Path: path, Err: ErrDangling}
	}
	return err
}

// ReadFileIn is ReadFile in fsys. It also returns ErrDangling.
func ReadFileIn(fsys FS, path string, max int64) ([]byte, error) {
	f, err := OpenIn(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, max)
}

// readAll limits what it reads and does not trust the size that the file system reports,
// because the file may be growing: it only makes room for so much at once.
func readAll(f fs.File, path string, max int64) ([]byte, error) {
	var text bytes.Buffer
	if info, err := f.Stat(); err == nil {
		text.Grow(int(min(info.Size(), max)) + bytes.MinRead)
	}
	_, err := text.ReadFrom(io.LimitReader(f, max))
	data := text.Bytes()
	if err == nil && int64(len(data)) == max && more(f) {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

func more(r io.Reader) bool {
	n, _ := io.ReadFull(r, make([]byte, 1))
	return n > 0
}

// checkRegular returns nil for a regular file, and otherwise an ErrNotRegular with the
// type of the file.
func checkRegular(path string, info fs.FileInfo) error {
	mode := info.Mode()
	kind := ""
	switch {
	case info.IsDir():
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
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%w%s", ErrNotRegular, kind)}
}
