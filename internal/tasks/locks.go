package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// The client's locks are directories, made by the npm package proper-lockfile
// (facts 13 to 15, client 2.1.197).
const (
	listLock   = ".lock.lock"     // in D; held while a task is created
	lockSuffix = ".lock"          // D/N.json.lock is held while task N is updated
	stale      = 10 * time.Second // a lock with an older mtime may be taken over

	maxName = 255 // bytes in a file name, on every supported file system

	// A held lock is touched at this interval, so that it does not become stale.
	refreshEvery = 3 * time.Second

	// The client holds its locks for milliseconds. Its own retries wait 5 ms at first and
	// 100 ms at last (fact 14, client 2.1.197).
	firstRetry = 5 * time.Millisecond
	lastRetry  = 50 * time.Millisecond
)

// ahead is how far in the future the mtime of a live lock may be: proper-lockfile sets
// it up to 1 s ahead (fact 15, client 2.1.197), plus a margin for the coarse clocks of
// file systems.
const ahead = 2 * time.Second

// clientLocks takes the client's locks on one task list. It is a txn.Locker; the zero
// value is ready for Bind.
//
// Each lock directory is created in scratch, recorded there with its inode and the
// nanoseconds of its modification time, and then renamed into place, which fails if
// the place is taken. The record lets the next process recognise and remove the
// locks of a dead one at once instead of waiting until they are stale.
type clientLocks struct {
	files        vfs.FS
	dir, scratch string

	stuck error // why the last stale lock could not be taken over

	mu   sync.Mutex // protects held and stop; the refresher reads held
	held []lock
	stop func() // stops the refresher
}

var _ txn.Locker = (*clientLocks)(nil)

// lock identifies a lock directory of this process by its inode and by the nanoseconds
// of its modification time, which a refresh does not change.
type lock struct {
	name  string // in D, such as "3.json.lock"
	inode uint64
	nanos int
}

// Bind sets the list to lock. See txn.Locker.
func (l *clientLocks) Bind(files vfs.FS, dir, scratch string) {
	l.files, l.dir, l.scratch = files, dir, scratch
}

// Lock takes the list's lock and those of the named files. Holding some while
// waiting for others could deadlock: on conflict all are released and retried with
// backoff.
//
// Errors: *BusyError, or the file system's.
func (l *clientLocks) Lock(ctx context.Context, names []string) (kept bool, err error) {
	all, heldAny := l.withHeld(names), len(l.held) > 0
	missing := slices.DeleteFunc(slices.Clone(all), l.holds)
	kept = true
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		busy, err := l.take(missing)
		if err == nil && busy == "" {
			return kept, nil
		}
		if err := errors.Join(err, l.Unlock()); err != nil {
			return false, err
		}
		kept, missing = !heldAny, all
		select {
		case <-ctx.Done():
			return false, l.busyError(ctx, busy)
		case <-time.After(wait):
		}
	}
}

// withHeld returns the names of the locks to hold, each once: the list's, those
// held already, and those of the named files. A lock whose name would be too long
// is left out: the client cannot take it either.
func (l *clientLocks) withHeld(names []string) []string {
	var all []string
	listed := map[string]bool{}
	add := func(name string) {
		if !listed[name] {
			listed[name] = true
			all = append(all, name)
		}
	}
	add(listLock)
	for _, h := range l.held {
		add(h.name)
	}
	for _, name := range names {
		if lock := name + lockSuffix; len(lock) <= maxName {
			add(lock)
		}
	}
	return all
}

func (l *clientLocks) holds(name string) bool {
	return slices.ContainsFunc(l.held, func(h lock) bool { return h.name == name })
}

func (l *clientLocks) busyError(ctx context.Context, busy string) error {
	e := &BusyError{Path: filepath.Join(l.dir, busy), Ahead: ahead, Cause: context.Cause(ctx)}
	info, err := l.files.Lstat(e.Path)
	if err != nil {
		return e
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory, so neither this program nor the client can take that lock; remove it: %w", e.Path, e.Cause)
	}
	e.Since, e.Age = info.ModTime(), time.Since(info.ModTime())
	if e.Age > stale {
		e.Stuck = l.stuck
	}
	return e
}

// Check returns errLockLost if a lock is no longer the one that was taken.
func (l *clientLocks) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if ok, err := l.isOurs(h); err != nil || !ok {
			return errors.Join(fmt.Errorf("%w: %s", errLockLost, filepath.Join(l.dir, h.name)), err)
		}
	}
	return nil
}

func (l *clientLocks) isOurs(h lock) (bool, error) {
	info, err := l.files.Lstat(filepath.Join(l.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir() && inodeOf(info) == h.inode && info.ModTime().Nanosecond() == h.nanos, err
}

// Unlock releases every held lock, the list's last. If one cannot be released, the
// records are kept, so that the next process can release it.
func (l *clientLocks) Unlock() error {
	l.mu.Lock()
	held, stop := l.held, l.stop
	l.held, l.stop = nil, nil
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	var errs []error
	for _, h := range slices.Backward(held) {
		errs = append(errs, l.release(h))
	}
	if err := errors.Join(errs...); err != nil || len(held) == 0 {
		return err
	}
	entries, err := l.files.ReadDir(l.scratch)
	l.clearScratch(entries)
	return err
}

func (l *clientLocks) release(h lock) error {
	ours, err := l.isOurs(h)
	if err != nil || !ours {
		return err
	}
	err = l.files.Remove(filepath.Join(l.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keepFresh refreshes the held locks at intervals until stop is called.
func (l *clientLocks) keepFresh() (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(refreshEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				l.refresh(now)
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// refresh sets the modification time of each lock to the current second and the lock's
// own nanoseconds. Errors are ignored: a lock that is not refreshed is taken over as
// stale, and then Check returns ErrLockLost.
func (l *clientLocks) refresh(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if ours, _ := l.isOurs(h); ours {
			_ = l.files.Chtimes(filepath.Join(l.dir, h.name), time.Unix(now.Unix(), int64(h.nanos)))
		}
	}
}

func inodeOf(info fs.FileInfo) uint64 {
	_, inode, _ := safefile.IdentityOf(info)
	return inode
}
