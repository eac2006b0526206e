package txn

import (
	"context"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Locker excludes writers of D that do not use this package, by their own locking
// protocol. A Locker must not be used by two Dirs at a time. Its methods are called by
// one goroutine at a time, and only while this process holds the lock of S.
type Locker interface {
	// Bind is called once by Open, before any other method. dir is D with its
	// symbolic link resolved and need not exist. scratch is a path inside S that is
	// reserved for the Locker: it may create a directory there, and the Locker of
	// the next process finds that directory.
	Bind(fs vfs.FS, dir, scratch string)
	// Lock takes the lock of D as a whole and the lock of each named file in it, in
	// addition to the locks already held. D exists. Lock waits until ctx is done. If
	// it returns an error, no lock is held. kept reports whether the locks that were
	// held before the call were held throughout it; if not, what was read under them
	// may be out of date.
	Lock(ctx context.Context, names []string) (kept bool, err error)
	// Check returns an error if a lock that was taken is no longer held.
	Check() error
	// Unlock releases every lock that is held. Its error does not fail the
	// transaction.
	Unlock() error
	// Reap releases the locks that the Locker of a dead process held on D.
	Reap() error
}

// noLocker is the Locker of a directory that has no other writers.
type noLocker struct{}

func (noLocker) Bind(vfs.FS, string, string)                  {}
func (noLocker) Lock(context.Context, []string) (bool, error) { return true, nil }
func (noLocker) Check() error                                 { return nil }
func (noLocker) Unlock() error                                { return nil }
func (noLocker) Reap() error                                  { return nil }
