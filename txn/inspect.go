package txn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
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
	d.files, d.locker = readOnly{d.files}, noLocker{}
	if err := d.checkLockerDir(); err != nil {
		return Report{}, err
	}
	unlock, err := lockFile(ctx, o.fs, held, d.statePath(lockName), os.O_RDWR)
	if err == nil {
		defer unlock()
	}
	if ignoreMoved(err) != nil {
		return Report{}, err
	}
	return d.recover(ctx)
}

// ignoreMoved returns nil for safefile.ErrMoved: no process can have locked a file that does
// not exist.
func ignoreMoved(err error) error {
	if errors.Is(err, safefile.ErrMoved) {
		return nil
	}
	return err
}

// readOnly is a file system on which every change succeeds and has no effect.
type readOnly struct{ vfs.FS }

func (readOnly) Mkdir(string, fs.FileMode) error                     { return nil }
func (readOnly) Link(string, string) error                           { return nil }
func (readOnly) Rename(string, string) error                         { return nil }
func (readOnly) RenameNew(string, string) error                      { return nil }
func (readOnly) Remove(string) error                                 { return nil }
func (readOnly) WriteFile(string, string, []byte, fs.FileMode) error { return nil }
func (readOnly) WriteNew(string, []byte, fs.FileMode) error          { return nil }
func (readOnly) AppendLine(string, []byte) error                     { return nil }
func (readOnly) Overwrite(string, []byte) error                      { return nil }
func (readOnly) Chtimes(string, time.Time) error                     { return nil }
func (readOnly) Sync(string) error                                   { return nil }

// SetAside moves a journal that cannot be trusted, and the directories of
// transactions that did not commit, into a quarantine directory in S, where this package
// ignores them. It returns their new paths, or nil if there is no journal. Beside an
// error it returns the paths of what was already moved.
//
// Errors: those of Open except *JournalError and *FileError, ErrJournalTrusted, and
// errors.ErrUnsupported if the file system cannot rename without replacing.
func SetAside(ctx context.Context, dir string, opts ...Option) ([]string, error) {
	d, err := open(ctx, dir, newOptions(opts))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	j, err := d.readJournal(journalName)
	if j != nil && err == nil {
		return nil, ErrJournalTrusted
	}
	for _, name := range []string{committingName, settlingName} {
		if err == nil {
			_, err = d.readJournal(name)
		}
	}
	if _, untrusted := errors.AsType[*JournalError](err); !untrusted {
		return nil, err
	}
	return d.setAside(time.Now())
}

// setAside moves the journal last. As long as the journal exists, Open fails, so that
// setAside can be repeated after a crash.
func (d *Dir) setAside(now time.Time) ([]string, error) {
	dir, err := d.mkdirQuarantine("journal-" + unique(now))
	if err != nil {
		return nil, err
	}
	names, err := d.uncommitted()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{settlingName, committingName, journalName} {
		if there, err := d.exists(d.statePath(name)); err != nil {
			return nil, err
		} else if there {
			names = append(names, name)
		}
	}
	var moved []string
	for _, name := range names {
		to := filepath.Join(dir, name)
		if err := d.files.RenameNew(d.statePath(name), to); err != nil {
			return moved, err
		}
		moved = append(moved, to)
	}
	return moved, d.syncQuarantine(dir)
}

// uncommitted returns the names in S of the directories of transactions that did
// not commit.
func (d *Dir) uncommitted() ([]string, error) {
	begun, err := d.ids(txnPrefix)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, id := range begun {
		if committed, err := d.exists(d.statePath(donePrefix + id)); err != nil {
			return nil, err
		} else if !committed {
			names = append(names, txnPrefix+id)
		}
	}
	return names, nil
}
