package txn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Outcome says in one word what recovery found and did.
type Outcome string

const (
	Clean      Outcome = "clean"       // nothing was left over
	RolledBack Outcome = "rolled back" // an interrupted transaction was undone
	Committed  Outcome = "committed"   // a committed one was interrupted while tidying; that is done now
)

// Report is what a recovery found and did. All names are of files in D.
type Report struct {
	Outcome   Outcome
	ID        string     // of the transaction, if there was one
	Restored  []string   // deleted by it and put back
	Removed   []string   // created by it and taken out
	Conflicts []Conflict // changed by someone else since
}

// Conflict is a file that was changed by someone else after a transaction had
// been interrupted, and so stood in the way of its rollback.
type Conflict struct {
	Name    string
	MovedTo string // where it is now; empty if it was left in D
	Why     string
}

// Recover opens dir as Open does, which finishes what was interrupted, and
// closes it again. A directory without a sibling is clean and stays without.
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
	return d.Recovered(), d.Close()
}

// recover rolls back what the journal says, if there is one, and tidies S.
func (d *Dir) recover(ctx context.Context) (Report, error) {
	j, err := d.readJournal()
	if err != nil {
		return Report{}, err
	}
	r := Report{Outcome: Clean}
	if j != nil {
		if r, err = d.rollBack(ctx, j); err != nil {
			return r, err
		}
	}
	if id := d.tidy(); id != "" && j == nil {
		r.Outcome, r.ID = Committed, id
	}
	return r, nil
}

// readJournal returns nil if there is no journal.
func (d *Dir) readJournal() (*journal, error) {
	path := d.in(journalName)
	data, err := d.files.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, vfs.ErrNotRegular), errors.Is(err, vfs.ErrFileTooLarge):
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	case err != nil:
		return nil, err
	}
	j, err := parseJournal(data, d.relative())
	if err != nil {
		return nil, &JournalError{path, err}
	}
	err = d.checkBox(j)
	if errors.Is(err, ErrUntrustedDir) || errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, errUnnamed) {
		return nil, &JournalError{path, fmt.Errorf("%w: %w", ErrJournalInvalid, err)}
	}
	return j, err
}

// errUnnamed means that a file is kept that the journal does not name.
var errUnnamed = errors.New("the journal does not name it")

// checkBox returns ErrUntrustedDir, vfs.ErrNotRegular or errUnnamed unless what the
// transaction has in S, as far as it is there, is what this package puts there. A
// symbolic link in its place would lead a rollback out of S, and a kept file that
// is not restored would be lost with the rest.
func (d *Dir) checkBox(j *journal) error {
	for _, dir := range []string{d.of(j.ID), d.of(j.ID, newName), d.of(j.ID, oldName)} {
		if err := checkOwn(d.files, dir); ignoreNotExist(err) != nil {
			return err
		}
	}
	for _, e := range j.Creates {
		if err := d.checkRegular(d.of(j.ID, newName, e.Name)); err != nil {
			return err
		}
	}
	kept := make(map[string]bool, len(j.Deletes))
	for _, e := range j.Deletes {
		kept[e.Name] = true
		if err := d.checkRegular(d.of(j.ID, oldName, e.Name)); err != nil {
			return err
		}
	}
	there, err := d.files.ReadDir(d.of(j.ID, oldName))
	for _, e := range there {
		if !kept[e.Name()] {
			return fmt.Errorf("%s: %w", d.of(j.ID, oldName, e.Name()), errUnnamed)
		}
	}
	return ignoreNotExist(err)
}

func (d *Dir) checkRegular(path string) error {
	info, err := d.files.Lstat(path)
	if err != nil {
		return ignoreNotExist(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, vfs.ErrNotRegular)
	}
	return nil
}

// rollBack undoes an interrupted transaction under the same locks as it had.
func (d *Dir) rollBack(ctx context.Context, j *journal) (Report, error) {
	if _, err := d.Lock(ctx, j.names()...); err != nil {
		return Report{}, err
	}
	defer d.locker.Unlock()
	return d.undo(j, func(e entry) (bool, error) { return d.isOurs(j, e) })
}

// isOurs reports whether the file of that name in D is the one the interrupted
// transaction made: it is the staged file. Bytes alone are proof enough if the
// staged file is not there to compare with, or if S is a copy.
func (d *Dir) isOurs(j *journal, e entry) (bool, error) {
	here, err := d.files.Lstat(d.at(e.Name))
	if err != nil {
		return false, ignoreNotExist(err)
	}
	staged, err := d.files.Lstat(d.of(j.ID, newName, e.Name))
	if err == nil && os.SameFile(here, staged) {
		return true, nil
	}
	if ignoreNotExist(err) != nil {
		return false, err
	}
	if err == nil {
		box, err := d.files.Lstat(d.of(j.ID))
		if err != nil || inodeOf(box) == j.Inode {
			return false, err
		}
	}
	same, err := d.holds(d.at(e.Name), e)
	return same, err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// holds reports whether the file at path has the bytes of the entry. Something
// that is no regular file has not.
func (d *Dir) holds(path string, e entry) (bool, error) {
	data, err := d.files.ReadFile(path)
	if errors.Is(err, vfs.ErrNotRegular) || errors.Is(err, vfs.ErrFileTooLarge) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return e.holds(data), nil
}

// undo brings D back to what it was: first every deleted file is put back, then
// every created one that is ours is taken out. The journal goes last. Dying
// anywhere in it is just another start of it.
func (d *Dir) undo(j *journal, ours func(entry) (bool, error)) (Report, error) {
	u := &undoing{Dir: d, j: j, report: Report{Outcome: RolledBack, ID: j.ID}}
	for _, e := range j.Deletes {
		if err := u.restore(e); err != nil {
			return u.report, &FileError{"restore", e.Name, err}
		}
	}
	for _, e := range j.Creates {
		mine, err := ours(e)
		if err == nil && mine {
			err = u.withdraw(e)
		}
		if err != nil {
			return u.report, &FileError{"remove", e.Name, err}
		}
	}
	return u.report, u.finish()
}

type undoing struct {
	*Dir
	j      *journal
	report Report
}

func (u *undoing) old(name string) string { return u.of(u.j.ID, oldName, name) }

// restore puts a deleted file back, the very inode. What has taken its place
// meanwhile is moved aside.
func (u *undoing) restore(e entry) error {
	kept, err := u.files.Lstat(u.old(e.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // never kept durably, so never deleted by us
	}
	if err != nil {
		return err
	}
	here, err := u.files.Lstat(u.at(e.Name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case os.SameFile(here, kept):
		return u.noteIfChanged(e)
	default:
		if same, err := u.holds(u.at(e.Name), e); same || err != nil {
			return err
		}
		if err := u.moveAside(e.Name, "it took the place of a file that was being deleted"); err != nil {
			return err
		}
	}
	if err := u.files.Link(u.old(e.Name), u.at(e.Name)); err != nil {
		return err
	}
	u.report.Restored = append(u.report.Restored, e.Name)
	same, err := u.holds(u.old(e.Name), e)
	if err == nil && !same {
		u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: e.Name, Why: "it was changed while it was out of its place and was put back so"})
	}
	return err
}

// noteIfChanged reports a file that was never gone and was written to since: it
// stays as it is, for that is somebody's newer word.
func (u *undoing) noteIfChanged(e entry) error {
	same, err := u.holds(u.at(e.Name), e)
	if err == nil && !same {
		u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: e.Name, Why: "it was changed after the interruption and was left so"})
	}
	return err
}

// withdraw takes a file out that the transaction created, unless somebody wrote
// to it since: then it is moved aside.
func (u *undoing) withdraw(e entry) error {
	same, err := u.holds(u.at(e.Name), e)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !same {
		return u.moveAside(e.Name, "it was created by the interrupted transaction and changed since")
	}
	if err := u.files.Remove(u.at(e.Name)); err != nil {
		return ignoreNotExist(err)
	}
	u.report.Removed = append(u.report.Removed, e.Name)
	return nil
}

// moveAside moves a file of D into S/conflicts. It is linked there and synced
// before its name in D goes, for a power cut may split a rename between two
// directories and lose both names.
func (u *undoing) moveAside(name, why string) error {
	dir, err := u.mkdirIn(conflictsName, u.j.ID)
	if err != nil {
		return err
	}
	target, err := u.linkAside(name, dir)
	if err != nil {
		return err
	}
	for _, d := range []string{dir, u.in(conflictsName), u.s} {
		if err := u.files.Sync(d); err != nil {
			return err
		}
	}
	if err := u.files.Remove(u.at(name)); ignoreNotExist(err) != nil {
		return err
	}
	u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: name, MovedTo: target, Why: why})
	return nil
}

// linkAside links a file of D into dir, under a name that is free or that an
// interrupted try has given it already. A directory, which cannot be linked, is
// renamed.
func (u *undoing) linkAside(name, dir string) (string, error) {
	here, err := u.files.Lstat(u.at(name))
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		target := filepath.Join(dir, name)
		if n > 0 {
			target += "." + strconv.Itoa(n)
		}
		if there, err := u.files.Lstat(target); err == nil && os.SameFile(here, there) {
			return target, nil
		}
		err := u.put(here, u.at(name), target)
		if !errors.Is(err, fs.ErrExist) {
			return target, err
		}
	}
}

func (u *undoing) put(info fs.FileInfo, from, to string) error {
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

// finish makes the rollback durable, and only then lets the journal go.
func (u *undoing) finish() error {
	if err := u.files.Sync(u.d); ignoreNotExist(err) != nil {
		return err
	}
	if err := u.files.Remove(u.in(journalName)); ignoreNotExist(err) != nil {
		return err
	}
	if err := u.files.Sync(u.s); err != nil {
		return err
	}
	u.discard(u.j.ID)
	return nil
}
