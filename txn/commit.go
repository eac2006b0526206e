package txn

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Change is what a transaction does to D. A name may appear in it only once.
type Change struct {
	Creates []File
	Deletes []string // names of regular files in D
	Label   string   // kept for History; valid UTF-8

	// Prepare, if not nil, is called under all locks, when the journal is durable
	// and D is still unchanged. It may change files that are not part of the
	// transaction; a rollback does not undo that. dir is D; scratch is a directory
	// on the same file system, for temporary files. Its error rolls the transaction
	// back.
	Prepare func(fs vfs.FS, dir, scratch string) error
}

// File is a file to be created in D, where its name must be free.
type File struct {
	Name string
	Data []byte      // at most vfs.MaxFileBytes
	Mode fs.FileMode // permissions, whatever the umask
}

// Commit carries out the change, completely and durably, or not at all. It releases
// the locks taken by Lock. When ctx ends before the commit point, the transaction
// is rolled back.
//
// Errors: ErrClosed, ErrName, ErrTooMany, vfs.ErrFileTooLarge if a file or the
// journal would be larger than vfs.MaxFileBytes, vfs.ErrNotRegular if a file to be
// deleted is not a regular file, ErrChanged, ErrExists, ErrNoLinks,
// ErrRecoveryRequired, ErrUnknown, context.Cause(ctx), Prepare's, the Locker's, or
// the file system's. An error that concerns one file is a *FileError.
func (d *Dir) Commit(ctx context.Context, c Change) error {
	if d.closed {
		return ErrClosed
	}
	defer d.locker.Unlock()
	if err := d.check(&c); err != nil {
		return err
	}
	if err := d.create(); err != nil {
		return err
	}
	t := &transaction{Dir: d, id: newID(time.Now()), linked: map[string]bool{}, unlinked: map[string]bool{}}
	if err := t.run(ctx, c); err != nil {
		return err
	}
	_ = d.locker.Unlock() // before tidy, so that other writers wait less
	t.tidy()
	return nil
}

// check returns an error if c cannot be carried out whatever D holds.
func (d *Dir) check(c *Change) error {
	if len(c.Creates)+len(c.Deletes) > MaxEntries {
		return ErrTooMany
	}
	if name := filepath.Base(d.d); !isPlain(name) { // the journal holds it
		return fmt.Errorf("%s: %w", d.d, ErrName)
	}
	seen := make(map[string]bool)
	for _, f := range c.Creates {
		if err := checkName(f.Name, seen); err != nil {
			return &FileError{"create", f.Name, err}
		}
		if len(f.Data) > vfs.MaxFileBytes {
			return &FileError{"create", f.Name, vfs.ErrFileTooLarge}
		}
	}
	for _, name := range c.Deletes {
		if err := checkName(name, seen); err != nil {
			return &FileError{"delete", name, err}
		}
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

// transaction is a Change in progress.
type transaction struct {
	*Dir
	id       string
	journal  *journal
	dirs     []string               // its directories in S
	seen     map[string]fs.FileInfo // each file to be deleted as it was when its digest was taken
	linked   map[string]bool        // files that apply has linked into D
	unlinked map[string]bool        // files that apply has unlinked from D, or tried to
}

// path returns a path inside the transaction's directory.
func (t *transaction) path(elem ...string) string { return t.txnPath(t.id, elem...) }

func (t *transaction) run(ctx context.Context, c Change) error {
	if err := t.stage(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.apply(ctx, c); err != nil {
		return t.abort(ctx, t.changedIfGone(err))
	}
	if err := t.files.Rename(t.statePath(journalName), t.statePath(donePrefix+t.id)); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.files.Sync(t.s); err != nil { // barrier B4
		return fmt.Errorf("%w: syncing %s: %w", ErrUnknown, t.s, err)
	}
	return nil
}

// changedIfGone adds ErrChanged to an error that comes from the absence of D: another
// program has removed it.
func (t *transaction) changedIfGone(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if there, lookErr := t.exists(t.d); there || lookErr != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrChanged, err)
}

// abort undoes what run did. It returns the cause with what the caller has to know
// of the rollback: conflicts, or ErrRecoveryRequired if it failed.
func (t *transaction) abort(ctx context.Context, cause error) error {
	if t.journal == nil {
		t.discard(t.id)
		return cause
	}
	t.excludeWriters(ctx)
	deleted := slices.DeleteFunc(slices.Clone(t.journal.Deletes), func(e entry) bool { return !t.unlinked[e.Name] })
	created := func(e entry) (bool, error) { return t.linked[e.Name], nil }
	report, err := t.undo(t.journal, deleted, created)
	for _, c := range report.Conflicts {
		cause = fmt.Errorf("%w; %v", cause, c)
	}
	if err != nil {
		return fmt.Errorf("%w; %w: rolling back failed: %w", cause, ErrRecoveryRequired, err)
	}
	return cause
}

// excludeWriters takes the locks of the files that were created. A writer that has
// read such a file and writes it after its removal would create it again. Writers
// take milliseconds; the wait is bounded because a process that was told to end by a
// signal may be killed a second later. If the locks cannot be taken in time, the
// rollback goes ahead: rolling back without them is better than not rolling back.
func (t *transaction) excludeWriters(ctx context.Context) {
	if len(t.linked) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 500*time.Millisecond)
	defer cancel()
	_, _ = t.locker.Lock(ctx, slices.Collect(maps.Keys(t.linked)))
}

// newID returns a unique id; ids sort by time.
func newID(now time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:])
	return now.UTC().Format("20060102t150405") + fmt.Sprintf("-%09d-", now.Nanosecond()) + hex.EncodeToString(tail[:])
}
