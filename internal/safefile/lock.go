package safefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
)

// Errors of Lock.
var (
	// ErrBusy is returned when another process held the lock until the context ended.
	ErrBusy = message.NewError("locked by another process", "run the command again when that program has ended")
	// ErrMoved is returned when the path leads to another file than the one that was opened, or
	// to none: another program has removed or replaced it. The caller opens it again.
	ErrMoved = errors.New("removed or replaced by another program")
)

// A lock is held for milliseconds. Waiting for one of many processes, each of which takes it
// in turn, must not cost the processor that these need.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 40 * time.Millisecond
)

// Lock takes an exclusive lock on the file or directory at path, and waits for it until ctx is
// done. It tries the lock before it looks at ctx, see NoWait. opened describes what the caller
// has opened there, for flock takes a path: the locked file must be that one. If other programs
// may remove it, the caller checks afterwards that it is still at its path. The lock ends with
// the process, or with a call of unlock.
//
// Errors: ErrBusy, ErrMoved, or the system's, for example if the file system has no locks.
func Lock(ctx context.Context, path string, opened fs.FileInfo) (unlock func(), err error) {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		unlock, err := tryLock(path, opened)
		if !errors.Is(err, ErrBusy) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait/2 + rand.N(wait)): // processes that began together do not stay together
		}
	}
}

// Ended returns why ctx has ended, nil if it has not, for work that waits for no lock. If a time limit has ended it, the
// error says what took the time: else it would read as if another program held a lock.
func Ended(ctx context.Context, work string) error {
	cause := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s took too long, although no lock was in the way; the disk may be slow: %w", work, cause)
	}
	return cause
}

// NoWait returns a context for a Lock that does not wait.
func NoWait() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Lock is the function Lock for the directory itself.
func (d *Dir) Lock(ctx context.Context) (unlock func(), err error) {
	return Lock(ctx, d.path, d.opened)
}
