package statefile

import (
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// lock takes an exclusive lock on path, which is created if it is missing, and
// returns the function that releases it. The file is checked before it is locked, for a
// clear error, and again after that, because it may have been replaced in between.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	f.Close()
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|safefile.NoFollow|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err == nil && !held {
		err = queue(l, wait)
	}
	if err != nil {
		return nil, err
	}
	info, err := l.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "lock", Path: path, Err: safefile.ErrNotRegular}
	}
	if err == nil {
		err = safefile.CheckOwner(path, info)
	}
	if err != nil {
		l.Unlock()
		return nil, err
	}
	return func() { l.Unlock() }, nil
}

// queue waits in the kernel's queue instead of polling. The kernel serves waiters in
// order, so none of forty concurrent callers starves.
func queue(l *flock.Flock, wait time.Duration) error {
	locked := make(chan error, 1)
	go func() { locked <- l.Lock() }()
	select {
	case err := <-locked:
		return err
	case <-time.After(wait):
		go func() {
			if <-locked == nil {
				l.Unlock()
			}
		}()
		return ErrBusy
	}
}
