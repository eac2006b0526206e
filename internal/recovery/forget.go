package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/claude/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

// ErrInUse is returned by Forget when something in the state directory may still be
// wanted.
var ErrInUse = errors.New("not removed")

// Forget removes the state directory of a list: what was deleted from it cannot be
// brought back any more. An interrupted hydration is finished first. wait limits the wait
// for the locks. What was moved aside belongs to other programs and is not removed.
//
// Errors: ErrInUse, those of tasks.List.Open, or the file system's.
func Forget(ctx context.Context, dir string, wait time.Duration) (err error) {
	list := tasks.List{Dir: dir, Wait: wait}
	ctx, cancel := list.Waiting(ctx)
	defer cancel()
	s, err := txn.StateDir(dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(s); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	open, err := list.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if unreleased := open.Close(); unreleased != nil {
			err = errors.Join(err, fmt.Errorf("a lock could not be released: %w", unreleased))
		}
	}()
	if aside, err := os.ReadDir(s + "/conflicts"); err == nil && len(aside) > 0 {
		return fmt.Errorf("%s: %w: it holds what was moved aside; look at it and remove it first", s+"/conflicts", ErrInUse)
	}
	// The lock is held until the directory is gone; who waits for it looks again.
	return os.RemoveAll(s)
}
