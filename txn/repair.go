package txn

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// This file repairs, once after a power cut, the files of committed transactions: the names in D were
// synced, so a file that is not there was deleted by another program, and only bytes can be damaged.

// repair looks once in every life whether a power cut has damaged files of committed
// transactions, and restores them from the records. If the life is unknown, it looks each time.
func (d *Dir) repair(ctx context.Context, report *Report) error {
	mark, err := d.files.ReadFile(d.statePath(lifeName))
	if err == nil && d.life() != "" && string(mark) == d.life() {
		return nil
	}
	ids, err := d.committed()
	if err != nil || len(ids) == 0 {
		return err
	}
	err = d.repairAll(ctx, ids, report)
	if err == nil && len(d.unread) == 0 && d.life() != "" {
		_ = d.files.Overwrite(d.statePath(lifeName), []byte(d.life())) // without it the next Open looks again
	}
	return err
}

// repairAll begins with the newest transaction: of a name that several have used, only the
// last use counts. It sets d.unread.
func (d *Dir) repairAll(ctx context.Context, ids []string, report *Report) error {
	d.unread = nil
	used := map[string]bool{} // with what was just finished, which Inspect has not done
	for _, name := range slices.Concat(report.Created, report.Deleted) {
		used[name] = true
	}
	defer d.release()
	for i := len(ids) - 1; i >= 0; i-- {
		j, err := d.recordOf(ids[i])
		switch {
		case err == nil:
		case isUseless(err):
			continue // History reports it
		default:
			d.unread = ids[:i+1] // it may have used the names of earlier ones
			return nil
		}
		if j.whole {
			r, err := d.newRedo(j)
			if err == nil {
				err = r.repair(ctx, used, report)
			}
			if err != nil {
				return err
			}
		}
		for _, e := range j.entries() {
			used[e.Name] = true
		}
	}
	return nil
}

func (r *redo) repair(ctx context.Context, used map[string]bool, report *Report) error {
	if !r.cut {
		return nil
	}
	defer func() { _ = r.removeTree(r.txnPath(r.j.ID, stagedName)) }()
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
	if _, err := r.lock(ctx, []string{e.Name}); err != nil {
		return err
	}
	return r.mend(e)
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
