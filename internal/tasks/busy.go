package tasks

import (
	"errors"
	"fmt"
	"time"
)

// errLockLost is returned when a lock that was taken is no longer held: another
// program took it over as stale.
var errLockLost = errors.New("a lock on the task list was lost to another program")

// BusyError is returned when a program's lock was held by another process until the context
// was done. It wraps the context's cause.
type BusyError struct {
	Path  string
	Since time.Time     // the lock's last refresh; zero if it was released meanwhile
	Age   time.Duration // time since then; negative if Since is in the future
	Ahead time.Duration // how far in the future the time of a live lock may be
	Stuck error         // why the stale lock could not be taken over; nil if it is not stale
	Cause error
}

// Abandoned reports whether the lock must be removed by hand: it is stale and cannot be
// taken over, or its time is in the future, so that it is not stale for a long time.
func (e *BusyError) Abandoned() bool {
	return !e.Since.IsZero() && (e.Stuck != nil || e.isAhead())
}

func (e *BusyError) isAhead() bool { return e.Age < -e.Ahead }

func (e *BusyError) Error() string {
	const remedy = "if no other program is using the task list, remove that directory"
	switch at := e.Since.UTC().Format(time.RFC3339); {
	case e.Since.IsZero():
		return fmt.Sprintf("the task list is in use: other programs kept taking %s: %v", e.Path, e.Cause)
	case e.Stuck != nil:
		return fmt.Sprintf("the lock %s was abandoned at %s, but cannot be removed (%v); %s: %v", e.Path, at, e.Stuck, remedy, e.Cause)
	case e.isAhead():
		return fmt.Sprintf("the lock %s has a time in the future, %s, so that it never counts as abandoned: a clock was set back; %s: %v",
			e.Path, at, remedy, e.Cause)
	}
	return fmt.Sprintf("the task list is in use: another program has held %s since %s: %v", e.Path,
		e.Since.UTC().Format(time.RFC3339), e.Cause)
}

func (e *BusyError) Unwrap() error { return e.Cause }
