// Package txn changes a set of files in one directory in one transaction: it
// creates files and deletes files, either all of them or none, and a crash or a
// power cut at any moment does not leave the directory in between. It does not
// interpret what the files hold, and it does not modify files: a new version is
// created under a new name.
//
// D is the directory, S its state directory: the hidden directory beside D in
// which this package keeps its lock, its journal and its files; see [StateDir].
//
// # Basics
//
// [Open] locks D against other transactions and finishes one that was interrupted.
// [Dir.Commit] carries out a [Change]. [Recover] only finishes what was
// interrupted, [Inspect] reports what Recover would do, and [SetAside] removes a
// journal that neither of them trusts. Deleted files are kept for a number of
// transactions, or longer by [WithKeep]; see [Dir.History]. A [Restore] brings one
// back. What a caller wants to be known of the files exactly when they are in D is
// the [Change]'s Record. Other small files of a caller may be kept in S; see
// [Dir.WriteState].
//
// # Crash safety
//
// Assumed:
//
//   - The file system renames and links atomically (POSIX).
//   - A power cut loses or reorders what was not synced, a file's name separately
//     from its bytes.
//   - A process may die between any two instructions.
//   - When fsync fails, the data is lost. It is not retried, because a second fsync
//     may succeed without having written anything.
//
// Promised:
//
//  1. After a crash at any instant, of a transaction or of a recovery, [Recover]
//     brings D to exactly the state before or exactly the state after: the same
//     names and bytes, and the same inode, mode and modification time for files
//     that stayed or were restored. An absent D and an empty D are the same state.
//  2. When [Dir.Commit] returns nil, D is in the state after, even if the power
//     fails.
//  3. A failure inside the process is rolled back before Commit returns. If the
//     rollback fails too, the journal stays and the error is [ErrRecoveryRequired].
//     If the last sync fails, nothing is undone and the error is [ErrUnknown]. A
//     failure after the commit point does not fail the transaction.
//  4. Two transactions on one D never overlap: S is locked by flock(2).
//  5. A journal that is incomplete, modified, of an unknown version or of another
//     directory is not acted on. It is reported as a [*JournalError].
//  6. Nothing outside D and S is created, changed or removed, whatever others put in
//     their places meanwhile: both are held open. They refer to each other by
//     relative names, so the directory that holds both may be moved.
//
// The order of operations:
//
//   - New files are staged in S, backup links to the files to be deleted are made
//     in S, and a journal that names both is written. All of it is synced.
//   - The new files are linked into D, the deleted files are unlinked, D is synced.
//     Creates come before deletes: a reader that takes no lock sees the old files
//     and the new ones together for a moment, never neither.
//   - The journal is renamed. That rename is the commit point, once S is synced.
//
// A journal found by Open or Recover is rolled back: deleted files are linked back,
// then created files are removed. Files that another program wrote there meanwhile
// are moved to a quarantine directory in S and reported.
//
// # Caveats
//
// A [Dir] is not safe for concurrent use.
//
// NFS is not supported: neither its locks nor its order of operations are what is
// assumed. On a file system without hard links every transaction fails with
// [ErrNoLinks] before D is changed. Windows is not supported.
//
// Programs that write to D without using this package have to be excluded by a
// [Locker] that speaks their protocol. The rollback of an interrupted transaction
// may undo a change that such a program made to the same files without a lock, but
// does not lose what it wrote.
package txn
