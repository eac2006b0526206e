package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Mode is the mode of a file that Write or Replace creates.
type Mode renameio.Option

// Exactly is a mode to which the umask does not apply.
func Exactly(perm fs.FileMode) Mode { return renameio.WithStaticPermissions(perm) }

// LessUmask is a mode from which the umask is taken.
func LessUmask(perm fs.FileMode) Mode { return renameio.WithPermissions(perm) }

// Write is Replace followed by a sync of the directory: when it has returned nil, a power
// cut leaves the new content.
func Write(path string, data []byte, mode Mode) error {
	if err := Replace(path, data, mode); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Replace creates or replaces the file atomically: a crash or a power cut leaves either
// the old content or the new content. A symbolic link at path is replaced, not followed. What
// a killed Replace of the file left is removed first. The file's name may have 235 bytes.
func Replace(path string, data []byte, mode Mode) error {
	sweepTemps(path)
	dir, err := createTempDir(path)
	if err != nil {
		return err
	}
	defer discardTempDir(dir)
	pending, err := renameio.NewPendingFile(path, mode, renameio.WithTempDir(dir.Name()))
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if _, err := pending.Write(data); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// discardTempDir removes the directory, also what renameio leaves in it if it cannot set the
// mode, and then ends the lock.
func discardTempDir(dir *os.File) {
	temps, _ := tempsIn(dir)
	_ = removeTempDir(dir, temps)
	dir.Close()
}

// Remove removes the file durably.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Mkdir creates the directory and its missing parents durably, with mode 0777 less
// the umask. It returns the directories that it created, innermost first, also if it
// returns an error. If the directory exists already, that is not an error.
func Mkdir(dir string) (created []string, err error) {
	switch err := os.Mkdir(dir, 0o777); {
	case err == nil:
		return []string{dir}, syncDir(filepath.Dir(dir))
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
	return syncDir(filepath.Dir(dir))
}

// syncDir makes the names in a directory durable. It returns nil on a file system
// that cannot sync directories.
func syncDir(dir string) error {
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
