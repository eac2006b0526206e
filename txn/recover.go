package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Outcome is the result of a recovery.
type Outcome string

const (
	Clean      Outcome = "clean"       // there was no interrupted transaction
	RolledBack Outcome = "rolled back" // an interrupted transaction was undone
	Completed  Outcome = "completed"   // a committed transaction was interrupted, or damaged by a power cut, and was completed
	Committed  Outcome = "committed"   // a transaction was interrupted after all its changes; S was tidied
)

// MarshalText implements encoding.TextMarshaler.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It returns an error unless
// text is one of the outcomes.
func (o *Outcome) UnmarshalText(text []byte) error {
	if !slices.Contains([]Outcome{Clean, RolledBack, Completed, Committed}, Outcome(text)) {
		return fmt.Errorf("%q is not the outcome of a recovery", text)
	}
	*o = Outcome(text)
	return nil
}

// Report is what a recovery found and did. Names are names in D.
type Report struct {
	Outcome   Outcome
	ID        string     // of the transaction, if there was one
	Time      time.Time  // when the transaction began, by the system clock
	Label     string     // of the transaction, as given in Change
	Restored  []string   // deleted files that the recovery restored
	Removed   []string   // created files that the recovery removed
	Created   []string   // files of a committed transaction that the recovery created, or whose bytes it restored
	Deleted   []string   // files that a committed transaction deletes and the recovery deleted
	Conflicts []Conflict // files that another program has changed since

	// Unreleased is the error of releasing the Locker's locks; see Dir.Close. Only
	// Recover sets it.
	Unreleased error
}

// Conflict is a file of a transaction that another program changed before the transaction
// was rolled back.
type Conflict struct {
	Name    string
	MovedTo string // its path in the quarantine; empty if it was left in D
	Why     string // for people
}

func (c Conflict) String() string {
	text := c.Name + ": " + c.Why
	if c.MovedTo != "" {
		text += "; it is now " + c.MovedTo
	}
	return text
}

// Recover finishes an interrupted transaction on dir and tidies its state
// directory, as Open does, and then releases its locks. With no state directory Recover
// returns Clean and creates nothing.
//
// Errors: those of Open.
func Recover(ctx context.Context, dir string, opts ...Option) (Report, error) {
	o := newOptions(opts)
	_, s, err := resolve(o.fs, dir)
	if err != nil {
		return Report{}, err
	}
	if _, err := o.fs.Lstat(s); errors.Is(err, fs.ErrNotExist) {
		return Report{Outcome: Clean}, nil
	}
	d, err := Open(ctx, dir, opts...)
	if err != nil {
		return Report{}, err
	}
	r := d.Recovered()
	r.Unreleased = d.Close()
	return r, nil
}

// recover finishes what was interrupted, if there is something, and tidies S.
func (d *Dir) recover(ctx context.Context) (Report, error) {
	r, err := d.finishInterrupted(ctx)
	if err != nil {
		return r, err
	}
	d.pending = false
	if err := d.repair(ctx, &r); err != nil {
		return r, err
	}
	id, err := d.tidy(true)
	if id != "" && r.Outcome == Clean {
		r.Outcome, r.ID = Committed, id
		if e, err := d.entry(id); err == nil {
			r.Time, r.Label = e.Time, e.Label
		}
	}
	return r, err
}

// finishInterrupted completes or rolls back what it finds under each of the names that a journal
// may have. There is more than one if a sync failed, or if an older program, which does not know
// committingName, was interrupted too.
func (d *Dir) finishInterrupted(ctx context.Context) (Report, error) {
	j, err := d.readJournal(journalName)
	if err != nil {
		return Report{Outcome: Clean}, err
	}
	r, err := d.finishJournal(ctx, j)
	if err != nil {
		return r, err
	}
	next, untouched, err := d.committing(r)
	if err != nil {
		return r, err
	}
	if next != nil {
		report := Report{Outcome: RolledBack, ID: next.ID, Time: next.Time, Label: next.Label}
		if !untouched {
			report, err = d.rollForward(ctx, next)
		}
		if err == nil {
			err = d.dropRecord()
		}
		if r.add(report); err != nil {
			return r, err
		}
	}
	if j != nil || next != nil { // the transaction before was settled, unless a power cut has brought its name back
		return r, ignoreNotExist(d.files.Remove(d.statePath(settlingName)))
	}
	last, err := d.unsettled()
	if last == nil || err != nil {
		return r, err
	}
	return d.finishSettling(ctx, last)
}

// finishJournal completes or rolls back the transaction of the journal, if there is one.
func (d *Dir) finishJournal(ctx context.Context, j *journal) (Report, error) {
	switch {
	case j == nil:
		return Report{Outcome: Clean}, nil
	case !j.whole:
		return d.rollBack(ctx, j)
	}
	if entered, err := d.isEntry(journalName); err != nil {
		return Report{Outcome: Clean}, err
	} else if !entered {
		return d.rollForward(ctx, j)
	}
	if err := d.files.Rename(d.statePath(journalName), d.statePath(settlingName)); err != nil { // postpone was interrupted
		return Report{Outcome: Clean}, err
	}
	return d.finishSettling(ctx, j)
}

// add adds what was done after r.
func (r *Report) add(o Report) {
	r.Outcome, r.ID, r.Time, r.Label = o.Outcome, o.ID, o.Time, o.Label
	r.Restored, r.Removed = append(r.Restored, o.Restored...), append(r.Removed, o.Removed...)
	r.Created, r.Deleted = append(r.Created, o.Created...), append(r.Deleted, o.Deleted...)
	r.Conflicts = append(r.Conflicts, o.Conflicts...)
}

// committing returns the record of a transaction that was interrupted while it committed.
// untouched reports that it has changed nothing in D: its process has died. After a power cut it
// may have gone on, because the name of its journal may be lost; so it may have in a copy of S.
// A torn record is removed, because nothing was changed before it was durable; and so is one
// that an older program, which does not know its name, has passed by. before is what was just
// finished. Its errors are those of readJournal.
func (d *Dir) committing(before Report) (j *journal, untouched bool, err error) {
	j, err = d.readJournal(committingName)
	if errors.Is(err, ErrJournalTorn) {
		return nil, false, d.dropRecord()
	}
	if j == nil || err != nil {
		return nil, false, err
	}
	info, err := d.files.Lstat(d.txnPath(j.ID))
	if ignoreNotExist(err) != nil {
		return nil, false, err
	}
	untouched = j.Life == d.life() && (err != nil || inodeOf(info) == j.Inode)
	committed, err := d.committed()
	if err != nil {
		return nil, false, err
	}
	if before.Outcome == Completed {
		committed = append(committed, before.ID) // Inspect does not make it an entry
	}
	for _, id := range committed {
		if id == j.ID && (untouched || id == before.ID) || id != j.ID && numberOf(id) >= numberOf(j.ID) {
			return nil, false, d.dropRecord()
		}
	}
	return j, untouched, nil
}

// dropRecord removes the record of a transaction that was interrupted while it committed.
func (d *Dir) dropRecord() error {
	if err := d.files.Remove(d.statePath(committingName)); err != nil {
		return err
	}
	return d.files.Sync(d.s)
}

// readJournal reads the journal with a name in S. It returns nil if there is none.
func (d *Dir) readJournal(name string) (*journal, error) {
	path := d.statePath(name)
	data, err := d.files.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, vfs.ErrNotRegular), errors.Is(err, vfs.ErrFileTooLarge):
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	case err != nil:
		return nil, err
	}
	j, err := parseJournal(data, d.fromState())
	if err == nil && name != journalName && !j.whole {
		err = fmt.Errorf("%w: it has no bytes, so its transaction cannot be completed", ErrJournalInvalid)
	}
	if err != nil {
		return nil, &JournalError{path, err}
	}
	err = d.checkTxnDir(j)
	if errors.Is(err, ErrUntrustedDir) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, errNotNamed) {
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	}
	return j, err
}

// errNotNamed is returned by checkTxnDir for a backup link that is not in the journal.
var errNotNamed = errors.New("the journal does not name it")

// checkTxnDir checks what exists of the transaction's directory. It returns
// ErrUntrustedDir or vfs.ErrNotRegular if one of its directories or files was replaced: a
// symbolic link would lead a rollback out of S. It returns errNotNamed for a backup link
// that the journal does not name: the rollback would not restore it, and would then remove
// it together with the directory.
func (d *Dir) checkTxnDir(j *journal) error {
	for _, dir := range []string{d.txnPath(j.ID), d.txnPath(j.ID, stagedName), d.txnPath(j.ID, backupName)} {
		if err := checkTrusted(d.files, dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	if _, err := d.checkNamed(d.txnPath(j.ID, stagedName), j.Creates); err != nil {
		return err
	}
	unnamed, err := d.checkNamed(d.txnPath(j.ID, backupName), j.Deletes)
	if unnamed != "" {
		return fmt.Errorf("%s: %w", unnamed, errNotNamed)
	}
	return err
}

// checkNamed returns vfs.ErrNotRegular if one of the entries exists in dir and is not a regular
// file. unnamed is the path of something in dir that is none of the entries.
func (d *Dir) checkNamed(dir string, entries []entry) (unnamed string, err error) {
	named := make(map[string]bool, len(entries))
	for _, e := range entries {
		named[e.Name] = true
	}
	there, err := d.files.ReadDir(dir)
	for _, e := range there {
		path := filepath.Join(dir, e.Name())
		if !named[e.Name()] {
			unnamed = path
		} else if !e.Type().IsRegular() {
			return "", fmt.Errorf("%s: %w", path, vfs.ErrNotRegular)
		}
	}
	return unnamed, ignoreNotExist(err)
}
