package locator

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ReadSpec returns the content of the regular file at path, at most max bytes. It
// follows symbolic links and never blocks. The text of an error begins with the
// path; the error wraps ErrNotRegular, ErrDangling, ErrTooLarge, fs.ErrNotExist,
// fs.ErrPermission or another error of the file system.
func ReadSpec(fsys FS, path string, max int64) ([]byte, error) {
	data, err := safefile.ReadFileIn(fsys, path, max)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	return data, nil
}

// cause drops the operation and the path from an error of the file system.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// exists reports whether there is something at path, usable or not. If that cannot be
// determined, it returns true and the error: reading the path will fail with a message,
// whereas false would silently ignore a workflow.
func exists(fsys FS, path string) (bool, error) {
	_, err := fsys.Lstat(path)
	if cannotExist(err) {
		return false, nil
	}
	return true, err
}

// isFile reports whether path is a regular file. If that cannot be determined, it returns
// false.
func isFile(fsys FS, path string) bool {
	info, err := fsys.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// cannotExist reports whether err means that the file does not exist, or cannot exist
// because its name is too long or otherwise invalid.
func cannotExist(err error) bool {
	return slices.ContainsFunc(missing, func(e error) bool { return errors.Is(err, e) })
}

var missing = []error{fs.ErrNotExist, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL}
