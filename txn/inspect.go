package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Inspect reports what Recover would find and do, and changes nothing: it goes
// the same way on a file system that only reads. It locks S while it looks, if S
// has a lock file, but takes none of the other writers' locks.
func Inspect(ctx context.Context, dir string, opts ...Option) (Report, error) {
	o := newOptions(opts)
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return Report{}, err
	}
	d := &Dir{files: readOnly{o.fs}, d: path, s: s, history: o.history, locker: noLocker{}}
	if there, err := d.exists(s); err != nil || !there {
		return Report{Outcome: Clean}, err
	}
	if err := errors.Join(checkOwn(o.fs, s), d.checkScratch()); err != nil {
		return Report{}, err
	}
	unlock, err := lockFile(ctx, o.fs, d.in(lockName), os.O_RDWR)
	if errors.Is(err, errGone) { // there is none, and so nobody holds it
		return d.foresee()
	}
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	return d.foresee()
}

func (d *Dir) foresee() (Report, error) {
	j, err := d.readJournal()
	if err != nil {
		return Report{}, err
	}
	if j != nil {
		return d.undo(j, func(e entry) (bool, error) { return d.isOurs(j, e) })
	}
	if id := d.tidy(); id != "" {
		return Report{Outcome: Committed, ID: id}, nil
	}
	return Report{Outcome: Clean}, nil
}

// readOnly is a file system on which every change succeeds and none happens.
type readOnly struct{ vfs.FS }

func (readOnly) Mkdir(string, fs.FileMode) error                     { return nil }
func (readOnly) Link(string, string) error                           { return nil }
func (readOnly) Rename(string, string) error                         { return nil }
func (readOnly) RenameNew(string, string) error                      { return nil }
func (readOnly) Remove(string) error                                 { return nil }
func (readOnly) WriteFile(string, string, []byte, fs.FileMode) error { return nil }
func (readOnly) Overwrite(string, []byte) error                      { return nil }
func (readOnly) Chtimes(string, time.Time) error                     { return nil }
func (readOnly) Sync(string) error                                   { return nil }

// SetAside moves a journal that cannot be trusted, and what its transaction has
// in S, into S/conflicts, where nothing acts on it again. It returns their new
// paths; none if there is no journal. A journal that can be trusted is refused
// with fs.ErrInvalid: Recover is what it needs.
func SetAside(ctx context.Context, dir string, opts ...Option) ([]string, error) {
	d, err := open(ctx, dir, newOptions(opts))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	j, err := d.readJournal()
	if j != nil {
		return nil, fmt.Errorf("the journal of %s is sound: %w", d.d, fs.ErrInvalid)
	}
	if _, untrusted := errors.AsType[*JournalError](err); !untrusted {
		return nil, err
	}
	return d.setAside(time.Now())
}

// setAside moves the directories first: as long as the journal stands nothing
// else in S is touched, so that it can be done again after a crash.
func (d *Dir) setAside(now time.Time) ([]string, error) {
	box, err := d.mkdirIn(conflictsName, "journal-"+newID(now))
	if err != nil {
		return nil, err
	}
	names, err := d.orphans()
	if err != nil {
		return nil, err
	}
	var moved []string
	for _, name := range append(names, journalName) {
		to := box + "/" + name
		if err := d.files.RenameNew(d.in(name), to); err != nil {
			return moved, err
		}
		moved = append(moved, to)
	}
	for _, dir := range []string{box, d.in(conflictsName), d.s} {
		if err := d.files.Sync(dir); err != nil {
			return moved, err
		}
	}
	return moved, nil
}

// orphans returns the directories in S of transactions that are not committed.
func (d *Dir) orphans() ([]string, error) {
	began, err := d.ids(txnPrefix)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, id := range began {
		if committed, err := d.exists(d.in(donePrefix + id)); err != nil {
			return nil, err
		} else if !committed {
			names = append(names, txnPrefix+id)
		}
	}
	return names, nil
}
