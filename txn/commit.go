package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Change is what a transaction does to D. A name may appear in it only once.
type Change struct {
	Creates  []File
	Restores []Restore
	Deletes  []string // names of regular files in D
	Mark     *Mark    // nil for none
	Label    string   // kept for History; valid UTF-8

	// Record is a text of the caller about this transaction, kept for History; valid
	// UTF-8. It is part of the journal, so that it is committed exactly when the
	// files are.
	Record string
}

// File is a file to be created in D, where its name must be free.
type File struct {
	Name string
	Data []byte      // at most vfs.MaxFileBytes
	Mode fs.FileMode // permissions, less the umask
}

// Restore brings back a file that a transaction had deleted and that is still kept;
// see Dir.History. Its name in D must be free. The restored file is a hard link to the
// backup, with the same bytes, inode, mode and modification time. The backup is then
// dropped: what is written to the restored file in place would change it too.
type Restore struct {
	ID   string // of the transaction that deleted it
	Name string
}

// Mark is a file of D that only ever rises, such as the largest number that was ever given.
// It replaces the one in D before the transaction creates a file, unless Reached returns
// true for the bytes that are there, nil if there are none. A rollback leaves it.
type Mark struct {
	File
	Reached func(now []byte) bool
}

// Commit carries out the change, completely and durably, or not at all. It releases
// the locks taken by Lock. When ctx ends before the commit point, the transaction
// is rolled back.
//
// Errors: ErrClosed, ErrName, ErrTooMany, vfs.ErrFileTooLarge if a file or the
// journal would be larger than vfs.MaxFileBytes, vfs.ErrNotRegular if a file to be
// deleted or restored is not a regular file, ErrNotKept, ErrUntrustedDir if D or the
// directory of a backup was replaced, ErrChanged, ErrExists, ErrNoLinks, ErrProtected,
// ErrRecoveryRequired, ErrUnknown, context.Cause(ctx), the Locker's, or the file
// system's. An error that concerns one file is a *FileError.
func (d *Dir) Commit(ctx context.Context, c Change) error {
	if d.closed {
		return ErrClosed
	}
	defer d.release()
	if err := d.check(&c); err != nil {
		return err
	}
	if d.pending { // an earlier Commit left its journal, which this one would replace, and there was no Lock since
		if _, err := d.recover(ctx); err != nil {
			return err
		}
	}
	if err := d.create(); err != nil {
		return err
	}
	committed, err := d.committed()
	if err != nil {
		return err
	}
	t := &transaction{Dir: d, id: newID(nextNumber(committed), time.Now()), first: len(committed) == 0, unlinked: map[string]bool{}}
	if err := t.run(ctx, c); err != nil {
		return err
	}
	d.release() // before what follows, so that other writers wait less
	for _, r := range c.Restores {
		_ = d.files.Remove(d.txnPath(r.ID, backupName, r.Name))
	}
	d.unstage(t.id)
	d.prune(append(committed, t.id))
	return nil
}

// transaction is a Change in progress.
type transaction struct {
	*Dir
	id       string
	first    bool // whether S has no committed transaction
	umask    fs.FileMode
	journal  *journal               // nil until it may be on the disk
	seen     map[string]fs.FileInfo // the state of each file to be deleted when its digest was taken
	linked   []string               // names that apply linked into D
	unlinked map[string]bool        // names that apply unlinked from D, or tried to

	probed sync.Once // links is known
	links  bool      // see canLink
}

// path returns a path inside the transaction's directory.
func (t *transaction) path(elem ...string) string { return t.txnPath(t.id, elem...) }

// run is the protocol. Until stage has returned, D is unchanged. Whatever fails before the journal has its new name, the
// transaction is rolled back.
func (t *transaction) run(ctx context.Context, c Change) error {
	if err := t.stage(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.apply(ctx, c); err != nil {
		return t.abort(ctx, t.changedIfGone(err))
	}
	journal, done := t.statePath(journalName), t.statePath(donePrefix+t.id)
	if err := t.files.Rename(journal, done); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.syncDir(t.s); err != nil { // barrier B4: the commit point
		// The rename may be lost, and no later sync would show it. A journal that is put back is
		// rolled back, and the sync that ends the rollback covers its removal alone.
		_ = t.files.Rename(done, journal)
		t.pending = true
		return fmt.Errorf("%w: syncing %s: %w", ErrUnknown, t.s, err)
	}
	return nil
}

// changedIfGone wraps err in ErrChanged if it is fs.ErrNotExist because another program
// removed or replaced D.
func (t *transaction) changedIfGone(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if there, lookErr := t.exists(t.d); lookErr != nil || there && t.held.Current(t.d) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrChanged, err)
}

// abort rolls back what run did. It returns cause, extended by the conflicts of the
// rollback and by ErrRecoveryRequired if the rollback failed.
func (t *transaction) abort(ctx context.Context, cause error) error {
	if t.journal == nil {
		t.discard(t.id)
		return cause
	}
	t.excludeWriters(ctx)
	u := &rollback{Dir: t.Dir, j: t.journal, unlinked: func(e entry) bool { return t.unlinked[e.Name] }}
	err := u.run()
	t.pending = err != nil
	for _, c := range u.report.Conflicts {
		cause = fmt.Errorf("%w; %v", cause, c)
	}
	if err != nil {
		return fmt.Errorf("%w; %w: rolling back failed: %w", cause, ErrRecoveryRequired, err)
	}
	return cause
}

// excludeWriters takes the locks of the files that were created. A writer that has read
// such a file would create it again by writing it after its removal. Writers hold their
// locks for milliseconds. The wait is bounded because a process that got a signal to
// terminate may be killed a second later. If the locks cannot be taken in time, the
// rollback goes ahead without them, which is better than no rollback.
func (t *transaction) excludeWriters(ctx context.Context) {
	if len(t.linked) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
	defer cancel()
	_, _ = t.locker.Lock(ctx, t.linked)
}

// check returns an error if c cannot be carried out, independently of what is in D.
func (d *Dir) check(c *Change) error {
	if len(c.Creates)+len(c.Restores)+len(c.Deletes) > MaxEntries {
		return ErrTooMany
	}
	seen := make(map[string]bool)
	if c.Mark != nil {
		if err := checkFile(c.Mark.File, seen); err != nil {
			return &FileError{"create", c.Mark.Name, err}
		}
	}
	for _, f := range c.Creates {
		if err := checkFile(f, seen); err != nil {
			return &FileError{"create", f.Name, err}
		}
	}
	for _, r := range c.Restores {
		if err := checkName(r.Name, seen); err != nil {
			return &FileError{"restore", r.Name, err}
		}
		if err := d.checkKept(r); err != nil {
			return &FileError{"restore", r.Name, err}
		}
	}
	for _, name := range c.Deletes {
		if err := checkName(name, seen); err != nil {
			return &FileError{"delete", name, err}
		}
	}
	return nil
}

// checkKept returns ErrNotKept if there is no backup of the file, ErrUntrustedDir if the
// backup's directory was replaced, and vfs.ErrNotRegular if the backup was.
func (d *Dir) checkKept(r Restore) error {
	if !isID(r.ID) {
		return fmt.Errorf("%w: %q is not the id of a transaction", ErrNotKept, r.ID)
	}
	if committed, err := d.exists(d.statePath(donePrefix + r.ID)); err != nil || !committed {
		return cmp.Or(err, fmt.Errorf("%w: transaction %s", ErrNotKept, r.ID))
	}
	for _, dir := range []string{d.txnPath(r.ID), d.txnPath(r.ID, backupName)} {
		if err := checkTrusted(d.files, dir); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", ErrNotKept, err)
		} else if err != nil {
			return err
		}
	}
	path := d.txnPath(r.ID, backupName, r.Name)
	info, err := d.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: transaction %s did not delete it", ErrNotKept, r.ID)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, vfs.ErrNotRegular)
	}
	return err
}

func checkFile(f File, seen map[string]bool) error {
	if err := checkName(f.Name, seen); err != nil {
		return err
	}
	if len(f.Data) > vfs.MaxFileBytes {
		return vfs.ErrFileTooLarge
	}
	return nil
}

func checkName(name string, seen map[string]bool) error {
	if !isPlain(name) {
		return ErrName
	}
	if seen[name] {
		return fmt.Errorf("%w: it is used twice", ErrName)
	}
	seen[name] = true
	return nil
}
