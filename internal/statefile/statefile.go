package statefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxBytes bounds the size of files that are read, so that a file of another user cannot
// exhaust memory.
const maxBytes = 16 << 20

// LockSuffix is appended to a file's name to get the name of its lock file.
const LockSuffix = ".lock"

// Read returns the file's content. It returns safefile.ErrTooLarge for a file of
// more than maxBytes, safefile.ErrNotRegular if the path is not a regular file but, for example,
// a symbolic link, a directory or a FIFO, safefile.ErrNotOwn for a file of another user, or the
// system's error, which is fs.ErrNotExist for a missing file.
func Read(path string) ([]byte, error) {
	f, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safefile.ReadAll(f, maxBytes)
}

// Update replaces the file's content by the result of change. It holds the lock, so no
// other Update runs in between. change gets nil for a missing file. If it returns nil, the
// file is not changed; if it returns an error, Update returns that. safefile.ErrBusy is returned
// when the lock could not be taken within wait.
func Update(path string, wait time.Duration, change func(old []byte) ([]byte, error)) error {
	unlock, err := Hold(path+LockSuffix, wait)
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
	// The new content is synced before the rename, so that a power cut leaves the old content or the
	// new, never an empty file. The directory is not: losing the last change of a counter is
	// acceptable, and saves waiting for the disk.
	return safefile.Replace(path, next, safefile.Exactly(0o600))
}

// Append adds data to the end of the file in one write, so that lines of several
// processes do not mix. A missing file is created.
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

// Remove removes the file under its lock. It does not remove the lock file. A missing
// file is not an error.
func Remove(path string, wait time.Duration) error {
	unlock, err := Hold(path+LockSuffix, wait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// open opens a regular file that this user owns. It refuses everything else, a symbolic
// link as the last element included, and never blocks on a FIFO.
func open(path string, flag int) (*os.File, error) {
	f, err := safefile.Open(path, flag|safefile.NoFollow)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = safefile.CheckOwner(path, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
