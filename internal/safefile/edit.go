package safefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/signals"
)

var (
	// ErrChanged is returned by Replace when the file has changed since it was read.
	ErrChanged = message.NewError("changed while it was being edited", "run the command again")
	// errOwnership is returned by Replace when the new file cannot be given the owner,
	// the group, the mode or the attributes of the old one.
	errOwnership = message.NewError("would not keep its owner and permissions", "run the command as the file's owner; it was not changed")
)

// Edit is a file that was read in order to replace it if it has not changed since.
// An Edit is not safe for concurrent use.
type Edit struct {
	Path string
	Data []byte // nil if there is no file
	// Mode has the permissions that Replace gives the file. ReadToEdit sets it to those of
	// the file, or to 0666 if there is no file; the caller may change it. The umask
	// applies only to a new file.
	Mode fs.FileMode

	stat stat // of the file, if there is one
}

// ReadToEdit reads a file of at most max bytes. path must be absolute and free of symbolic
// links, as Resolve returns it. A missing file is not an error. ReadToEdit returns
// ErrNotRegular, ErrTooLarge or the system's error.
func ReadToEdit(path string, max int64) (*Edit, error) {
	e := &Edit{Path: path, Mode: 0o666}
	f, err := Open(path, os.O_RDONLY|NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := fstat(int(f.Fd()), &e.stat); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	e.Mode = fs.FileMode(e.stat.Mode & 0o777)
	e.Data, err = ReadAll(f, max)
	return e, err
}

// Replace makes data the content of the file, atomically and durably, and creates missing
// directories. If data is nil, Replace removes the file. It writes nothing if data equals Data
// and the mode is the file's.
//
// The file keeps its owner, group, permissions and extended attributes, which on Linux include
// access control lists. Hard links to it keep the old content. A signal ends the program when
// Replace has ended (signals.Hold).
//
// Errors are ErrChanged, errOwnership, the system's, and ErrBusy if another program locks
// the directory until the timeout.
func (e *Edit) Replace(data []byte) error {
	defer signals.Hold()()
	if bytes.Equal(data, e.Data) && (data == nil) == (e.Data == nil) && (data == nil || e.Mode == fs.FileMode(e.stat.Mode&0o777)) {
		return nil
	}
	var created []string
	var err error
	if data != nil {
		created, err = Mkdir(filepath.Dir(e.Path))
	}
	if err == nil {
		err = e.replaceLocked(data)
	}
	if err != nil {
		for _, dir := range created {
			_ = Rmdir(dir)
		}
	}
	return err
}

// editTimeout is how long an edit waits for the lock of the directory. Tests shorten it.
var editTimeout = 10 * time.Second

// replaceLocked replaces the file if it has not changed. Some network file systems have no locks; two edits
// at once are then like an edit and another program.
func (e *Edit) replaceLocked(data []byte) error {
	dir, err := OpenDir(filepath.Dir(e.Path))
	if err != nil {
		return err
	}
	defer dir.Close()
	ctx, cancel := context.WithTimeout(context.Background(), editTimeout)
	defer cancel()
	switch unlock, err := dir.Lock(ctx); {
	case err == nil:
		defer unlock()
	case errors.Is(err, ErrBusy):
		return fmt.Errorf("%s: %w", dir.Path("."), err)
	case errors.Is(err, ErrMoved):
		return fmt.Errorf("%s: %w", e.Path, ErrChanged)
	}
	if err := e.checkUnchanged(); err != nil { // before anything is made; write looks again
		return err
	}
	return unwritable(e.Path, e.write(data))
}

// checkUnchanged returns ErrChanged unless the file has the content, the owner and the permissions
// that e has read.
func (e *Edit) checkUnchanged() error {
	now, err := ReadToEdit(e.Path, int64(len(e.Data)))
	switch {
	case errors.Is(err, ErrNotRegular), errors.Is(err, ErrTooLarge):
	case err != nil:
		return err
	case (now.Data == nil) == (e.Data == nil) && bytes.Equal(now.Data, e.Data) &&
		now.stat.Mode == e.stat.Mode && now.stat.Uid == e.stat.Uid && now.stat.Gid == e.stat.Gid:
		return nil
	}
	return fmt.Errorf("%s: %w", e.Path, ErrChanged)
}

func (e *Edit) write(data []byte) error {
	switch {
	case data == nil:
		if err := Unheld.Remove(e.Path); err != nil {
			return err
		}
		return Unheld.SyncNames(filepath.Dir(e.Path))
	case e.Data == nil:
		mode := LessUmask(e.Mode)
		mode.last = e.checkUnchanged
		return Write(e.Path, data, mode)
	}
	// Without a second link the old file is gone from a file system without a journal before the new name is on the disk, and a
	// power cut in between leaves neither.
	kept := filepath.Join(filepath.Dir(e.Path), tempPrefix+Shortened(filepath.Base(e.Path))+strconv.Itoa(os.Getpid()))
	if os.Link(e.Path, kept) == nil {
		defer os.Remove(kept)
	}
	mode := preparedBy(func(f *os.File) error {
		old, err := Open(e.Path, os.O_RDONLY|NoFollow)
		if err != nil {
			return err
		}
		defer old.Close() // before the rename, which not every file system does over an open file
		if err := keepAttributes(f, old, e.Mode); err != nil {
			return fmt.Errorf("%s: %w: %w", e.Path, errOwnership, err)
		}
		return nil
	})
	mode.last = e.checkUnchanged // writing and syncing takes much longer than this look and the rename
	return Write(e.Path, data, mode)
}

// ErrInUse is returned for a file that another program has open.
var ErrInUse = errors.New("another program has it open")

// unwritable returns the error of making or moving the temporary file as one of the file at path, which is
// what the person knows.
func unwritable(path string, err error) error {
	if moved, ok := errors.AsType[*os.LinkError](err); ok && isHeld(moved.Err) {
		return message.WithHint(&fs.PathError{Op: "write", Path: path, Err: moved.Err},
			"the file is read-only, or another program has it open: change that, then run the command again")
	}
	made, ok := errors.AsType[*fs.PathError](err)
	if !ok || made.Op != "open" || !strings.HasPrefix(filepath.Base(made.Path), tempPrefix) {
		return err
	}
	err = &fs.PathError{Op: "write", Path: path, Err: made.Err}
	if errors.Is(err, fs.ErrPermission) {
		return message.WithHint(err,
			"you may not write into "+filepath.Dir(made.Path)+": change its permissions, or run the command as its owner")
	}
	return err
}
