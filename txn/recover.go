package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// rollBack undoes an interrupted transaction under the locks of its files.
func (d *Dir) rollBack(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.Lock(ctx, namesOf(j.entries())...); err != nil {
		return Report{}, err
	}
	defer d.release()
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
		if err := u.restore(e); err != nil {
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

// maxTries is how often restore tries again after another program, which takes no lock,
// created or deleted the file or deleted D between two operations. If that happens more
// often, the cause is probably a broken disk.
const maxTries = 10

// restore links a deleted file back, with its inode. A file that another program created
// under its name is moved to the quarantine.
func (u *rollback) restore(e entry) (err error) {
	for range maxTries {
		err = u.tryRestore(e)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := u.create(); err != nil {
			return err
		}
	}
	return err
}

// tryRestore returns fs.ErrNotExist or fs.ErrExist if D changed while it ran.
func (u *rollback) tryRestore(e entry) error {
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

// quarantine moves a file of D into S/conflicts. It returns fs.ErrNotExist if the file does not exist.
func (u *rollback) quarantine(name, why string) error {
	if err := u.keepAside(name, why); err != nil {
		return err
	}
	return ignoreNotExist(u.files.Remove(u.filePath(name)))
}

// keepAside gives a file of D a name in S/conflicts, and reports it as moved there: its name in D is
// removed or replaced next. It syncs the file and the name before, because a power cut during a
// rename between two directories may lose both names. It returns fs.ErrNotExist if the file does
// not exist.
func (u *rollback) keepAside(name, why string) error {
	dir, err := u.mkdirQuarantine(u.j.ID)
	if err != nil {
		return err
	}
	target, err := u.linkInto(dir, name)
	if err != nil {
		return err
	}
	if err := u.syncQuarantine(dir); err != nil {
		return err
	}
	u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: name, MovedTo: target, Why: why})
	return nil
}

// syncQuarantine makes the names in a directory of mkdirQuarantine durable.
func (d *Dir) syncQuarantine(dir string) error {
	for _, dir := range []string{dir, filepath.Dir(dir), d.s} {
		if err := d.files.Sync(dir); err != nil {
			return err
		}
	}
	return nil
}

// linkInto links a file of D into dir, under a free name, and returns its path there. If an
// interrupted attempt has linked it already, linkInto returns that path. A directory
// cannot be linked and is renamed.
func (u *rollback) linkInto(dir, name string) (string, error) {
	here, err := u.files.Lstat(u.filePath(name))
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		target := filepath.Join(dir, name)
		if n > 0 {
			target += "." + strconv.Itoa(n)
		}
		there, err := u.files.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			return target, u.addName(here, u.filePath(name), target)
		}
		if err != nil || os.SameFile(here, there) {
			return target, err
		}
	}
}

// addName links the file described by info to a new name, or renames it if it is a
// directory. It syncs a regular file, because the program that wrote it may not have.
func (u *rollback) addName(info fs.FileInfo, from, to string) error {
	if info.IsDir() {
		return u.files.RenameNew(from, to)
	}
	if err := u.files.Link(from, to); err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return u.files.Sync(to)
	}
	return nil
}

// finish makes the rollback durable and then removes the journal.
func (u *rollback) finish() error {
	if u.j.whole { // nothing synced the restored files before they were deleted
		for _, name := range u.report.Restored {
			if err := u.files.Sync(u.filePath(name)); ignoreNotExist(err) != nil {
				return err
			}
		}
	}
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
