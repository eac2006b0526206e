package safefile

import (
	"errors"
	"io/fs"
)

// ErrDangling is returned by OpenIn and ReadFileIn for a symbolic link whose
// target does not exist. It does not wrap fs.ErrNotExist, because the name exists.
var ErrDangling = errors.New("dangling symbolic link")

// FS is a file system that files are read from, with absolute paths: the operating
// system's, or one in memory or in an archive. Open follows symbolic links and does not
// block on a FIFO. Its errors are those of package os. Every locator.FS implements it, which
// is the same for other programs and says more.
type FS interface {
	Open(path string) (fs.File, error)
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	Readlink(path string) (string, error)
	ReadDir(path string) ([]fs.DirEntry, error)
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
	if err := checkRegular(info.Mode()); err != nil {
		return nil, pathError("open", path, err)
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	if err := pathError("open", path, regular(f)); err != nil {
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
	data, err := readAll(f, sizeOf(f), max)
	return data, pathError("read", path, err)
}

// sizeOf returns the size of an open file, 0 if it is not known.
func sizeOf(f fs.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
