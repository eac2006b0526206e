package txn

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ReadState returns the content of a state file, or nil if the file does not exist.
//
// State files are small files that a caller keeps in S, under the same lock as
// transactions but independent of them. Their names consist of lower-case letters and
// dots and begin with a letter.
//
// Errors: ErrClosed, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge, or the file
// system's.
func (d *Dir) ReadState(name string) ([]byte, error) { return d.ReadStateFrom(name, 0) }

// ReadState is Dir.ReadState without the lock, for readers that must not wait. It
// creates nothing. With no state directory it returns nil.
//
// Errors: ErrUntrustedDir, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge, or the
// file system's.
func ReadState(dir, name string, opts ...Option) ([]byte, error) {
	r, err := OpenReader(dir, opts...)
	if err != nil {
		return nil, ignoreNotExist(err)
	}
	defer r.Close()
	return r.ReadState(name)
}

// ReadStateFrom returns the bytes of a state file from offset on, which are none if the file
// is shorter or does not exist. A reader of a file that only grows need not read it whole.
//
// Errors: those of ReadState.
func (d *Dir) ReadStateFrom(name string, offset int64) ([]byte, error) {
	if err := d.checkState(name); err != nil {
		return nil, err
	}
	data, err := d.files.ReadFrom(d.statePath(name), offset)
	return data, ignoreNotExist(err)
}

// StateNames returns the names of the state files that begin with prefix, sorted.
//
// Errors: those of History.
func (d *Dir) StateNames(prefix string) (names []string, err error) {
	if d.closed {
		return nil, ErrClosed
	}
	entries, err := d.files.ReadDir(d.s)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && isStateName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// WriteState replaces or creates a state file, with mode 0600. After a crash the file has
// either the old content or the new. Once WriteState has returned nil it has the new
// content, even if the power fails.
//
// Errors: ErrClosed, ErrName, vfs.ErrFileTooLarge, or the file system's.
func (d *Dir) WriteState(name string, data []byte) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if len(data) > vfs.MaxFileBytes {
		return fmt.Errorf("%s: %w", d.statePath(name), vfs.ErrFileTooLarge)
	}
	return d.replacing(d.s, func(scratch string) error { return d.files.WriteFile(d.statePath(name), scratch, data, 0o600) })
}

// ReplaceFiles replaces the content of files in D, which is not in the history then. After a
// crash each file has either the old content or the new. The caller holds the Locker's locks
// on the files, see Lock. Of a File only its name and data are used. A file that does not exist
// is left out: another program has deleted it.
//
// It returns ErrRecoveryRequired if a Commit of this Dir left a journal to recover.
//
// Errors: those of WriteState and of Lock.
func (d *Dir) ReplaceFiles(files ...File) error {
	if d.closed {
		return ErrClosed
	}
	if d.pending { // recovery would take the new content for another program's
		return ErrRecoveryRequired
	}
	for _, f := range files {
		if !isPlain(f.Name) {
			return fmt.Errorf("file %q: %w", f.Name, ErrName)
		}
	}
	return d.replacing(d.d, func(scratch string) error {
		for _, f := range files {
			if err := d.replaceFile(f, scratch); err != nil {
				return err
			}
		}
		return nil
	})
}

// replaceFile looks for the file in D again when the new content is on the disk, which takes long.
func (d *Dir) replaceFile(f File, scratch string) error {
	info, err := d.files.Lstat(d.filePath(f.Name))
	if err != nil {
		return ignoreNotExist(err)
	}
	perm := fs.FileMode(0o600)
	if info.Mode().IsRegular() {
		perm = info.Mode().Perm()
	}
	path := filepath.Join(scratch, f.Name)
	if err := d.files.WriteFile(path, scratch, f.Data, perm); err != nil {
		return err
	}
	if there, err := d.exists(d.filePath(f.Name)); !there {
		return err
	}
	return d.files.Rename(path, d.filePath(f.Name))
}

// replacing calls do with a directory for temporary files, and syncs dir, in which do has replaced
// files. The directory is named like a transaction's, so that tidy removes it after a crash.
func (d *Dir) replacing(dir string, do func(scratch string) error) error {
	id := unique(time.Now())
	defer d.discard(id)
	if err := d.files.Mkdir(d.txnPath(id), 0o700); err != nil {
		return err
	}
	if err := do(d.txnPath(id)); err != nil {
		return err
	}
	return d.files.Sync(dir)
}

// AppendState appends line and a newline to a state file, which is created if it does not
// exist. line must not contain a newline. Once AppendState has returned nil, the line is
// durable. A crash may leave a part of the line, and the next AppendState ends it with a
// newline: readers must skip lines that they cannot parse.
//
// Errors: ErrClosed, ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge if the file
// would be larger than vfs.MaxFileBytes, an error if line contains a newline, or the file
// system's.
func (d *Dir) AppendState(name string, line []byte) error {
	if err := d.AppendStateLazily(name, line); err != nil {
		return err
	}
	if err := d.files.Sync(d.statePath(name)); err != nil {
		return err
	}
	return d.files.Sync(d.s) // also if the file exists: AppendStateLazily may have created it, or a process that died before its sync
}

// AppendStateLazily is AppendState without the syncs: a power cut may lose the line. It is
// for lines whose loss does no harm.
//
// Errors: those of AppendState.
func (d *Dir) AppendStateLazily(name string, line []byte) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if bytes.ContainsRune(line, '\n') {
		return fmt.Errorf("%s: the line contains a newline", d.statePath(name))
	}
	return d.files.AppendLine(d.statePath(name), line)
}

// OverwriteState replaces the content of a state file in place, or removes the file if data
// is nil. Nothing is synced, and a crash may leave a part of the content. It is for what
// does not outlive the process, such as who is at work.
//
// Errors: those of AppendState and of RemoveState.
func (d *Dir) OverwriteState(name string, data []byte) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if data == nil {
		return ignoreNotExist(d.files.Remove(d.statePath(name)))
	}
	return d.files.Overwrite(d.statePath(name), data)
}

// RemoveState removes a state file, durably. It returns nil if the file does not exist.
//
// Errors: ErrClosed, ErrName, or the file system's.
func (d *Dir) RemoveState(name string) error {
	if err := d.checkState(name); err != nil {
		return err
	}
	if err := d.files.Remove(d.statePath(name)); ignoreNotExist(err) != nil {
		return err
	}
	return d.files.Sync(d.s) // a process that removed it may have died before its sync
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

// isStateName reports whether name may be the name of a state file. It must not be one of
// this package's names in S; those that are not listed here contain a "-".
func isStateName(name string) bool {
	own := []string{lockName, journalName, committingName, settlingName, quarantineName, lockerName, lifeName, failedName}
	return name != "" && name[0] != '.' && len(name) <= maxName && !slices.Contains(own, name) &&
		strings.Trim(name, ".abcdefghijklmnopqrstuvwxyz") == ""
}
