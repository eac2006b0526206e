package txn

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/statefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Dir is an open directory: this process holds its lock, and no interrupted
// transaction is left in it. A Dir is not safe for concurrent use.
type Dir struct {
	statefile.Store // of the state files in S

	files   vfs.FS
	held    *vfs.Held // D and S
	d, s    string    // absolute, with D's own symbolic link resolved
	history int
	keep    func(history []Entry) map[string][]string
	locker  Locker
	unlock  func()

	read map[string]Entry // of the history, by their ids

	unreleased error    // the errors of releasing the Locker's locks, for Close
	unsynced   []string // directories in which this Dir created a name, not yet synced
	recovered  Report
	dirty      bool // whether S may have changes that are not durable: its last user has not closed it, or this one failed
	pending    bool // whether a Commit left its journal
	closed     bool
}

// Open locks dir and finishes an interrupted transaction. It waits for the lock of S,
// and for those of the Locker, until ctx is done. dir need not exist: Open creates its
// state directory; dir itself is created by Lock, by Commit or by a rollback.
//
// Errors: ErrName, ErrLocked, ErrUntrustedDir, vfs.ErrNotRegular if the lock file is not
// a regular file, vfs.ErrNotOwn if it belongs to another user or has a second hard link,
// *JournalError, *FileError if the rollback fails on a file, context.Cause(ctx), the
// Locker's, or the file system's.
func Open(ctx context.Context, dir string, opts ...Option) (*Dir, error) {
	d, err := open(ctx, dir, newOptions(opts))
	if err != nil {
		return nil, err
	}
	if d.recovered, err = d.recover(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// open is Open without the recovery.
func open(ctx context.Context, dir string, o options) (*Dir, error) {
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return nil, err
	}
	held, unlock, changed, err := lockStateDir(ctx, o.fs, s)
	if err != nil {
		return nil, err
	}
	d := newDir(o, path, s)
	d.unlock, d.unsynced, d.dirty = unlock, changed, true
	if err := d.hold(held); err != nil {
		unlock()
		return nil, errors.Join(err, held.Close())
	}
	d.locker.Bind(d.files, path, d.statePath(lockerName))
	if err := d.prepare(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func newDir(o options, d, s string) *Dir {
	return &Dir{files: o.fs, d: d, s: s, history: o.history, keep: o.keep, locker: o.locker, unlock: func() {}, read: map[string]Entry{}}
}

const replacedNow = "another program has just replaced it with something else"

// hold makes every operation in D and S go through their descriptors: a user who may
// write to the parent directory can replace D or S at any time.
func (d *Dir) hold(held *vfs.Held) error {
	d.held = held
	d.use(vfs.At(d.files, held))
	err := held.Hold(d.d)
	if errors.Is(err, vfs.ErrNotDir) {
		return untrusted(d.d, replacedNow)
	}
	return err
}

// use sets the file system with which D and S are changed.
func (d *Dir) use(files vfs.FS) {
	d.files = files
	d.Store = statefile.Stored(statefile.In(files, d.s, lockName, journalName, tempName, quarantineName, lockerName), d.statePath(tempName))
}

// prepare runs once the lock is held: it records the holder, refreshes the
// modification time of S (cleanup tools remove stale directories) and releases the
// locks of dead processes.
func (d *Dir) prepare() error {
	last, err := d.files.ReadFile(d.statePath(lockName))
	if err != nil {
		return err
	}
	if err := writeHolder(d.files, d.s); err != nil {
		return err
	}
	if err := d.files.Chtimes(d.s, time.Now()); err != nil {
		return err
	}
	if err := d.checkLockerDir(); err != nil {
		return err
	}
	if err := d.locker.Reap(); err != nil {
		return err
	}
	d.dirty = len(last) > 0
	return nil
}

// checkLockerDir returns ErrUntrustedDir unless the Locker's directory can be trusted or
// does not exist. Lockers need not check it themselves.
func (d *Dir) checkLockerDir() error {
	return ignoreNotExist(checkTrusted(d.files, d.statePath(lockerName)))
}

// Path returns the absolute path of the directory, with its own symbolic link
// resolved.
func (d *Dir) Path() string { return d.d }

// Files returns the file system of this Dir. It resolves the paths below D and S from
// the directories that Open found or Lock created, even if another one is at its path now.
func (d *Dir) Files() vfs.FS { return d.files }

// Recovered returns the report of the recovery that Open made.
func (d *Dir) Recovered() Report { return d.recovered }

// Lock creates D if it does not exist and takes the Locker's locks on it and on
// the named files. They are held until Close or the end of Commit. kept reports
// whether the locks that were held before were held throughout the call; if not,
// what was read under them may be out of date. If an earlier Commit left its journal, Lock
// recovers first, which changes D and releases the locks.
//
// Errors: ErrClosed, the Locker's, or the file system's.
func (d *Dir) Lock(ctx context.Context, names ...string) (kept bool, err error) {
	if d.closed {
		return false, ErrClosed
	}
	pending := d.pending
	if pending {
		if _, err := d.recover(ctx); err != nil {
			return false, err
		}
	}
	kept, err = d.lock(ctx, names)
	return kept && !pending, err
}

func (d *Dir) lock(ctx context.Context, names []string) (kept bool, err error) {
	if err := d.create(); err != nil {
		return false, err
	}
	return d.locker.Lock(ctx, names)
}

// Close releases every lock. It returns the errors of the Locker's Unlock, here and in
// earlier calls of Commit; the next Open releases the locks that remained. Closing a
// closed Dir does nothing.
func (d *Dir) Close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	d.release()
	if !d.dirty && !d.pending {
		_ = d.files.Overwrite(d.statePath(lockName), nil) // else the next process syncs S, which it need not
	}
	d.unlock()
	d.Shut()
	_ = d.held.Close() // opened for reading only
	return d.unreleased
}

// release releases the Locker's locks.
func (d *Dir) release() { d.unreleased = errors.Join(d.unreleased, d.locker.Unlock()) }

// create creates D, with mode 0777 less the umask, and its missing parents.
func (d *Dir) create() error {
	changed, err := mkdirAll(d.files, d.d, 0o777)
	d.unsynced = append(d.unsynced, changed...)
	if errors.Is(err, vfs.ErrNotDir) {
		return untrusted(d.d, replacedNow)
	}
	return err
}

// statePath returns a path inside S.
func (d *Dir) statePath(elem ...string) string {
	return filepath.Join(append([]string{d.s}, elem...)...)
}

// txnPath returns a path inside the directory of a transaction.
func (d *Dir) txnPath(id string, elem ...string) string {
	return filepath.Join(append([]string{d.s, txnPrefix + id}, elem...)...)
}

// filePath returns the path of a file in D.
func (d *Dir) filePath(name string) string { return filepath.Join(d.d, name) }

// fromState returns the path of D relative to S, as journals contain it.
func (d *Dir) fromState() string { return "../" + filepath.Base(d.d) }

// exists reports whether path exists.
func (d *Dir) exists(path string) (bool, error) {
	_, err := d.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
