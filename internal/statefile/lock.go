package statefile

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lock takes an exclusive lock on path, which is created if it is missing, and
// returns its release. The lock is flock(2) on the file that open has checked; a
// library that opens the path itself would follow what was planted there.
func lock(path string, wait time.Duration) (unlock func(), err error) {
	f, err := open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return queue(f, wait)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// queue waits in the kernel's queue instead of polling: the kernel serves waiters
// in turn, so that forty callers at once all get the lock.
func queue(f *os.File, wait time.Duration) (unlock func(), err error) {
	locked := make(chan error, 1)
	go func() { locked <- flock(f, syscall.LOCK_EX) }()
	select {
	case err := <-locked:
		if err != nil {
			f.Close()
			return nil, err
		}
		return func() { f.Close() }, nil
	case <-time.After(wait):
		go func() {
			<-locked
			f.Close()
		}()
		return nil, ErrBusy
	}
}

// flock repeats the call when a signal interrupts it; the runtime sends signals to
// its own threads.
func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
