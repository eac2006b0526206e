package statefile

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// lock takes an exclusive lock on path, which is created if it is missing, and
// returns the function that releases it.
func lock(path string, wait time.Duration) (unlock func(), err error) {
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
