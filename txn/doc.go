// Package txn changes a set of files in one directory as one transaction: files
// are created and files are deleted, all of it or none of it, whatever fails.
// It knows nothing of what the files hold.
//
// # What is assumed
//
// The file system renames and links atomically (POSIX). What was not synced may
// be lost or reordered by a power cut, a file's name separately from its bytes.
// A process may die between any two instructions. An fsync that failed means
// that the data is gone; it is never retried and believed.
//
// # What is promised
//
// D is the directory, S its sibling: the hidden directory beside D, named after
// it, in which everything this package needs is kept (see [Sibling]).
//
//  1. After a crash at any instant, of a transaction or of a recovery, [Recover]
//     brings D to exactly the state before or exactly the state after: the same
//     names and bytes, and for files that stayed or were restored the same inode,
//     mode and modification time. An absent D and an empty one are the same.
//  2. [Txn.Commit] returning nil means after, also across a power cut.
//  3. A failure inside the process is rolled back before Commit returns. If that
//     fails too, the journal stays and the error is [ErrRecoveryRequired]. If the
//     last sync itself fails nothing is undone and the error is [ErrUnknown].
//     Trouble after the commit point is never reported as a failed transaction.
//  4. Two transactions on one D never overlap: S is locked by flock(2).
//  5. A journal that is torn, of another version or of another directory is never
//     acted on: it is reported as a [*JournalError].
//  6. Nothing outside D and S is created, changed or removed. D and S are found
//     by their names relative to one another, so a moved home does not matter.
//
// # How
//
// New files are staged in S and synced, files to be deleted are linked into S and
// synced, and a journal that names all of them is synced, before D is touched. Then
// the new files are linked into D, the deleted are unlinked, D is synced, and the
// journal is renamed: that rename, once S is synced, is the commit point. A journal
// that is still there is rolled back: what is missing is linked back, then what
// was created is removed. Kept files stay in S for a number of transactions, so
// that a caller can put them back; see [Dir.History].
//
// Creates come before deletes: a reader that takes no lock sees the old files
// and the new ones together for a moment, never neither.
//
// # What is not promised
//
// Nothing on NFS, where neither the locks nor the order of operations hold, and
// nothing on a file system without hard links: there a transaction fails before
// anything changed. Writers that share D and know nothing of this package have to
// be kept out by a [Locker] that speaks their protocol; one that takes no lock can
// see its change undone by a rollback, though never lost: what stands in the way
// of a rollback is moved into S and reported. Windows is not supported.
package txn
