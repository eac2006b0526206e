package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/internal/signals"
)

var (
	// ErrChanged is returned by Replace when the file has changed since it was read.
	ErrChanged = hint.New("changed while it was being edited", "run the command again")
	// errOwnership is returned by Replace when the new file cannot be given the owner,
	// the group, the mode or the access control list of the old one.
	errOwnership = hint.New("would not keep its owner and permissions", "run the command as the file's owner; it was not changed")
	// errKept is returned by Replace when two other programs wrote the file during the
	// edit and one version had to be moved aside. The error contains its path.
	errKept = hint.New("written by two other programs at once",
		"merge what you need of the two into one file, then remove the directory with the other")
)

// Unguarded returns what to tell the person about err, the reason why an edit could not be protected
// from concurrent changes.
func Unguarded(err error) error {
	return fmt.Errorf("%w: a change by another program at the same moment would have been lost; check the file", err)
}

// File is a file that was read in order to replace it if it has not changed since.
// A File is not safe for concurrent use.
type File struct {
	Path string
	Data []byte // nil if there is no file
	// Mode has the permissions that Replace gives the file. Read sets it to those of
	// the file, or to 0666 if there is no file; the caller may change it. The umask
	// applies only to a new file.
	Mode fs.FileMode
	// Unguarded is set by Replace to the reason why a concurrent write of another program
	// could have been lost. It is nil if none could.
	Unguarded error

	stat unix.Stat_t // of the file, if there is one
}

// Read reads a file of at most max bytes. path must be absolute and free of symbolic
// links, as safefile.Resolve returns it. A missing file is not an error. Read returns
// safefile.ErrNotRegular, safefile.ErrTooLarge or the system's error.
func Read(path string, max int64) (*File, error) {
	e := &File{Path: path, Mode: 0o666}
	f, err := safefile.Open(path, os.O_RDONLY|safefile.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unix.Fstat(int(f.Fd()), &e.stat); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	e.Mode = fs.FileMode(e.stat.Mode & 0o777)
	e.Data, err = safefile.ReadAll(f, max)
	return e, err
}

// Replace makes data the content of the file, atomically and durably, and creates missing
// directories. If data is nil, Replace removes the file, and then up to emptied of the
// directories above it, innermost first, until one is not empty.
//
// The file keeps its owner, group, permissions and extended attributes. Hard links to it
// keep the old content. No write of another program is lost: the two files are
// exchanged, and if the file that comes back is not the one that was read, the exchange
// is reverted and Replace returns ErrChanged. Unguarded is set if the file system cannot
// exchange files.
//
// Replace first completes or reverts a killed edit of the file, even if data equals Data
// and nothing is written. A signal ends the program when Replace has ended (signals.Hold). Other
// errors are errOwnership, errKept, the system's, and safefile.ErrBusy if the timeout passes while
// another edit, or another program, locks the directory, or while another program has the file open
// for writing.
func (e *File) Replace(data []byte, emptied int) error {
	defer signals.Hold()()
	if err := Sweep(e.Path); err != nil {
		return err
	}
	var err error
	switch same := bytes.Equal(data, e.Data) && (data == nil) == (e.Data == nil); {
	case same && (data == nil || e.Mode == fs.FileMode(e.stat.Mode&0o777)):
		return nil
	case e.Data == nil:
		err = e.create(data)
	case data == nil:
		err = e.remove(emptied)
	default:
		err = e.replace(data)
	}
	if errors.Is(err, ErrChanged) {
		return fmt.Errorf("%s: %w", e.Path, ErrChanged)
	}
	return err
}

// replace exchanges the file with one that has the new content.
func (e *File) replace(data []byte) error {
	w, err := createWork(e.Path, 0)
	if err != nil {
		return err
	}
	defer w.close()
	old, err := e.openUnchanged(w.dir.Dir, w.dir.base)
	if err != nil {
		return err
	}
	defer old.close()
	f, err := w.stage(data, e.Mode, old.f)
	if err != nil {
		return err
	}
	defer f.Close() // ends the lease
	slot := slotName(e.Data, data)
	if err := w.in.Rename(newName, w.in, slot); err != nil {
		return err
	}
	if err := old.checkUnchanged(e); err != nil {
		return err
	}
	// If the exchange has to be reverted, other programs could read our version in
	// between, which lacks the newest change. The lease makes them wait.
	leaseExclusively(int(f.Fd()))
	if !old.isAt(w.dir.Dir, w.dir.base) {
		return ErrChanged
	}
	switch err := exchange(w.in, slot, w.dir.Dir, w.dir.base); {
	case errors.Is(err, errors.ErrUnsupported):
		e.Unguarded = fmt.Errorf("the file system of %s cannot exchange two files", e.Path)
		if err := w.in.Rename(slot, w.dir.Dir, w.dir.base); err != nil {
			return err
		}
		return w.dir.SyncNames(".")
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return err
	}
	if !old.isAt(w.in, slot) {
		return w.revert(slot, f, data)
	}
	endLease(int(f.Fd()))
	if err := errors.Join(w.dir.SyncNames("."), w.in.SyncNames(".")); err != nil {
		return err
	}
	// Check again: a program may have opened the old file before and written to it.
	if old.checkUnchanged(e) != nil {
		return w.revert(slot, f, data)
	}
	return w.in.Remove(slot)
}

// exchange is a variable so that tests can replace it.
var exchange = (*safefile.Dir).Exchange

// revert reverts an exchange that removed another program's version. f is the file with
// our version, data.
func (w *work) revert(slot string, f *os.File, data []byte) error {
	ours := &original{f: f}
	err := w.exchangeBack(slot, func() bool {
		now := make([]byte, len(data)+1)
		n, _ := f.ReadAt(now, 0)
		return ours.isAt(w.in, slot) && bytes.Equal(now[:n], data)
	})
	// A program that waits for the lease on our file will read that file, although it no
	// longer has the name. So give it the current content.
	if current, err := w.dir.Open(w.dir.base, os.O_RDONLY); err == nil {
		defer current.Close()
		if now, err := safefile.ReadAll(current, maxCompared); err == nil && !ours.isAt(w.dir.Dir, w.dir.base) {
			_, _ = f.WriteAt(now, 0)
			_ = f.Truncate(int64(len(now)))
		}
	}
	return err
}

// exchangeBack exchanges the files again. isOurs reports whether the slot then holds our
// version. It returns ErrChanged if so, and errKept if another program's version had to
// be moved aside.
func (w *work) exchangeBack(slot string, isOurs func() bool) error {
	if err := exchange(w.in, slot, w.dir.Dir, w.dir.base); err != nil {
		return w.keep(slot, err)
	}
	if isOurs() {
		return errors.Join(ErrChanged, w.in.Remove(slot), w.dir.SyncNames("."))
	}
	// A second program has replaced our version meanwhile. Its version is the newest.
	if err := exchange(w.in, slot, w.dir.Dir, w.dir.base); err != nil {
		return w.keep(slot, err)
	}
	return w.keep(slot, nil)
}

// remove removes the file, and up to emptied directories above it. The work directory
// is above all of these, or as far up as this user may write.
func (e *File) remove(emptied int) error {
	for up := min(emptied, strings.Count(filepath.Dir(e.Path), "/")); ; up-- {
		err := e.removeFrom(up)
		tooFarUp := errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EXDEV)
		if up == 0 || !tooFarUp {
			return err
		}
	}
}

// removeFrom moves the file into a work directory, checks it there, and removes it.
func (e *File) removeFrom(emptied int) error {
	w, err := createWork(e.Path, emptied)
	if err != nil {
		return err
	}
	defer w.close()
	dir, err := openPlace(e.Path)
	if err != nil {
		return err
	}
	defer dir.close()
	old, err := e.openUnchanged(dir.Dir, dir.base)
	if err != nil {
		return err
	}
	defer old.close()
	slot := slotName(e.Data, nil)
	if !old.isAt(dir.Dir, dir.base) {
		return ErrChanged
	}
	if err := dir.Rename(dir.base, w.in, slot); errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	} else if err != nil {
		return err
	}
	if err := errors.Join(dir.SyncNames("."), w.in.SyncNames(".")); err != nil {
		return err
	}
	if !old.isAt(w.in, slot) || old.checkUnchanged(e) != nil {
		if err := moveNew(w.in, slot, dir.Dir, dir.base); err != nil {
			return w.keep(slot, err)
		}
		return errors.Join(ErrChanged, dir.SyncNames("."))
	}
	removeEmptied(e.Path, emptied)
	return w.in.Remove(slot)
}

// removeEmptied removes up to n directories above path, innermost first, until one is not
// empty. Some may be missing already.
func removeEmptied(path string, n int) {
	for range n {
		path = filepath.Dir(path)
		if err := safefile.Rmdir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
}

// original is the file that was read, held open. If it is leased, other processes cannot
// open it for writing.
type original struct {
	f      *os.File
	leased bool
}

// timeout is how long an edit waits for another program that has the file open for
// writing, or for the lock of the directory. Tests shorten it.
var timeout = 10 * time.Second

// openUnchanged opens the file that was read, and takes a lease on it if there are
// leases. It returns ErrChanged if the file has changed.
func (e *File) openUnchanged(dir *safefile.Dir, base string) (*original, error) {
	f, err := dir.Open(base, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrNotRegular) {
		return nil, ErrChanged
	}
	if err != nil {
		return nil, err
	}
	o := &original{f: f}
	for end := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		o.leased, err = lease(int(f.Fd()))
		if !errors.Is(err, unix.EAGAIN) || time.Now().After(end) {
			break
		}
	}
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%s: %w: another program has had the file open for writing for %v", e.Path, safefile.ErrBusy, timeout)
	} else {
		err = o.checkUnchanged(e)
	}
	if err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// close closes the file, which ends the lease.
func (o *original) close() { o.f.Close() }

// checkUnchanged returns ErrChanged unless the file has the content, the owner and the
// permissions that e has read, and no process waits to open it for writing.
func (o *original) checkUnchanged(e *File) error {
	var now unix.Stat_t
	if err := unix.Fstat(int(o.f.Fd()), &now); err != nil {
		return &fs.PathError{Op: "stat", Path: e.Path, Err: err}
	}
	if now.Mode != e.stat.Mode || now.Uid != e.stat.Uid || now.Gid != e.stat.Gid {
		return ErrChanged
	}
	data := make([]byte, len(e.Data)+1) // a longer file differs
	n, _ := o.f.ReadAt(data, 0)
	if !bytes.Equal(data[:n], e.Data) || o.leased && !leaseHolds(int(o.f.Fd())) {
		return ErrChanged
	}
	return nil
}

// isAt reports whether name in the directory is this file.
func (o *original) isAt(dir *safefile.Dir, name string) bool {
	info, err := o.f.Stat()
	return err == nil && dir.Has(name, info)
}
