// Package durable changes single files so that a crash leaves the old or the new
// one, whole, and a power cut after the return leaves the new one.
//
// It is not for several files that belong together (that is a transaction), and
// it takes no lock: of two writers the later wins.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write replaces or creates the file by what content writes. The temporary file
// is made in the same directory, for only there a rename is sure to be atomic.
// A symbolic link at path is replaced, not followed. Without options the file's
// mode is 0600 less the umask.
func Write(path string, content func(io.Writer) error, opts ...renameio.Option) error {
	dir := filepath.Dir(path)
	pending, err := renameio.NewPendingFile(path, append(slices.Clip(opts), renameio.WithTempDir(dir))...)
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if err := content(pending); err != nil {
		return err
	}
	if err := pending.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return SyncDir(dir)
}

// Remove removes the file.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Mkdir makes the directory and its missing parents, mode 0777 less the umask,
// and returns those it made, innermost first, even if it fails on the way.
func Mkdir(dir string) (made []string, err error) {
	switch err := os.Mkdir(dir, 0o777); {
	case err == nil:
		return []string{dir}, SyncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil, requireDir(dir)
	case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
		return nil, err
	}
	made, err = Mkdir(filepath.Dir(dir))
	if err != nil {
		return made, err
	}
	inner, err := Mkdir(dir)
	return append(inner, made...), err
}

func requireDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	}
	return err
}

// Rmdir removes an empty directory, and nothing that is not one.
func Rmdir(dir string) error {
	// Not os.Remove, which would unlink a file or a link of that name.
	if err := syscall.Rmdir(dir); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return SyncDir(filepath.Dir(dir))
}

// SyncDir makes the names in a directory durable. A filesystem that cannot sync a
// directory does not count as failing.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
