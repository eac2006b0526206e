package statefile

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Hold takes an exclusive lock on an append-only file, which is created if it is missing, and
// returns the function that releases it. The lock is on the file itself: an append-only file is
// never replaced, so it needs no lock file. safefile.ErrBusy is returned when the lock could not be
// taken within wait.
func Hold(path string, wait time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for {
		unlock, err := lockOnce(ctx, path)
		if !errors.Is(err, safefile.ErrMoved) || ctx.Err() != nil {
			return unlock, err
		}
	}
}

func lockOnce(ctx context.Context, path string) (unlock func(), err error) {
	f, err := open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return safefile.Lock(ctx, path, info)
}
