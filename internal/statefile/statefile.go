package statefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// MaxBytes bounds what is read: a planted giant must not exhaust memory.
const MaxBytes = 16 << 20

// LockSuffix is appended to a file's name for the lock beside it.
const LockSuffix = ".lock"

var (
	// ErrForeign means that the path holds something other than a regular file
	// of this user: a symlink, a directory, a pipe, somebody else's file.
	ErrForeign = errors.New("not a regular file of this user")
	// ErrBusy means that another process held the lock for the whole wait.
	ErrBusy = errors.New("locked by another process")
	// ErrTooLarge means that the file is larger than MaxBytes.
	ErrTooLarge = fmt.Errorf("larger than %d MiB", MaxBytes>>20)
)

// Read returns the file's content. It returns ErrForeign, ErrTooLarge or what
// opening returned; a missing file is fs.ErrNotExist.
func Read(path string) ([]byte, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: %w", path, ErrTooLarge)
	}
	return data, nil
}

// Open opens the file for reading. It returns ErrForeign or what opening
// returned.
func Open(path string) (*os.File, error) { return open(path, os.O_RDONLY) }

// Update replaces the file's content by what change makes of it, with nobody
// else between reading and replacing. change gets nil for a missing file and
// returns nil to leave the file as it is; its error is returned as it is. wait
// bounds the time spent on getting the lock; then the error is ErrBusy.
func Update(path string, wait time.Duration, change func(old []byte) ([]byte, error)) error {
	unlock, err := lock(path+LockSuffix, wait)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := change(old)
	if err != nil || next == nil {
		return err
	}
	return replace(path, next)
}

// Append adds data to the end of the file in one write, so that a line is
// whole or absent whatever else appends. The file is made if it is missing.
func Append(path string, data []byte) error {
	f, err := open(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Tail returns the last max bytes of the file, or all of it.
func Tail(path string, max int64) ([]byte, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, info.Size()-min(max, info.Size()), max))
}

// Hold keeps others who Hold the same append-only file from it until release
// is called. The lock is on the file itself, which is made if it is missing:
// such a file is never replaced, so it needs no other file beside it.
func Hold(path string, wait time.Duration) (release func(), err error) {
	return lock(path, wait)
}

// Remove removes the file under its lock; the lock's file stays. A missing
// file is no error.
func Remove(path string, wait time.Duration) error {
	unlock, err := lock(path+LockSuffix, wait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replace syncs the new content before the rename: after a power cut the name
// holds the old content or the new one, never an empty file.
func replace(path string, data []byte) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// open never waits (a pipe planted in the file's place would hang the caller)
// and never follows a symlink in the last component.
func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, refusal(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = own(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// refusal names what the kernel says about a symlink (ELOOP), a directory
// opened for writing (EISDIR), a pipe without a reader or a socket (ENXIO).
func refusal(path string, err error) error {
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return err
}

func own(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || !ok || int64(stat.Uid) != int64(os.Geteuid()) {
		return fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return nil
}
