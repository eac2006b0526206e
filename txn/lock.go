package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// retryDelay is how often a lock that is held is tried again: short against
// the milliseconds it is held for, long against the cost of a try.
const retryDelay = 5 * time.Millisecond

// LockedError says who held the lock of S until the context ended. It is
// ErrLocked and the context's error.
type LockedError struct {
	Path  string
	PID   int       // 0 if not known
	Since time.Time // zero if not known
	Cause error     // the context's
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if !e.Since.IsZero() {
		who += " since " + e.Since.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s is locked by %s: %v", e.Path, who, e.Cause)
}

func (e *LockedError) Unwrap() []error { return []error{ErrLocked, e.Cause} }

// lockSibling makes S if need be, locks it and returns the release, and the
// directories to be synced for S to last. The client may remove S at any time
// while nobody holds its lock, so that the file that got locked may be one that
// no longer has a name: then it is tried again.
func lockSibling(ctx context.Context, files vfs.FS, s string) (unlock func(), changed []string, err error) {
	for {
		made, err := mkdirAll(files, s, 0o700)
		changed = append(changed, made...)
		if err != nil {
			return nil, nil, err
		}
		if err := checkOwn(files, s); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		unlock, err := lockFile(ctx, files, filepath.Join(s, lockName), os.O_CREATE|os.O_RDWR)
		if errors.Is(err, errGone) {
			continue
		}
		return unlock, changed, err
	}
}

// errGone means that the locked file is no longer the one at its path.
var errGone = errors.New("the lock file was removed")

func lockFile(ctx context.Context, files vfs.FS, path string, flag int) (unlock func(), err error) {
	f := flock.New(path, flock.SetFlag(flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	release := func() { _ = f.Unlock() } // closing the handle at exit does the same
	if err := waitFor(ctx, f); err != nil {
		release()
		return nil, err
	}
	locked, err := f.Stat()
	if err != nil {
		release()
		return nil, err
	}
	there, err := files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(locked, there) {
		release()
		return nil, errGone
	}
	if err == nil && !locked.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, vfs.ErrNotRegular)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// waitFor tries the lock before it looks at the context, so that only a lock
// that is held is reported as held.
func waitFor(ctx context.Context, f *flock.Flock) error {
	for {
		ok, err := f.TryLock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errGone
		case errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO):
			return fmt.Errorf("%s: %w", f.Path(), vfs.ErrNotRegular)
		case err != nil:
			return err
		case ok:
			return context.Cause(ctx)
		}
		select {
		case <-ctx.Done():
			return lockedError(f.Path(), context.Cause(ctx))
		case <-time.After(retryDelay):
		}
	}
}

func lockedError(path string, cause error) error {
	e := &LockedError{Path: path, Cause: cause}
	if data, err := (vfs.OS{}).ReadFile(path); err == nil {
		e.PID, e.Since = parseHolder(string(data))
	}
	return e
}

// The lock file says who holds it, "<pid> <RFC 3339 time>", for those who wait.
// It may be out of date: the flock counts, not the text.
func writeHolder(files vfs.FS, s string) error {
	text := strconv.Itoa(os.Getpid()) + " " + time.Now().UTC().Format(time.RFC3339) + "\n"
	return files.Overwrite(filepath.Join(s, lockName), []byte(text))
}

func parseHolder(text string) (pid int, since time.Time) {
	first, second, _ := strings.Cut(strings.TrimSpace(text), " ")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 0 {
		return 0, time.Time{}
	}
	since, _ = time.Parse(time.RFC3339, second)
	return pid, since
}
