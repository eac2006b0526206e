package txn

import (
	"errors"
	"io/fs"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// rollback brings D back to the state before, in a Commit that failed and in a recovery. Each
// of its operations can be repeated, and the journal goes last: a rollback that is interrupted
// begins again.
type rollback struct {
	*Dir
	j        *journal
	unlinked func(entry) bool // whether the transaction may have unlinked the file
	dead     bool             // whether its process has died, so that others may have changed D since
	report   Report
}

// run restores the files that are missing, then removes those that the transaction created: a
// reader sees the old and the new files together rather than neither.
func (u *rollback) run() error {
	u.report = Report{Outcome: RolledBack, ID: u.j.ID, Time: u.j.Time, Label: u.j.Label}
	for _, e := range u.j.Deletes {
		if !u.unlinked(e) {
			continue
		}
		if err := u.again(func() error { return u.restore(e) }); err != nil {
			return &FileError{"restore", e.Name, err}
		}
	}
	for _, e := range u.j.Creates {
		if err := ignoreNotExist(u.remove(e)); err != nil {
			return &FileError{"remove", e.Name, err}
		}
	}
	return u.finish()
}

func (u *rollback) backupPath(name string) string { return u.txnPath(u.j.ID, backupName, name) }

// The reasons of conflicts.
const (
	whyReplaced = "another program created a file under the name of one that the transaction had deleted"
	whyWritten  = "it was modified after the transaction had deleted it; it was restored with the modification"
	whyNewer    = "it was modified after the crash; the newer version was left in place"
	whyModified = "it was created by the interrupted transaction and modified since"
	whyCopied   = "it has the bytes of a file that the interrupted transaction created, but is not that file"
	whyForeign  = "it is another program's file under the name of one that the transaction was to create; it was left in place"
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
	case vfs.SameFile(here, backup):
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

// remove removes a file that the transaction created: one that is a link of the staged file,
// which is durable since before the link was made, and has its bytes. If it was modified since,
// it is moved to the quarantine, and so is a copy of it. Any other file is another program's, and
// stays.
func (u *rollback) remove(e entry) error {
	path := u.filePath(e.Name)
	here, err := u.files.Lstat(path)
	if err != nil {
		return err
	}
	staged, err := u.files.Lstat(u.txnPath(u.j.ID, stagedName, e.Name))
	if ignoreNotExist(err) != nil {
		return err
	}
	ours := err == nil && vfs.SameFile(here, staged)
	same, err := u.matches(path, e)
	switch {
	case err != nil:
		return err
	case ours && !same:
		return u.quarantine(e.Name, whyModified)
	case same && !ours && u.dead:
		return u.quarantine(e.Name, whyCopied)
	case ours:
		err = u.files.Remove(path)
		if err == nil {
			u.report.Removed = append(u.report.Removed, e.Name)
		}
	case u.dead:
		u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: e.Name, Why: whyForeign})
	}
	return err
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

// finish makes the rollback durable and then removes the journal.
func (u *rollback) finish() error {
	for _, dir := range append([]string{u.d}, u.unsynced...) { // with the parent of D, if create had to create D
		if err := u.syncDir(dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	if err := u.files.Remove(u.statePath(journalName)); ignoreNotExist(err) != nil {
		return err
	}
	if err := u.syncDir(u.s); err != nil {
		return err
	}
	u.discard(u.j.ID)
	return nil
}
