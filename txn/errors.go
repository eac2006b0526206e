package txn

import (
	"errors"
	"fmt"
)

// Errors of Open and Recover.
var (
	// ErrLocked means that another transaction held the lock until the context
	// ended; it comes as a *LockedError that says whose.
	ErrLocked = errors.New("locked by another transaction")
	// ErrUntrustedDir is returned when D or S is not a directory, or when S or a
	// directory in it is not owned by this user or is writable by others.
	ErrUntrustedDir = errors.New("not a directory of this user")
)

// ErrClosed is returned by Lock, Commit and History after Close.
var ErrClosed = errors.New("the directory is closed")

// Errors of Commit.
var (
	// ErrChanged means that a file to be deleted is gone or is another one than
	// it was when the transaction was begun. Nothing was changed; plan again.
	ErrChanged = errors.New("changed by someone else meanwhile")
	// ErrExists means that a file to be created is there already, put there by
	// someone else meanwhile. The transaction was rolled back.
	ErrExists = errors.New("already there")
	// ErrNoLinks means that the file system has no hard links, that S and D are not
	// on the same one, or that the system lets this user make none to a file that
	// belongs to another. The transaction was rolled back.
	ErrNoLinks = errors.New("hard links cannot be made here")
	// ErrRecoveryRequired means that the rollback failed too: D is neither before
	// nor after, the journal is still there, and the next Open or Recover that can
	// do its work finishes it.
	ErrRecoveryRequired = errors.New("recovery required")
	// ErrUnknown means that the last sync failed: D holds the state after, and a
	// power cut may still bring back the state before. Recovery decides.
	ErrUnknown = errors.New("outcome unknown until recovery")
	// ErrTooMany means that a transaction names more than MaxEntries files.
	ErrTooMany = fmt.Errorf("more than %d files in one transaction", MaxEntries)
	// ErrName means that a file's name is no plain file name.
	ErrName = errors.New("not a plain file name")
)

// Reasons of a JournalError.
var (
	ErrJournalTorn    = errors.New("it is torn or was changed")
	ErrJournalVersion = errors.New("another version of this program wrote it")
	ErrJournalForeign = errors.New("it belongs to another directory")
	ErrJournalInvalid = errors.New("it is not a journal that this program writes")
)

// JournalError reports a journal that is not acted on. Reason is one of the
// ErrJournal errors, wrapped with detail.
type JournalError struct {
	Path   string
	Reason error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal %s cannot be trusted: %v", e.Path, e.Reason)
}

func (e *JournalError) Unwrap() error { return e.Reason }

// FileError reports which file of a transaction an operation failed on.
type FileError struct {
	Op   string // "create" or "delete"
	Name string // its name in D
	Err  error
}

func (e *FileError) Error() string { return e.Op + " " + e.Name + ": " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }
