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
		unlock, err := lockFile(ctx, vfs.At(files, held), s, true)
		if err == nil {
			return held, unlock, changed, nil
		}
		_ = held.Close()
		if !errors.Is(err, vfs.ErrMoved) {
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
	held := vfs.Holding(files)
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

// lockFile locks the lock file in S. It returns vfs.ErrMoved when the file does not exist, or
// when another one was at its path once it was locked.
func lockFile(ctx context.Context, files vfs.FS, s string, create bool) (unlock func(), err error) {
	path := filepath.Join(s, lockName)
	locked, unlock, err := files.Lock(ctx, path, create)
	if errors.Is(err, vfs.ErrBusy) {
		e := &LockedError{Path: path, Cause: context.Cause(ctx)}
		text, _ := files.ReadFile(path)
		e.PID, e.Since = parseHolder(string(text))
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	err = safefile.Ended(ctx, "opening "+path)
	if err == nil {
		err = checkAtPath(files, path, locked)
	}
	if err != nil {
		unlock()
	}
	return unlock, err
}

// checkAtPath returns vfs.ErrMoved unless the locked file is still the one at its path.
func checkAtPath(files vfs.FS, path string, locked fs.FileInfo) error {
	there, err := files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !vfs.SameFile(locked, there) {
		return vfs.ErrMoved
	}
	return err
}

// writeHolder writes "<pid> <RFC 3339 time>" into the lock file, for the LockedError of
// processes that wait, and for the next holder if this one dies: Close removes the text. Only
// flock decides whether S is locked.
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
