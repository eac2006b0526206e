// Package txn changes a set of files in one directory in one transaction: it
// creates files and deletes files, either all of them or none, and a crash or a
// power cut at any moment does not leave the directory in between. It does not
// interpret what the files hold, and it does not modify files: a new version is
// created under a new name.
//
// Below, D is the directory and S its state directory: the hidden directory beside D
// that holds the lock, the journal and the staged and deleted files; see [StateDir].
//
// # Basics
//
// [Open] locks D against other transactions and rolls an interrupted one back.
// [Dir.Commit] carries out a [Change]. [Recover] rolls an interrupted transaction back
// and does nothing else, [Inspect] reports what Recover would do, and [SetAside] moves
// away a journal that neither of them trusts.
//
// The files that a transaction deletes are kept until [WithHistory] further
// transactions have committed, or longer with [WithKeep]. [Dir.History] lists them, and
// a [Restore] brings one back. A Change may have a Record, a text of the caller that is
// committed together with the files.
//
// # Crash safety
//
// Assumed:
//
//   - The file system renames and links atomically (POSIX).
//   - A power cut loses or reorders what was not synced, a file's name separately
//     from its bytes.
//   - A process may die between any two instructions.
//   - When fsync fails, the data is lost. fsync is not retried, because a second call
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
//     If the sync that commits fails, the error is [ErrUnknown]: recovery decides. A
//     failure after the commit point does not fail the transaction.
//  4. Two transactions on one D never overlap: S is locked by flock(2).
//  5. A journal that is incomplete, modified, of an unknown version or of another
//     directory is not acted on. It is reported as a [*JournalError].
//  6. Nothing outside D and S is created, changed or removed, even if another program
//     replaces D or S meanwhile: both are held open. They refer to each other by
//     relative names, so the directory that contains both may be moved.
//
// The order of operations, with the barriers at which it waits for the disk:
//
//   - New files are staged in S under temporary names, with the journal, which names all
//     of them. B1: these files, and those to be deleted, are synced at once. Then they get
//     their names, and backup links to the files to be deleted are made in S. B2: S, its
//     directories and those above S and D are synced.
//   - The new files are linked into D, the deleted files are unlinked. Creates come
//     before deletes: a reader that takes no lock sees the old files and the new ones
//     together for a moment, never neither. B3: D is synced.
//   - The journal is renamed to an entry of the history. B4: S is synced. That is the
//     commit point.
//
// So when D is changed, what a rollback needs is durable. When Open or Recover finds a
// journal, it restores the deleted files, then it removes the created ones, syncs D, and
// removes the journal. Each of these can be repeated, so a recovery that is interrupted
// is just begun again. A file of another program that is in the way is moved to a
// quarantine directory in S and reported. When there is no journal, but the last process
// that used S has not closed it, S is synced first: it may have died between the rename
// or the removal of the journal and the sync.
//
// # Caveats
//
// A [Dir] is not safe for concurrent use.
//
// NFS is not supported: its locks and its order of operations do not meet the
// assumptions. On a file system without hard links every transaction fails with
// [ErrNoLinks] before D is changed. On Windows deaths and failing
// calls were tried, and no loss of power.
//
// Programs that write to D without using this package must be excluded by a [Locker]
// that implements their locking protocol. If such a program changes a file without a
// lock, the recovery of an interrupted transaction may undo that change, but does not
// lose what the program wrote.
package txn
