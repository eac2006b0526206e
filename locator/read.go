package locator

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// maxConfig bounds a file of the client in bytes. The largest seen, a
// marketplace of hundreds of plugins, is under one MiB.
const maxConfig = 16 << 20

// ReadSpec reads the one file at path, of max bytes at most. Its errors are of
// type [*FileError]. It follows symbolic links and never blocks: what is no
// regular file is refused before it is opened.
func ReadSpec(fsys FS, path string, max int64) ([]byte, error) {
	data, err := readWhole(fsys, path, max)
	if err != nil {
		return nil, fileError(path, err)
	}
	return data, nil
}

// readWhole counts what it reads and asks for no size: the file may be growing.
func readWhole(fsys FS, path string, max int64) ([]byte, error) {
	f, err := openRegular(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max))
	if err == nil && int64(len(data)) == max && more(f) {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, max)
	}
	return data, err
}

func more(r io.Reader) bool {
	n, _ := io.ReadFull(r, make([]byte, 1))
	return n > 0
}

// firstRead is enough for most frontmatters, in bytes.
const firstRead = 4 << 10

// readHead reads the beginning of a regular file: until enough says so of what
// was read, the limit in bytes, or the end. It reads ever more at a time.
func readHead(fsys FS, path string, limit int, enough func([]byte) bool) ([]byte, error) {
	f, err := openRegular(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 0, min(firstRead, limit))
	for {
		n, err := io.ReadFull(f, head[len(head):cap(head)])
		head = head[:len(head)+n]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return head, nil
		case err != nil, len(head) == limit, enough(head):
			return head, err
		}
		head = slices.Grow(head, min(len(head), limit-len(head)))
		head = head[:len(head):min(cap(head), limit)]
	}
}

// openRegular looks at the type before opening, because opening a device can
// have effects, and again at what was opened, because it may have been
// replaced in between.
func openRegular(fsys FS, path string) (fs.File, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, dangling(fsys, path, err)
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func regular(info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case mode.IsRegular() && !info.IsDir():
		return nil
	case info.IsDir():
		return ErrDirectory
	case mode&fs.ModeNamedPipe != 0:
		return fmt.Errorf("%w but a FIFO", ErrNotRegular)
	case mode&fs.ModeSocket != 0:
		return fmt.Errorf("%w but a socket", ErrNotRegular)
	case mode&fs.ModeDevice != 0:
		return fmt.Errorf("%w but a device", ErrNotRegular)
	}
	return ErrNotRegular
}

// dangling tells a link to nothing from nothing.
func dangling(fsys FS, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, err := fsys.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return ErrDangling
	}
	return err
}

// present reports whether something has the name path, be it usable or not.
// If that cannot be told, the answer is yes and the error says why: reading it
// will fail aloud, where "no" would drop a workflow in silence.
func present(fsys FS, path string) (bool, error) {
	_, err := fsys.Lstat(path)
	if absent(err) {
		return false, nil
	}
	return true, err
}

// absent reports whether the error says that nothing has the name, or that
// nothing can have it.
func absent(err error) bool {
	return slices.ContainsFunc(nothing[:], func(e error) bool { return errors.Is(err, e) })
}

var nothing = [...]error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL}

func isDir(fsys FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.IsDir()
}

func fileError(path string, err error) *FileError {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &FileError{path, err}
}
