package txn

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Change is what a transaction does to D. A name may be in it once.
type Change struct {
	Creates []File
	Deletes []string // names of regular files in D
	Label   string   // kept with the transaction for History; any text

	// Prepare, if not nil, is called under all locks, when the journal is durable
	// and D is still unchanged. It may change what is not part of the transaction;
	// that is not undone by a rollback. dir is D; scratch is a directory on the
	// same file system, for temporary files. Its error rolls the transaction back.
	Prepare func(fs vfs.FS, dir, scratch string) error
}

// File is a file to be created in D, where its name must be free.
type File struct {
	Name string
	Data []byte
	Mode fs.FileMode // permissions, whatever the umask
}

// Commit carries the change out: all of it and durably, or none of it. Once it
// has returned, the locks taken by Lock are released. Ending ctx stops it at
// once while it stages and rolls it back while it applies.
//
// Errors: ErrClosed, ErrName, ErrTooMany, ErrChanged, ErrExists, ErrNoLinks,
// ErrRecoveryRequired, ErrUnknown, context.Cause(ctx), the Locker's, or the file
// system's. One that concerns a single file is a *FileError.
func (d *Dir) Commit(ctx context.Context, c Change) error {
	if d.closed {
		return ErrClosed
	}
	defer d.locker.Unlock()
	if err := c.check(); err != nil {
		return err
	}
	changed, err := mkdirAll(d.files, d.d, 0o755)
	d.unsynced = append(d.unsynced, changed...)
	if err != nil {
		return err
	}
	t := &transaction{Dir: d, id: newID(time.Now()), linked: map[string]bool{}}
	if err := t.run(ctx, c); err != nil {
		return err
	}
	_ = d.locker.Unlock()
	t.tidy()
	return nil
}

func (c *Change) check() error {
	if len(c.Creates)+len(c.Deletes) > MaxEntries {
		return ErrTooMany
	}
	seen := make(map[string]bool)
	check := func(op, name string) error {
		if !isPlain(name) {
			return &FileError{op, name, ErrName}
		}
		if seen[name] {
			return &FileError{op, name, fmt.Errorf("%w: named twice", ErrName)}
		}
		seen[name] = true
		return nil
	}
	for _, f := range c.Creates {
		if err := check("create", f.Name); err != nil {
			return err
		}
		if len(f.Data) > vfs.MaxFileBytes {
			return &FileError{"create", f.Name, vfs.ErrFileTooLarge}
		}
	}
	for _, name := range c.Deletes {
		if err := check("delete", name); err != nil {
			return err
		}
	}
	return nil
}

// transaction is a Change on its way.
type transaction struct {
	*Dir
	id      string
	journal *journal
	dirs    []string               // its directories in S
	kept    map[string]fs.FileInfo // what each file to be deleted was when it was looked at
	linked  map[string]bool        // files that apply has linked into D
}

func (t *transaction) run(ctx context.Context, c Change) error {
	if err := t.stage(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.apply(ctx, c); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.files.Rename(t.in(journalName), t.in(donePrefix+t.id)); err != nil {
		return t.abort(ctx, err)
	}
	if err := t.files.Sync(t.s); err != nil {
		return fmt.Errorf("%w: syncing %s: %w", ErrUnknown, t.s, err)
	}
	return nil
}

// abort undoes what run did. Its error is the cause, and ErrRecoveryRequired
// beside it if undoing failed.
func (t *transaction) abort(ctx context.Context, cause error) error {
	if t.journal == nil {
		t.discard(t.id)
		return cause
	}
	t.keepWritersOut(ctx)
	ours := func(e entry) (bool, error) { return t.linked[e.Name], nil }
	if _, err := t.undo(t.journal, ours); err != nil {
		return fmt.Errorf("%w; %w: rolling back failed: %w", cause, ErrRecoveryRequired, err)
	}
	return cause
}

// rollbackWait bounds the wait for writers that have begun to write to a file
// that is about to be taken out again. They need milliseconds; whoever ends a
// process by a signal may kill it a second later.
const rollbackWait = 500 * time.Millisecond

// keepWritersOut takes the locks of the files that were created. A writer that has
// read one and not yet written it would make it anew after it was taken out. If
// the locks cannot be had, undoing without them is still better than not undoing.
func (t *transaction) keepWritersOut(ctx context.Context) {
	if len(t.linked) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWait)
	defer cancel()
	_, _ = t.locker.Lock(ctx, slices.Collect(maps.Keys(t.linked)))
}

// newID returns an id that sorts by time and that no other transaction has.
func newID(now time.Time) string {
	var tail [4]byte
	_, _ = rand.Read(tail[:])
	return now.UTC().Format("20060102t150405") + fmt.Sprintf("-%09d-", now.Nanosecond()) + hex.EncodeToString(tail[:])
}
