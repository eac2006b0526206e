package txn

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// rollBack undoes an interrupted transaction under the locks of its files.
func (d *Dir) rollBack(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.lock(ctx, namesOf(j.entries())); err != nil {
		return Report{}, err
	}
	defer d.release()
	return d.undoDead(j)
}

// undoDead is undo for a transaction whose process has died.
func (d *Dir) undoDead(j *journal) (Report, error) {
	return d.undo(j, j.Deletes, func(e entry) (bool, error) { return d.isOurs(j, e) })
}

// isOurs reports whether the file in D was created by the interrupted transaction: whether
// it has the inode of the staged file. If the staged file does not exist, or S is a copy
// and so has other inodes, the same bytes suffice.
func (d *Dir) isOurs(j *journal, e entry) (bool, error) {
	here, err := d.files.Lstat(d.filePath(e.Name))
	if err != nil {
		return false, ignoreNotExist(err)
	}
	staged, err := d.files.Lstat(d.txnPath(j.ID, stagedName, e.Name))
	if err == nil && os.SameFile(here, staged) {
		return true, nil
	}
	if ignoreNotExist(err) != nil {
		return false, err
	}
	if err == nil {
		txnDir, err := d.files.Lstat(d.txnPath(j.ID))
		if err != nil || inodeOf(txnDir) == j.Inode {
			return false, err
		}
	}
	same, err := d.matches(d.filePath(e.Name), e)
	return same, ignoreNotExist(err)
}

// matches reports whether path is a regular file with the bytes of the entry.
func (d *Dir) matches(path string, e entry) (bool, error) {
	data, err := d.files.ReadFile(path)
	if errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return e.matches(data), nil
}

// undo brings D back to the state before. It first restores the missing files of deleted,
// then removes those files of the journal's Creates for which isCreated returns true. It
// removes the journal last, so that it is repeated after a crash.
func (d *Dir) undo(j *journal, deleted []entry, isCreated func(entry) (bool, error)) (Report, error) {
	u := &rollback{Dir: d, j: j, report: Report{Outcome: RolledBack, ID: j.ID, Time: j.Time, Label: j.Label}}
	for _, e := range deleted {
		if err := u.again(func() error { return u.restore(e) }); err != nil {
			return u.report, &FileError{"restore", e.Name, err}
		}
	}
	for _, e := range j.Creates {
		remove, err := isCreated(e)
		if err == nil && remove {
			err = u.remove(e)
		}
		if err != nil {
			return u.report, &FileError{"remove", e.Name, err}
		}
	}
	return u.report, u.finish()
}

// rollback is an undo in progress.
type rollback struct {
	*Dir
	j      *journal
	report Report
}

func (u *rollback) backupPath(name string) string { return u.txnPath(u.j.ID, backupName, name) }

// The reasons of conflicts.
const (
	whyReplaced = "another program created a file under the name of one that the transaction had deleted"
	whyWritten  = "it was modified after the transaction had deleted it; it was restored with the modification"
	whyNewer    = "it was modified after the crash; the newer version was left in place"
	whyModified = "it was created by the interrupted transaction and modified since"
)

// maxTries is how often again tries again after another program, which takes no lock, created or
// deleted the file or deleted D between two operations. If that happens more often, the cause is
// probably a broken disk.
const maxTries = 10

// again repeats do, which returns fs.ErrNotExist or fs.ErrExist if D changed while it ran.
func (u *rollback) again(do func() error) (err error) {
	for range maxTries {
		err = do()
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := u.Dir.create(); err != nil {
			return err
		}
	}
	return err
}

// restore links a deleted file back, with its inode. A file that another program created
// under its name is moved to the quarantine. It is called by again.
func (u *rollback) restore(e entry) error {
	backup, err := u.files.Lstat(u.backupPath(e.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // without a backup link the file was never deleted: backup links are made durable first
	}
	if err != nil {
		return err
	}
	here, err := u.files.Lstat(u.filePath(e.Name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case os.SameFile(here, backup):
		return u.conflictUnlessMatching(u.filePath(e.Name), e, whyNewer)
	default:
		if same, err := u.matches(u.filePath(e.Name), e); same || err != nil {
			return err
		}
		if err := u.quarantine(e.Name, whyReplaced); err != nil {
			return err
		}
	}
	if err := u.files.Link(u.backupPath(e.Name), u.filePath(e.Name)); err != nil {
		return err
	}
	u.report.Restored = append(u.report.Restored, e.Name)
	return u.conflictUnlessMatching(u.backupPath(e.Name), e, whyWritten)
}

// conflictUnlessMatching adds a conflict to the report if the file at path, which stays in
// D, does not have the bytes of the entry. A file that was deleted meanwhile is not a
// conflict.
func (u *rollback) conflictUnlessMatching(path string, e entry, why string) error {
	same, err := u.matches(path, e)
	if err == nil && !same {
		u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: e.Name, Why: why})
	}
	return ignoreNotExist(err)
}

// remove removes a file that the transaction created. If it was modified since, it
// is moved to the quarantine instead.
func (u *rollback) remove(e entry) error {
	same, err := u.matches(u.filePath(e.Name), e)
	if err == nil && !same {
		return ignoreNotExist(u.quarantine(e.Name, whyModified))
	}
	if err == nil {
		err = u.files.Remove(u.filePath(e.Name))
	}
	if err == nil {
		u.report.Removed = append(u.report.Removed, e.Name)
	}
	return ignoreNotExist(err)
}

// finish makes the rollback durable and then removes the journal.
func (u *rollback) finish() error {
	for _, dir := range append([]string{u.d}, u.unsynced...) { // with the parent of D, if create had to create D
		if err := u.files.Sync(dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	if err := u.files.Remove(u.statePath(journalName)); ignoreNotExist(err) != nil {
		return err
	}
	if err := u.files.Sync(u.s); err != nil {
		return err
	}
	u.discard(u.j.ID)
	return nil
}
