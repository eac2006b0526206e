package txn

import (
	"fmt"
	"io/fs"
)

// sentinel is an error that costs nothing when the program starts: hooks start often.
type sentinel string

func (s sentinel) Error() string { return string(s) }

// ErrName is returned when a name cannot be used. The name of a file must be a single
// path element of at most 255 bytes of UTF-8 and appear only once in a Change. The name
// of D must be UTF-8 and leave room for the longer name of S. Nothing was changed.
var ErrName error = sentinel("invalid name")

// Errors of Open, Recover, Inspect and SetAside.
var (
	// ErrLocked is returned when another process held the lock of S until the
	// context ended. It is returned as a *LockedError, which names that process.
	ErrLocked error = sentinel("locked by another transaction")
	// ErrUntrustedDir is returned when D or S is not a directory, when D is a symbolic
	// link of another user, or when S or a directory in it is not owned by this user
	// or is writable by others.
	ErrUntrustedDir error = sentinel("not a trusted directory")
)

// ErrClosed is returned by the methods of a Dir after Close.
var ErrClosed = fs.ErrClosed

// ErrJournalTrusted is returned by SetAside when the journal is valid: use Recover, which
// finishes the transaction.
var ErrJournalTrusted error = sentinel("the journal can be trusted, run a recovery instead")

// Errors of Commit.
var (
	// ErrTooMany is returned when a transaction names more than MaxEntries files.
	// Nothing was changed.
	ErrTooMany error = sentinel("more than 65536 files in one transaction")
	// ErrNotKept is returned when a file to be restored is not kept: the
	// transaction did not delete it, or is not in the history any more. Nothing was
	// changed.
	ErrNotKept error = sentinel("not kept")
	// ErrChanged is returned when a file to be deleted does not exist, or was
	// replaced while the transaction was in progress, or when D was removed or
	// replaced meanwhile. The transaction was rolled back; read D again and retry.
	ErrChanged error = sentinel("changed by another program")
	// ErrExists is returned when a file to be created exists already. The
	// transaction was rolled back.
	ErrExists error = sentinel("already exists")
	// ErrNoLinks is returned when the file system has no hard links, or when S and D
	// are on different file systems. The transaction was rolled back.
	ErrNoLinks error = sentinel("hard links cannot be made here")
	// ErrProtected is returned when the file system has hard links, but the system does
	// not let this user link one file: it is immutable or append-only (chattr), or belongs
	// to another user. The transaction was rolled back.
	ErrProtected error = sentinel("the file is immutable, append-only or another user's")
	// ErrRecoveryRequired is returned together with the cause when the transaction
	// failed and its rollback failed too: D may be neither in the state before nor in
	// the state after. The journal stays, and the next Open or Recover finishes.
	ErrRecoveryRequired error = sentinel("recovery required")
	// ErrUnknown is returned when the sync that commits failed: nothing can be said of what a
	// power cut would leave. D is in the state after. Recovery decides.
	ErrUnknown error = sentinel("outcome unknown until recovery")
)

// Reasons of a JournalError.
var (
	// ErrJournalTorn is the reason when the journal is incomplete or its checksum
	// does not match.
	ErrJournalTorn error = sentinel("it is incomplete or was modified")
	// ErrJournalVersion is the reason when the journal has a version that this
	// package does not read.
	ErrJournalVersion error = sentinel("it was written by another version of this program")
	// ErrJournalForeign is the reason when the journal names another directory.
	ErrJournalForeign error = sentinel("it belongs to another directory")
	// ErrJournalInvalid is the reason when the journal, or what S holds for its
	// transaction, cannot have been written by this package.
	ErrJournalInvalid error = sentinel("it is not a valid journal")
)

// JournalError reports a journal that is not trusted, so that nothing was rolled back.
// Reason wraps one of ErrJournalTorn, ErrJournalVersion, ErrJournalForeign and
// ErrJournalInvalid.
type JournalError struct {
	Path   string
	Reason error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal %s cannot be trusted: %v", e.Path, e.Reason)
}

func (e *JournalError) Unwrap() error { return e.Reason }

// FileError reports the file on which an operation of a transaction or of a
// rollback failed.
type FileError struct {
	Op   string // "create", "restore" or "delete"; in a rollback "restore" or "remove"
	Name string // in D
	Err  error
}

func (e *FileError) Error() string { return e.Op + " " + e.Name + ": " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }
