package txn

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Inspect reports what Recover would find and do, and changes nothing: it runs the
// same code on a file system that ignores changes. It locks S meanwhile, if S has a lock
// file, and does not use the Locker.
//
// Errors: those of Open except the Locker's.
func Inspect(ctx context.Context, dir string, opts ...Option) (Report, error) {
	o := newOptions(opts)
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return Report{}, err
	}
	held, err := holdStateDir(o.fs, s)
	if err != nil {
		return Report{Outcome: Clean}, ignoreNotExist(err)
	}
	d := newDir(o, path, s)
	defer func() { _ = d.held.Close() }()
	if err := d.hold(held); err != nil {
		return Report{}, err
	}
	d.use(readOnly{d.files})
	d.locker = noLocker{}
	if err := d.checkLockerDir(); err != nil {
		return Report{}, err
	}
	unlock, err := lockFile(ctx, d.files, s, false)
	if err == nil {
		defer unlock()
	} else if !errors.Is(err, vfs.ErrMoved) { // no process can have locked a file that does not exist
		return Report{}, err
	}
	return d.recover(ctx)
}

// readOnly is a file system on which every change succeeds and has no effect.
type readOnly struct{ vfs.FS }

func (readOnly) Mkdir(string, fs.FileMode) error            { return nil }
func (readOnly) Link(string, string) error                  { return nil }
func (readOnly) Rename(string, string) error                { return nil }
func (readOnly) RenameNew(string, string) error             { return nil }
func (readOnly) Remove(string) error                        { return nil }
func (readOnly) WriteNew(string, []byte, fs.FileMode) error { return nil }
func (readOnly) WritePending(name string, _ []byte, _ fs.FileMode) (vfs.Unsynced, error) {
	return nothing(name), nil
}
func (readOnly) StartSync(name string) (vfs.Unsynced, error) { return nothing(name), nil }
func (readOnly) AppendLine(string, []byte) error             { return nil }
func (readOnly) Overwrite(string, []byte) error              { return nil }
func (readOnly) Chtimes(string, time.Time) error             { return nil }
func (readOnly) Sync(string) error                           { return nil }

// nothing is a file that was not written.
type nothing string

func (n nothing) Path() string { return string(n) }
func (nothing) Wait() error    { return nil }
func (nothing) Sync() error    { return nil }
func (nothing) Close() error   { return nil }

// SetAside moves a journal that cannot be trusted, and the directories of transactions that
// did not commit, into a quarantine directory in S, where this package ignores them. It
// returns their new paths, or nil if there is no such journal. Beside an error it returns the
// paths that it has already made.
//
// Errors: those of Open except *JournalError and *FileError, and ErrJournalTrusted.
func SetAside(ctx context.Context, dir string, opts ...Option) ([]string, error) {
	d, err := open(ctx, dir, newOptions(opts))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	j, err := d.readJournal()
	if _, untrusted := errors.AsType[*JournalError](err); untrusted {
		return d.setAside(time.Now())
	}
	if err == nil && j != nil {
		err = ErrJournalTrusted
	}
	return nil, err
}

// setAside removes nothing before its name in the quarantine is durable, and the journal first:
// what is left then is removed by the next Open. As long as there is a journal, Open fails, so that
// setAside can be repeated after a crash.
func (d *Dir) setAside(now time.Time) (moved []string, err error) {
	d.dirty = true
	dir, err := d.mkdirQuarantine("journal-" + unique(now))
	if err != nil {
		return nil, err
	}
	entries, err := d.files.ReadDir(d.s)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, id := range uncommitted(entries) {
		dirs = append(dirs, txnPrefix+id)
	}
	for _, name := range append(dirs, journalName) {
		to := filepath.Join(dir, name)
		if err := d.linkTree(d.statePath(name), to); err != nil {
			return moved, err
		}
		moved = append(moved, to)
	}
	if err := d.syncQuarantine(dir); err != nil {
		return moved, err
	}
	journal := d.statePath(journalName)
	_ = d.removeTree(journal) // another program may have put a directory there
	if err := d.files.Remove(journal); ignoreNotExist(err) != nil {
		return moved, err
	}
	if err := d.syncDir(d.s); err != nil {
		return moved, err
	}
	for _, name := range dirs {
		_ = d.removeTree(d.statePath(name))
	}
	return moved, nil
}

// linkTree gives a file, or each file below a directory, a second name, in directories that it makes
// and syncs. A file that cannot be linked is renamed.
func (d *Dir) linkTree(from, to string) error {
	info, err := d.files.Lstat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if d.files.Link(from, to) == nil {
			return nil
		}
		return d.files.Rename(from, to)
	}
	if err := d.files.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := d.files.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := d.linkTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return d.syncDir(to)
}
