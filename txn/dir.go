package txn

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Dir is a directory whose lock this process holds and which no interrupted
// transaction has left half changed. It is for one goroutine. Close releases it.
type Dir struct {
	files   vfs.FS
	d, s    string // absolute, D's own symbolic link resolved
	history int
	locker  Locker
	unlock  func()

	unsynced  []string // directories whose names this Dir changed and nobody synced
	recovered Report
	closed    bool
}

// Open locks dir and recovers it first if a transaction on it was interrupted.
// It waits for both as long as ctx allows. dir need not exist; what is created
// is its sibling, and dir only by Lock or Commit.
//
// Errors: ErrLocked, ErrUntrustedDir, *JournalError, the Locker's, or the file
// system's.
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

func open(ctx context.Context, dir string, o options) (*Dir, error) {
	path, s, err := resolve(o.fs, dir)
	if err != nil {
		return nil, err
	}
	unlock, changed, err := lockSibling(ctx, o.fs, s)
	if err != nil {
		return nil, err
	}
	d := &Dir{files: o.fs, d: path, s: s, history: o.history, locker: o.locker, unlock: unlock, unsynced: changed}
	d.locker.Bind(o.fs, path, d.in(scratchName))
	if err := d.settleIn(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// settleIn does what comes first under the lock. The client removes a sibling
// whose modification time is a month old, hence the touch.
func (d *Dir) settleIn() error {
	if err := writeHolder(d.files, d.s); err != nil {
		return err
	}
	if err := d.files.Chtimes(d.s, time.Now()); err != nil {
		return err
	}
	if err := d.checkScratch(); err != nil {
		return err
	}
	return d.locker.Reap()
}

// checkScratch returns ErrUntrustedDir if something else stands where the Locker
// has its directory: the Locker need not look.
func (d *Dir) checkScratch() error {
	return ignoreNotExist(checkOwn(d.files, d.in(scratchName)))
}

// Path returns D: absolute, its own symbolic link resolved.
func (d *Dir) Path() string { return d.d }

// Recovered tells what Open found and did.
func (d *Dir) Recovered() Report { return d.recovered }

// Lock creates D if it does not exist and takes the Locker's locks on it and on
// the named files. They are held until Close or the end of Commit. kept reports
// whether the locks that were held before were held throughout the call; if not,
// what was read under them may be out of date.
//
// Errors: ErrClosed, the Locker's, or the file system's.
func (d *Dir) Lock(ctx context.Context, names ...string) (kept bool, err error) {
	if d.closed {
		return false, ErrClosed
	}
	changed, err := mkdirAll(d.files, d.d, 0o755)
	d.unsynced = append(d.unsynced, changed...)
	if err != nil {
		return false, err
	}
	return d.locker.Lock(ctx, names)
}

// Close releases every lock. The error is informational: locks that could not be
// released are released by the next Open. Closing a closed Dir does nothing.
func (d *Dir) Close() error {
	if d.closed {
		return nil
	}
	d.closed = true
	err := d.locker.Unlock()
	d.unlock()
	return err
}

// mkdirIn makes the directory at a path inside S, and those on the way there,
// unless they are there already.
func (d *Dir) mkdirIn(elem ...string) (string, error) {
	path := d.s
	for _, name := range elem {
		path = filepath.Join(path, name)
		if err := d.files.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if err := checkOwn(d.files, path); ignoreNotExist(err) != nil {
			return "", err
		}
	}
	return path, nil
}

// in returns a path inside S, at a path inside D.
func (d *Dir) in(elem ...string) string { return filepath.Join(append([]string{d.s}, elem...)...) }
func (d *Dir) at(name string) string    { return filepath.Join(d.d, name) }

// relative returns D as seen from S, which is how a journal names it.
func (d *Dir) relative() string { return "../" + filepath.Base(d.d) }

// exists reports whether something is at path.
func (d *Dir) exists(path string) (bool, error) {
	_, err := d.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
