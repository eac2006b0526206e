package txn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// This file completes transactions from their whole records: after a death, which loses
// nothing, and after a power cut, which loses what was not synced.
//
// If the journal still has its own name, or that of a record that was being committed when the
// power was cut, all of the transaction is looked at. If it is an entry of the history alone, see
// repair. Between the two see unsettled.

// life returns the Life of S, "" if it is unknown.
func (d *Dir) life() string {
	d.lived.Do(func() { d.lifeNow = d.held.Life(d.s) })
	return d.lifeNow
}

// redo completes a transaction.
type redo struct {
	rollback
	cut bool // whether the power may have failed since, so that unsynced bytes and names may be lost
}

func (d *Dir) newRedo(j *journal) (*redo, error) {
	info, err := d.files.Lstat(d.txnPath(j.ID))
	if ignoreNotExist(err) != nil {
		return nil, err
	}
	isCopy := err != nil || inodeOf(info) != j.Inode
	r := &redo{rollback: rollback{Dir: d, j: j}, cut: isCopy || j.Life != d.life()}
	r.report = Report{Outcome: Completed, ID: j.ID, Time: j.Time, Label: j.Label}
	return r, nil
}

// rollForward completes an interrupted transaction under the locks of its files. It creates
// before it deletes, as the transaction does. If another program has taken the name of a file
// that is still to be created, or files cannot be linked into D, nothing was deleted yet, and the
// transaction is rolled back: nobody was told that it has happened.
func (d *Dir) rollForward(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.lock(ctx, namesOf(j.entries())); err != nil {
		return Report{}, err
	}
	defer d.release()
	r, err := d.newRedo(j)
	if err != nil {
		return Report{}, err
	}
	if taken, err := r.taken(); err != nil {
		return r.report, err
	} else if taken {
		return d.undoDead(j)
	}
	if err := r.secure(); err != nil {
		return r.report, err
	}
	for _, e := range j.Creates {
		err := r.again(func() error { return r.create(e) })
		if errors.Is(err, ErrNoLinks) && !r.cut { // the transaction could not create it either, and died before it was rolled back
			return d.undoDead(j)
		}
		if err != nil {
			return r.report, &FileError{"create", e.Name, err}
		}
	}
	for _, e := range j.Deletes {
		if err := r.delete(e); err != nil {
			return r.report, &FileError{"delete", e.Name, err}
		}
	}
	return r.report, r.finish()
}

// taken reports whether another program has created a file under the name of one that the
// transaction creates. After a power cut that cannot be told from a later version.
func (r *redo) taken() (bool, error) {
	if r.cut {
		return false, nil
	}
	for _, e := range r.j.Creates {
		ours, err := r.isOurs(r.j, e)
		if err == nil && !ours {
			ours, err = r.matches(r.filePath(e.Name), e)
		}
		if ignoreNotExist(err) != nil {
			return false, err
		}
		if err == nil && !ours {
			return true, nil
		}
	}
	return false, nil
}

// secure makes durable what the rest of the recovery relies on: after a power cut the backups,
// and the journal's name with the directories above it. A record that is not the journal yet is
// written anew: it may not be on the disk, and a sync that failed is not believed the second
// time. The journal itself is, and is not replaced: a file system without a journal of its own
// may lose the name together with the file that had it.
func (r *redo) secure() error {
	if err := r.mkdirs(); err != nil {
		return err
	}
	for _, e := range r.j.Deletes {
		if err := r.mendBackup(e); err != nil {
			return &FileError{"restore", e.Name, err}
		}
	}
	if there, err := r.exists(r.statePath(journalName)); err != nil {
		return err
	} else if !there {
		data, err := r.j.encode()
		if err == nil {
			err = r.files.WriteFile(r.statePath(journalName), r.txnPath(r.j.ID), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return r.syncAll(append(r.ancestors(true), r.s))
}

// mkdirs creates those directories of the transaction that a power cut has lost.
func (r *redo) mkdirs() error {
	for _, dir := range []string{r.txnPath(r.j.ID), r.txnPath(r.j.ID, stagedName), r.txnPath(r.j.ID, backupName)} {
		if err := r.files.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// mendBackup gives the backup of a deleted file the bytes that the file had. It becomes
// another file if it has other bytes.
func (r *redo) mendBackup(e entry) error {
	path := r.backupPath(e.Name)
	if there, err := r.exists(path); err != nil || there && !r.cut {
		return err
	}
	same, err := r.matches(path, e)
	if same || ignoreNotExist(err) != nil {
		return err
	}
	return r.write(path, e)
}

// write makes a new file of the entry at a path in S, durably.
func (r *redo) write(path string, e entry) error {
	if err := r.mkdirs(); err != nil {
		return err
	}
	if err := r.files.Remove(path); ignoreNotExist(err) != nil {
		return err
	}
	if err := r.files.WriteFile(path, r.txnPath(r.j.ID), e.data, e.Mode); err != nil || e.ModTime.IsZero() {
		return err
	}
	return r.files.Chtimes(path, e.ModTime)
}

const (
	whyTaken   = "another program created a file under the name of one that the transaction creates"
	whyPartial = "a power cut has damaged it; it was written again"
	whyUpdated = "it was modified after the crash, and the transaction deletes it"
)

// create links the staged file into D unless it is there already, perhaps in a version that
// another program has written since.
func (r *redo) create(e entry) error {
	staged, err := r.staged(e)
	if err != nil {
		return err
	}
	here, err := r.files.Lstat(r.filePath(e.Name))
	if errors.Is(err, fs.ErrNotExist) {
		if err = r.files.Link(staged, r.filePath(e.Name)); err == nil {
			r.report.Created = append(r.report.Created, e.Name)
		}
		return noLinks(err)
	}
	if err != nil {
		return err
	}
	if r.cut {
		return r.mend(e)
	}
	if there, err := r.files.Lstat(staged); err == nil && os.SameFile(here, there) {
		return nil
	}
	if same, err := r.matches(r.filePath(e.Name), e); same || err != nil {
		return err
	}
	if err := r.quarantine(e.Name, whyTaken); err != nil {
		return err
	}
	return r.files.Link(staged, r.filePath(e.Name))
}

// staged returns the path of the staged file, which it writes if a power cut has lost or
// damaged it.
func (r *redo) staged(e entry) (string, error) {
	path := r.txnPath(r.j.ID, stagedName, e.Name)
	if there, err := r.exists(path); err != nil || there && !r.cut {
		return path, err
	}
	same, err := r.matches(path, e)
	if same || ignoreNotExist(err) != nil {
		return path, err
	}
	return path, r.write(path, e)
}

// delete deletes a file of D that the transaction deletes. A version that is newer than the
// one that the transaction read is moved to the quarantine.
func (r *redo) delete(e entry) error {
	info, err := r.files.Lstat(r.filePath(e.Name))
	if err != nil {
		return ignoreNotExist(err)
	}
	data, err := r.files.ReadFile(r.filePath(e.Name))
	readable := err == nil
	if !readable && !errors.Is(err, vfs.ErrNotRegular) && !errors.Is(err, vfs.ErrFileTooLarge) {
		return ignoreNotExist(err)
	}
	stale := r.cut && readable && (r.damage(e, data) != whole || !isNewer(info.ModTime(), e.ModTime))
	if !stale && !(readable && e.matches(data)) {
		return ignoreNotExist(r.quarantine(e.Name, whyUpdated))
	}
	if err = r.files.Remove(r.filePath(e.Name)); err == nil {
		r.report.Deleted = append(r.report.Deleted, e.Name)
	}
	return ignoreNotExist(err)
}

// isNewer reports whether a file that was changed at a time is a later version of the one that the transaction read, and not
// an older one that a power cut has brought back. The clock may have been set back, so a change in this run of the kernel counts.
func isNewer(changed, before time.Time) bool {
	booted, known := vfs.Booted()
	return changed.After(before) || known && !changed.Before(booted)
}

// finish makes the completion durable and turns the journal into an entry of the history.
func (r *redo) finish() error {
	for _, dir := range append([]string{r.d}, r.unsynced...) {
		if err := r.files.Sync(dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	err := r.files.Rename(r.statePath(journalName), r.statePath(donePrefix+r.j.ID))
	if err == nil { // if it was an entry already, the rename of one name to the other has had no effect
		err = ignoreNotExist(r.files.Remove(r.statePath(journalName)))
	}
	if err != nil {
		return err
	}
	return r.files.Sync(r.s)
}
