package statefile

import (
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// lock takes an exclusive lock on path, which is made if it is missing, and
// returns its release.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err == nil && !held {
		err = queue(l, wait)
	}
	if err != nil {
		return nil, refusal(path, err)
	}
	info, err := l.Stat()
	if err == nil {
		err = own(path, info)
	}
	if err != nil {
		l.Unlock()
		return nil, err
	}
	return func() { l.Unlock() }, nil
}

// queue waits in the kernel's queue rather than by trying again and again: the
// kernel serves waiters in turn, so forty callers at once all get through.
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
