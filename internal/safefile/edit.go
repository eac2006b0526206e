package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/hint"
)

var (
	// ErrChanged is returned by Replace when the file has changed since it was read.
	ErrChanged = hint.New("changed while it was being edited", "run the command again")
	// ErrOwnership is returned by Replace when the new file cannot be given the owner,
	// the group, the mode or the access control list of the old one.
	ErrOwnership = hint.New("would not keep its owner and permissions", "run the command as the file's owner; it was not changed")
	// ErrKept is returned by Replace when two other programs wrote the file during the
	// edit and one version had to be moved aside. The error contains its path.
	ErrKept = hint.New("written by two other programs at once", "merge what you need of the two into one file, then remove the directory with the other")
	// ErrBusy is returned by Replace when the timeout passes while another edit, or
	// another program, locks the directory, or while another program has the file open
	// for writing.
	ErrBusy = hint.New("locked by another process", "run the command again when that program has ended")
)

// Unguarded returns what to tell the person about err, the reason why an edit could not be protected
// from concurrent changes.
func Unguarded(err error) error {
	return fmt.Errorf("%w: a change by another program at the same moment would have been lost; check the file", err)
}

// Edit is a file that was read in order to replace it if it has not changed since.
// An Edit is not safe for concurrent use.
type Edit struct {
	Path string
	Data []byte // nil if there is no file
	// Mode has the permissions that Replace gives the file. ReadEdit sets it to those of
	// the file, or to 0666 if there is no file; the caller may change it. The umask
	// applies only to a new file.
	Mode fs.FileMode
	// Unguarded is set by Replace to the reason why a concurrent write of another program
	// could have been lost. It is nil if none could.
	Unguarded error

	stat unix.Stat_t // of the file, if there is one
}

// ReadEdit reads a file of at most max bytes. path must be absolute and free of symbolic
// links, as Resolve returns it. A missing file is not an error. ReadEdit returns
// ErrNotRegular, ErrTooLarge or the system's error.
func ReadEdit(path string, max int64) (*Edit, error) {
	e := &Edit{Path: path, Mode: 0o666}
	f, err := Open(path, os.O_RDONLY|NoFollow)
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
	e.Data, err = ReadAll(f, max)
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
// and nothing is written. Other errors are ErrOwnership, ErrKept, ErrBusy and the
// system's.
func (e *Edit) Replace(data []byte, emptied int) error {
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
func (e *Edit) replace(data []byte) error {
	w, err := createWork(e.Path, 0)
	if err != nil {
		return err
	}
	defer w.close()
	old, err := e.openUnchanged(w.dir.fd, w.dir.base)
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
	if err := unix.Renameat(w.fd, newName, w.fd, slot); err != nil {
		return pathError("rename", e.Path, err)
	}
	if err := old.checkUnchanged(e); err != nil {
		return err
	}
	// If the exchange has to be reverted, other programs could read our version in
	// between, which lacks the newest change. The lease makes them wait.
	leaseExclusively(int(f.Fd()))
	if !old.isAt(w.dir.fd, w.dir.base) {
		return ErrChanged
	}
	switch err := exchange(w.fd, slot, w.dir.fd, w.dir.base); {
	case errors.Is(err, errors.ErrUnsupported):
		e.Unguarded = fmt.Errorf("the file system of %s cannot exchange two files", e.Path)
		if err := unix.Renameat(w.fd, slot, w.dir.fd, w.dir.base); err != nil {
			return pathError("rename", e.Path, err)
		}
		return w.dir.sync()
	case errors.Is(err, unix.ENOENT):
		return ErrChanged
	case err != nil:
		return pathError("exchange", e.Path, err)
	}
	if !old.isAt(w.fd, slot) {
		return w.revert(slot, f, data)
	}
	endLease(int(f.Fd()))
	if err := errors.Join(w.dir.sync(), w.sync()); err != nil {
		return err
	}
	// Check again: a program may have opened the old file before and written to it.
	if old.checkUnchanged(e) != nil {
		return w.revert(slot, f, data)
	}
	return w.unlink(slot)
}

// exchange is a variable so that tests can replace it.
var exchange = exchangeAt

// revert reverts an exchange that removed another program's version. f is the file with
// our version, data.
func (w *work) revert(slot string, f *os.File, data []byte) error {
	ours := &original{f: f}
	err := w.exchangeBack(slot, func() bool {
		now := make([]byte, len(data)+1)
		n, _ := f.ReadAt(now, 0)
		return ours.isAt(w.fd, slot) && bytes.Equal(now[:n], data)
	})
	// A program that waits for the lease on our file will read that file, although it no
	// longer has the name. So give it the current content.
	if current, err := OpenFileAt(w.dir.fd, w.dir.base, w.dir.path, os.O_RDONLY|NoFollow); err == nil {
		defer current.Close()
		if now, err := ReadAll(current, maxCompared); err == nil && !ours.isAt(w.dir.fd, w.dir.base) {
			_, _ = f.WriteAt(now, 0)
			_ = f.Truncate(int64(len(now)))
		}
	}
	return err
}

// exchangeBack exchanges the files again. isOurs reports whether the slot then holds our
// version. It returns ErrChanged if so, and ErrKept if another program's version had to
// be moved aside.
func (w *work) exchangeBack(slot string, isOurs func() bool) error {
	if err := exchange(w.fd, slot, w.dir.fd, w.dir.base); err != nil {
		return w.keep(slot, err)
	}
	if isOurs() {
		return errors.Join(ErrChanged, w.unlink(slot), w.dir.sync())
	}
	// A second program has replaced our version meanwhile. Its version is the newest.
	if err := exchange(w.fd, slot, w.dir.fd, w.dir.base); err != nil {
		return w.keep(slot, err)
	}
	return w.keep(slot, nil)
}

// remove removes the file, and up to emptied directories above it. The work directory
// is above all of these, or as far up as this user may write.
func (e *Edit) remove(emptied int) error {
	for up := min(emptied, strings.Count(filepath.Dir(e.Path), "/")); ; up-- {
		err := e.removeFrom(up)
		tooFarUp := errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) || errors.Is(err, unix.EXDEV)
		if up == 0 || !tooFarUp {
			return err
		}
	}
}

// removeFrom moves the file into a work directory, checks it there, and removes it.
func (e *Edit) removeFrom(emptied int) error {
	w, err := createWork(e.Path, emptied)
	if err != nil {
		return err
	}
	defer w.close()
	dir, err := openDir(e.Path)
	if err != nil {
		return err
	}
	defer dir.close()
	old, err := e.openUnchanged(dir.fd, dir.base)
	if err != nil {
		return err
	}
	defer old.close()
	slot := slotName(e.Data, nil)
	if !old.isAt(dir.fd, dir.base) {
		return ErrChanged
	}
	if err := unix.Renameat(dir.fd, dir.base, w.fd, slot); errors.Is(err, unix.ENOENT) {
		return ErrChanged
	} else if err != nil {
		return pathError("remove", e.Path, err)
	}
	if err := errors.Join(dir.sync(), w.sync()); err != nil {
		return err
	}
	if !old.isAt(w.fd, slot) || old.checkUnchanged(e) != nil {
		if err := moveNew(w.fd, slot, dir.fd, dir.base); err != nil {
			return w.keep(slot, err)
		}
		return errors.Join(ErrChanged, dir.sync())
	}
	removeEmptied(e.Path, emptied)
	return w.unlink(slot)
}

// removeEmptied removes up to n directories above path, innermost first, until one is not
// empty. Some may be missing already.
func removeEmptied(path string, n int) {
	for range n {
		path = filepath.Dir(path)
		if err := Rmdir(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
// writing, or for the lock of the directory.
const timeout = 10 * time.Second

// openUnchanged opens the file that was read, and takes a lease on it if there are
// leases. It returns ErrChanged if the file has changed.
func (e *Edit) openUnchanged(dirfd int, base string) (*original, error) {
	fd, err := OpenAt(dirfd, base, os.O_RDONLY|NoFollow, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) {
		return nil, ErrChanged
	}
	if err != nil {
		return nil, pathError("open", e.Path, err)
	}
	o := &original{f: os.NewFile(uintptr(fd), e.Path)}
	for end := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		o.leased, err = lease(fd)
		if !errors.Is(err, unix.EAGAIN) || time.Now().After(end) {
			break
		}
	}
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%s: %w: another program has had the file open for writing for %v", e.Path, ErrBusy, timeout)
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
func (o *original) checkUnchanged(e *Edit) error {
	var now unix.Stat_t
	if err := unix.Fstat(int(o.f.Fd()), &now); err != nil {
		return pathError("stat", e.Path, err)
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
func (o *original) isAt(dirfd int, name string) bool {
	var file, at unix.Stat_t
	return unix.Fstat(int(o.f.Fd()), &file) == nil &&
		unix.Fstatat(dirfd, name, &at, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		file.Dev == at.Dev && file.Ino == at.Ino
}

// pathError adds op and path to an error number. Other errors have a path already.
func pathError(op, path string, err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) && err == error(errno) {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return err
}
