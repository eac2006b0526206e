package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write is Replace followed by a sync of the directory: when it has returned nil, a power
// cut leaves the new content.
func Write(path string, data []byte, opts ...renameio.Option) error {
	if err := Replace(path, data, opts...); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Replace creates or replaces the file atomically: a crash or a power cut leaves either
// the old content or the new content. Without options the file's mode is 0600 less the
// umask. A symbolic link at path is replaced, not followed.
func Replace(path string, data []byte, opts ...renameio.Option) error {
	// A rename is atomic only within one file system, so the temporary file is in
	// the same directory.
	pending, err := renameio.NewPendingFile(path, append(slices.Clip(opts), renameio.WithTempDir(filepath.Dir(path)))...)
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// Remove removes the file durably.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Mkdir creates the directory and its missing parents durably, with mode 0777 less
// the umask. It returns the directories that it created, innermost first, also if it
// returns an error. If the directory exists already, that is not an error.
func Mkdir(dir string) (created []string, err error) {
	switch err := os.Mkdir(dir, 0o777); {
	case err == nil:
		return []string{dir}, SyncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil, requireDir(dir)
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
		return nil, err
	}
	created, err = Mkdir(filepath.Dir(dir))
	if err != nil {
		return created, err
	}
	inner, err := Mkdir(dir)
	return append(inner, created...), err
}

func requireDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	}
	return err
}

// Rmdir removes an empty directory durably. Unlike os.Remove it does not remove a
// file or a symbolic link of that name.
func Rmdir(dir string) error {
	if err := syscall.Rmdir(dir); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return SyncDir(filepath.Dir(dir))
}

// SyncDir makes the names in a directory durable. It returns nil on a file system
// that cannot sync directories.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncError(f.Sync())
}

// syncError returns the error of syncing a directory, nil if it says that the file system
// cannot sync directories.
func syncError(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
