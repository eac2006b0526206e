package txn

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// This file completes transactions from their whole records: after a death, which loses
// nothing, and after a power cut, which loses what was not synced.
//
// If the journal still has its own name, or that of a record that was being committed when the
// power was cut, all of the transaction is looked at. If it is an
// entry of the history alone, the names in D were synced: a file that is not there was deleted
// by another program, and only bytes can be damaged. Between the two see unsettled.

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
// that is still to be created, nothing was deleted yet, and the transaction is rolled back:
// nobody was told that it has happened.
func (d *Dir) rollForward(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.Lock(ctx, namesOf(j.entries())...); err != nil {
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
		return d.undo(j, j.Deletes, func(e entry) (bool, error) { return d.isOurs(j, e) })
	}
	if err := r.secure(); err != nil {
		return r.report, err
	}
	for _, e := range j.Creates {
		if err := r.again(func() error { return r.create(e) }); err != nil {
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
		if err != nil {
			return false, err
		}
		there, err := r.exists(r.filePath(e.Name))
		if err != nil || !there || ours {
			if err != nil {
				return false, err
			}
			continue
		}
		if same, err := r.matches(r.filePath(e.Name), e); !same {
			return true, ignoreNotExist(err)
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
		if there, err := r.exists(dir); there || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.files.Mkdir(dir, 0o700); err != nil {
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

// again repeats do, which returns fs.ErrNotExist or fs.ErrExist if D changed while it ran.
func (r *redo) again(do func() error) (err error) {
	for range maxTries {
		err = do()
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := r.Dir.create(); err != nil {
			return err
		}
	}
	return err
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
		return err
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

// mend writes a created file again if a power cut has damaged it. A file that is neither
// damaged nor as it was created is a later version and stays. The caller holds the file's
// lock.
func (r *redo) mend(e entry) error {
	data, err := r.files.ReadFile(r.filePath(e.Name))
	switch {
	case errors.Is(err, vfs.ErrNotRegular), errors.Is(err, vfs.ErrFileTooLarge):
		return nil // no transaction created that
	case err != nil:
		return err
	}
	if damage := r.damage(e, data); damage == whole {
		return nil
	} else if damage == doubtful {
		if err := r.keepAside(e.Name, whyPartial); err != nil {
			return err
		}
	}
	path := r.txnPath(r.j.ID, stagedName, e.Name)
	if err := r.write(path, e); err != nil { // never the file in D itself, which has another name here
		return err
	}
	if err := r.files.Rename(path, r.filePath(e.Name)); err != nil {
		return err
	}
	r.report.Created = append(r.report.Created, e.Name)
	return nil
}

// How bytes that were found after a power cut compare with those that were written.
const (
	whole    = iota // those, or a later version
	partial         // nothing is lost if they are dropped: a beginning of those
	doubtful        // nobody can have written them
)

func (r *redo) damage(e entry, data []byte) int {
	switch {
	case bytes.Equal(data, e.data):
		return whole
	case bytes.HasPrefix(e.data, data):
		return partial
	case bytes.IndexByte(data, 0) >= 0 && bytes.IndexByte(e.data, 0) < 0, !r.intact(data):
		return doubtful
	}
	return whole
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

// isNewer reports whether a file that was changed at a time has another version than the one of before,
// and not one that a power cut has brought back. The clock may have been set back since.
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

// repair looks once in every life whether a power cut has damaged files of committed
// transactions, and restores them from the records. If the life is unknown, it looks each time.
func (d *Dir) repair(ctx context.Context, report *Report) error {
	mark, err := d.files.ReadFile(d.statePath(lifeName))
	if err == nil && d.life() != "" && string(mark) == d.life() {
		return nil
	}
	ids, err := d.committed()
	if err != nil || len(ids) == 0 {
		return nil // as tidy, which looks at the same
	}
	all, err := d.repairAll(ctx, ids, report)
	if err == nil && all && d.life() != "" {
		_ = d.files.Overwrite(d.statePath(lifeName), []byte(d.life())) // without it the next Open looks again
	}
	return err
}

// repairAll begins with the newest transaction: of a name that several have used, only the
// last use counts. all is false if there is a record that can perhaps be read later.
func (d *Dir) repairAll(ctx context.Context, ids []string, report *Report) (all bool, err error) {
	all = true
	used := map[string]bool{} // with what was just finished, which Inspect has not done
	for _, name := range slices.Concat(report.Created, report.Deleted) {
		used[name] = true
	}
	defer d.release()
	for i := len(ids) - 1; i >= 0; i-- {
		j, err := d.recordOf(ids[i])
		if err != nil || !j.whole {
			all = all && (err == nil || isUseless(err))
			continue // History reports it
		}
		r, err := d.newRedo(j)
		if err == nil {
			err = r.repair(ctx, used, report)
		}
		if err != nil {
			return false, err
		}
		for _, e := range j.entries() {
			used[e.Name] = true
		}
	}
	return all, nil
}

func (r *redo) repair(ctx context.Context, used map[string]bool, report *Report) error {
	if !r.cut {
		return nil
	}
	defer r.removeTree(r.txnPath(r.j.ID, stagedName))
	for _, e := range r.j.Deletes {
		if err := r.mendBackup(e); err != nil {
			return &FileError{"restore", e.Name, err}
		}
	}
	for _, e := range r.j.Creates {
		if used[e.Name] {
			continue
		}
		if err := r.repairFile(ctx, e); ignoreNotExist(err) != nil {
			return &FileError{"create", e.Name, err}
		}
	}
	if report.Conflicts = append(report.Conflicts, r.report.Conflicts...); len(r.report.Created) == 0 {
		return nil
	}
	if err := r.files.Sync(r.d); err != nil {
		return err
	}
	created := append(report.Created, r.report.Created...)
	if report.Outcome == Clean {
		*report = Report{Outcome: Completed, ID: r.j.ID, Time: r.j.Time, Label: r.j.Label, Conflicts: report.Conflicts}
	}
	report.Created = created
	return nil
}

// repairFile takes the lock of a file that looks damaged and mends it.
func (r *redo) repairFile(ctx context.Context, e entry) error {
	data, err := r.files.ReadFile(r.filePath(e.Name))
	if errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge) {
		return nil
	}
	if err != nil || r.damage(e, data) == whole {
		return err
	}
	if _, err := r.Lock(ctx, e.Name); err != nil {
		return err
	}
	return r.mend(e)
}
