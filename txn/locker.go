package txn

import (
	"context"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Locker keeps out the other writers of D, those that know nothing of this
// package, by their own protocol. One Locker serves one Dir; its methods are
// called by one goroutine at a time, and only while S is locked.
type Locker interface {
	// Lock takes the lock of D as a whole and of each named file in it: all of
	// them or, with an error, none. What it holds already it keeps. It waits until
	// ctx is done. D exists.
	Lock(ctx context.Context, names []string) error
	// Check reports an error if a lock that was taken is no longer held.
	Check() error
	// Unlock releases whatever is held. Its failure is never the transaction's.
	Unlock() error
	// Reap releases at once what a dead process's Locker for the same D held.
	Reap() error
}

// NewLocker makes the Locker of a Dir. dir is D with symbolic links resolved,
// scratch a directory inside S that the Locker makes if it wants it and has for
// itself; what it puts there is seen by the next process.
type NewLocker func(fs vfs.FS, dir, scratch string) Locker

// alone is the Locker of a directory that nobody else writes to.
type alone struct{}

func (alone) Lock(context.Context, []string) error { return nil }
func (alone) Check() error                         { return nil }
func (alone) Unlock() error                        { return nil }
func (alone) Reap() error                          { return nil }
