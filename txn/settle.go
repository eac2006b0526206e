package txn

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// This file makes durable what a committed transaction has not synced: the names in D, and
// the bytes of the files that it created.
//
// The record is durable, so nothing can be lost. But once a file that the transaction created
// is missing, only durable names show that another program has deleted it, and not a power
// cut. So the names are synced before other programs may delete one: by Commit, or with
// WithLateSync by the next Open. Until then the journal has two names, that of its entry in
// the history and settlingName.

// postpone turns the journal into an entry of the history whose names the next Open makes
// durable. They are synced at once without a second name for the journal, and if D may have been
// changed so late that mayHaveLost would take the names for durable. If it fails, recovery completes
// the transaction.
func (t *transaction) postpone() error {
	entry := t.statePath(donePrefix + t.id)
	now := time.Now().Round(0) // by the clock of D's times, which goes on while the machine is asleep
	if t.journal.isLate(now) || t.files.Link(t.statePath(journalName), entry) != nil {
		if err := t.files.Sync(t.d); err != nil {
			return err
		}
		if err := t.files.Rename(t.statePath(journalName), entry); err != nil {
			return err
		}
		return t.files.Sync(t.s)
	}
	t.settling = true
	return t.files.Rename(t.statePath(journalName), t.statePath(settlingName))
}

// settleLast makes durable what postpone left. S is synced too, because the entry's name in
// the history must not be lost together with its other one.
func (d *Dir) settleLast() error {
	var g errgroup.Group
	g.Go(func() error { return ignoreNotExist(d.files.Sync(d.d)) })
	g.Go(func() error { return d.files.Sync(d.s) })
	if err := g.Wait(); err != nil {
		return err
	}
	d.settling = false
	return ignoreNotExist(d.files.Remove(d.statePath(settlingName)))
}

// unsettled returns the journal of a transaction that postpone left, nil if there is none. Its
// errors are those of readJournal.
func (d *Dir) unsettled() (*journal, error) {
	there, err := d.exists(d.statePath(settlingName))
	if !there {
		return nil, err
	}
	j, err := d.readJournal(settlingName)
	if _, damaged := errors.AsType[*JournalError](err); damaged {
		if entered, lookErr := d.isEntry(settlingName); lookErr != nil {
			return nil, lookErr
		} else if entered {
			return nil, d.settleLast() // History reports it
		}
	}
	return j, err
}

// finishSettling makes durable what postpone left. If a power cut may have lost names since, it
// completes the transaction once more.
func (d *Dir) finishSettling(ctx context.Context, j *journal) (Report, error) {
	lost, err := d.mayHaveLost(j)
	if err != nil {
		return Report{Outcome: Clean}, err
	}
	if !lost {
		return Report{Outcome: Clean}, d.settleLast()
	}
	r, err := d.rollForward(ctx, j)
	if err == nil {
		err = d.files.Remove(d.statePath(settlingName))
	}
	if len(r.Created)+len(r.Deleted)+len(r.Conflicts) == 0 { // nothing was lost
		r = Report{Outcome: Clean}
	}
	return r, err
}

// isEntry reports whether a file in S has a name in the history too.
func (d *Dir) isEntry(name string) (bool, error) {
	file, err := d.files.Lstat(d.statePath(name))
	if err != nil {
		return false, err
	}
	committed, err := d.committed()
	if err != nil {
		return false, err
	}
	for _, id := range committed {
		if entry, err := d.files.Lstat(d.statePath(donePrefix + id)); err != nil {
			return false, err
		} else if os.SameFile(file, entry) {
			return true, nil
		}
	}
	return false, nil
}

// lasting is the time after which a file system has written names by itself.
const lasting = time.Minute

// isLate reports whether a change of D at this time shows that the names of the transaction have lasted.
func (j *journal) isLate(changed time.Time) bool { return changed.After(j.Time.Add(lasting)) }

// mayHaveLost reports whether a power cut may have lost names of the transaction. It has not
// if a later transaction was committed, or if there are later changes of D on the disk: then
// a missing file was deleted by another program that has locked nothing, perhaps days ago.
func (d *Dir) mayHaveLost(j *journal) (bool, error) {
	if j.Life == d.life() {
		return false, nil
	}
	committed, err := d.committed()
	if err != nil || len(committed) > 0 && numberOf(committed[len(committed)-1]) > numberOf(j.ID) {
		return false, err
	}
	if !slices.Contains(committed, j.ID) {
		return true, nil // the name of its entry, which came later
	}
	info, err := d.files.Lstat(d.d)
	if err != nil {
		return false, ignoreNotExist(err) // its own name was synced before the commit
	}
	booted, known := vfs.Booted()
	return !known || !j.isLate(info.ModTime()) || !info.ModTime().Before(booted), nil
}

// settle reports whether nothing depends on the record of a committed transaction any more:
// the files that it created, if they still exist, are durable. If a sync of any file of D has failed, that
// cannot be found out in this life: the next sync may succeed without having written anything.
func (d *Dir) settle(id string) bool {
	j, err := d.recordOf(id)
	if err != nil {
		return isUseless(err) || errors.Is(err, ErrJournalVersion)
	}
	if !j.whole {
		return true
	}
	if slices.Contains(d.unread, id) {
		return false // a power cut may have damaged its files
	}
	var left []string
	for _, e := range j.Creates {
		path := d.filePath(e.Name)
		if there, err := d.exists(path); err != nil {
			return false
		} else if there {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return true
	}
	if life, err := d.files.ReadFile(d.statePath(failedName)); err == nil && string(life) == d.life() {
		return false
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	for _, path := range left {
		g.Go(func() error { return ignoreNotExist(d.syncFile(path)) })
	}
	return g.Wait() == nil
}

// syncFile syncs a file of D, and remembers if that fails.
func (d *Dir) syncFile(path string) error {
	err := d.files.Sync(path)
	if ignoreNotExist(err) != nil {
		_ = d.files.Overwrite(d.statePath(failedName), []byte(d.life()))
	}
	return err
}
