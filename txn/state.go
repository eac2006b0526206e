package txn

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// State files are small files that a caller keeps in S, beside the transactions and
// under the same lock, but not as part of them. Their names are lower-case letters
// and dots and begin with a letter.

// ReadState returns the content of a state file, nil if it does not exist.
//
// Errors: ErrClosed, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge, or the file
// system's.
func (d *Dir) ReadState(name string) ([]byte, error) {
	if err := d.checkState(name); err != nil {
		return nil, err
	}
	data, err := d.files.ReadFile(d.statePath(name))
	return data, ignoreNotExist(err)
}

// ReadState is Dir.ReadState without the lock, for readers that must not wait. It
// creates nothing. With no state directory there is no state file.
//
// Errors: ErrUntrustedDir, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge, or the
// file system's.
func ReadState(dir, name string, opts ...Option) ([]byte, error) {
	d, err := look(dir, newOptions(opts))
	if err != nil || d == nil {
		return nil, err
	}
	defer d.held.Close()
	return d.ReadState(name)
}

// WriteState replaces a state file, or creates it. After a crash it has the old
// content or the new, and when WriteState has returned nil the new, even if the power
// fails. Its mode is 0600.
//
// Errors: ErrClosed, ErrName, vfs.ErrFileTooLarge, or the file system's.
func (d *Dir) WriteState(name string, data []byte) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if len(data) > vfs.MaxFileBytes {
		return fmt.Errorf("%s: %w", d.statePath(name), vfs.ErrFileTooLarge)
	}
	// The directory looks like that of a transaction that never began, and is
	// removed like one after a crash.
	id := unique(time.Now())
	defer d.discard(id)
	if err := d.files.Mkdir(d.txnPath(id), 0o700); err != nil {
		return err
	}
	if err := d.files.WriteFile(d.statePath(name), d.txnPath(id), data, 0o600); err != nil {
		return err
	}
	return d.files.Sync(d.s)
}

// AppendState adds a line to a state file, which is created if it does not exist.
// The line must not contain a newline; one is added. When AppendState has returned
// nil, the line is there even if the power fails. A crash may leave a part of the
// line, which then is a line of its own: readers have to skip what they cannot read.
//
// Errors: ErrClosed, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge if the file
// would be larger than vfs.MaxFileBytes, or the file system's.
func (d *Dir) AppendState(name string, line []byte) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if bytes.ContainsRune(line, '\n') {
		return fmt.Errorf("%s: a line to be appended contains a newline", d.statePath(name))
	}
	there, err := d.exists(d.statePath(name))
	if err != nil {
		return err
	}
	if err := d.files.AppendLine(d.statePath(name), line); err != nil {
		return err
	}
	if err := d.files.Sync(d.statePath(name)); err != nil || there {
		return err
	}
	return d.files.Sync(d.s)
}

// RemoveState removes a state file. One that does not exist is not an error.
//
// Errors: ErrClosed, ErrName, or the file system's.
func (d *Dir) RemoveState(name string) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	err := d.files.Remove(d.statePath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.files.Sync(d.s)
}

func (d *Dir) checkState(name string) error {
	if d.closed {
		return ErrClosed
	}
	if !isStateName(name) {
		return fmt.Errorf("state file %q: %w", name, ErrName)
	}
	return nil
}

// isStateName reports whether name may be the name of a state file. Names of this
// package that are not listed have a "-".
func isStateName(name string) bool {
	own := []string{lockName, journalName, quarantineName, lockerName}
	return name != "" && name[0] != '.' && len(name) <= maxName && !slices.Contains(own, name) &&
		strings.Trim(name, ".abcdefghijklmnopqrstuvwxyz") == ""
}
