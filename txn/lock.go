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
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
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

// lockStateDir creates S if it does not exist, opens it and locks it. It returns S, the
// function that unlocks it, and the directories that must be synced to make S durable.
// Cleanup tools may remove S while no process holds its lock. If the lock file was unlinked
// before it was locked, lockStateDir starts again.
func lockStateDir(ctx context.Context, files vfs.FS, s string) (held *vfs.Held, unlock func(), changed []string, err error) {
	for {
		made, err := mkdirAll(files, s, 0o700)
		changed = append(changed, made...)
		if err != nil {
			return nil, nil, nil, err
		}
		held, err := holdStateDir(files, s)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, nil, err
		}
		unlock, err := lockFile(ctx, files, held, filepath.Join(s, lockName), os.O_CREATE|os.O_RDWR)
		if err == nil {
			return held, unlock, changed, nil
		}
		_ = held.Close()
		if !errors.Is(err, safefile.ErrMoved) {
			return nil, nil, nil, err
		}
	}
}

// holdStateDir opens S and checks the opened directory, because S may be replaced after a
// check of the path. It returns fs.ErrNotExist if S does not exist.
func holdStateDir(files vfs.FS, s string) (*vfs.Held, error) {
	if err := checkTrusted(files, s); err != nil {
		return nil, err
	}
	held := new(vfs.Held)
	err := held.Hold(s)
	if errors.Is(err, vfs.ErrNotDir) {
		err = untrusted(s, replacedNow)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = held.Stat(s)
	}
	if err == nil {
		err = checkTrustedInfo(s, info)
	}
	if err != nil {
		_ = held.Close()
		return nil, err
	}
	return held, nil
}

// lockFile opens the lock file in the held S and locks it. It refuses a file that has a
// second hard link or another owner, because writeHolder will replace the content. It returns
// safefile.ErrMoved when the lock file does not exist, or when another file was at its path
// once it was locked.
func lockFile(ctx context.Context, files vfs.FS, held *vfs.Held, path string, flag int) (unlock func(), err error) {
	f, err := held.Open(path, flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, safefile.ErrMoved
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = safefile.CheckSole(path, info)
	}
	if err != nil {
		return nil, err
	}
	unlock, err = safefile.Lock(ctx, path, info)
	if errors.Is(err, safefile.ErrBusy) {
		return nil, lockedError(f, context.Cause(ctx))
	}
	if err != nil {
		return nil, err
	}
	err = safefile.Ended(ctx, "opening "+path)
	if err == nil {
		err = checkAtPath(files, path, info)
	}
	if err != nil {
		unlock()
	}
	return unlock, err
}

// checkAtPath returns safefile.ErrMoved unless the locked file is still the one at its path.
func checkAtPath(files vfs.FS, path string, locked fs.FileInfo) error {
	there, err := files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(locked, there) {
		return safefile.ErrMoved
	}
	return err
}

func lockedError(f *os.File, cause error) error {
	e := &LockedError{Path: f.Name(), Cause: cause}
	text := make([]byte, 100)
	n, _ := f.ReadAt(text, 0)
	e.PID, e.Since = parseHolder(string(text[:n]))
	return e
}

// writeHolder writes "<pid> <RFC 3339 time>" into the lock file, for the LockedError of
// processes that wait. The text may be stale; only flock decides whether S is locked.
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
