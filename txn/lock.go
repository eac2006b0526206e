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

// LockedError reports the process that held the lock of S until the context ended.
// It wraps ErrLocked and the context's cause.
type LockedError struct {
	Path  string    // the lock file
	PID   int       // 0 if unknown
	Since time.Time // zero if unknown
	Cause error     // context.Cause of the context
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

// lockStateDir creates S if it does not exist and locks it. It returns the release,
// and the directories that have to be synced to make S durable. Cleanup tools may
// remove S while its lock is not held, so the file that was locked may have been
// unlinked meanwhile; then it starts again.
func lockStateDir(ctx context.Context, files vfs.FS, s string) (unlock func(), changed []string, err error) {
	for {
		made, err := mkdirAll(files, s, 0o700)
		changed = append(changed, made...)
		if err != nil {
			return nil, nil, err
		}
		if err := checkTrusted(files, s); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		unlock, err := lockFile(ctx, files, filepath.Join(s, lockName), os.O_CREATE|os.O_RDWR)
		if errors.Is(err, errUnlinked) {
			continue
		}
		return unlock, changed, err
	}
}

// errUnlinked is returned by lockFile when there is no lock file, or when the file
// that was locked is not the one at the path any more.
var errUnlinked = errors.New("the lock file was removed")

func lockFile(ctx context.Context, files vfs.FS, path string, flag int) (unlock func(), err error) {
	f := flock.New(path, flock.SetFlag(flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	release := func() { _ = f.Unlock() } // if it fails, the kernel unlocks at exit
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
		return nil, errUnlinked
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

// waitFor retries every 5 ms: short compared to the time for which a lock is held,
// long compared to the cost of an attempt. It tries the lock before it looks at the
// context, so that LockedError is returned only for a lock that was held.
func waitFor(ctx context.Context, f *flock.Flock) error {
	for {
		ok, err := f.TryLock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errUnlinked
		case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.EISDIR):
			return fmt.Errorf("%s: %w", f.Path(), vfs.ErrNotRegular)
		case err != nil:
			return err
		case ok:
			return context.Cause(ctx)
		}
		select {
		case <-ctx.Done():
			return lockedError(f.Path(), context.Cause(ctx))
		case <-time.After(5 * time.Millisecond):
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

// writeHolder writes "<pid> <RFC 3339 time>" into the lock file, for the message of
// those who wait. The text may be stale; only the flock says whether S is locked.
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
