package txn

import (
	"errors"
	"fmt"
	"io/fs"
)

// ReplaceFiles replaces the content of files in D, durably, outside of transactions and their
// history. After a crash each file has either the old content or the new. The caller holds the
// Locker's locks on the files, see Lock. Of a File only its name and data are used. A file that
// does not exist is left out: another program has deleted it.
//
// It returns ErrRecoveryRequired if a Commit of this Dir left a journal to recover.
//
// Errors: ErrClosed, ErrName, those of Lock, or the file system's.
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
	if err := d.files.Mkdir(d.statePath(tempName), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	defer func() { _ = d.removeTree(d.statePath(tempName)) }()
	for _, f := range files {
		if err := d.replaceFile(f); err != nil {
			return err
		}
	}
	return d.syncDir(d.d)
}

// replaceFile looks for the file in D again when the new content is on the disk, which takes long.
func (d *Dir) replaceFile(f File) error {
	path := d.filePath(f.Name)
	info, err := d.files.Lstat(path)
	if err != nil {
		return ignoreNotExist(err)
	}
	perm := fs.FileMode(0o600)
	if info.Mode().IsRegular() {
		perm = info.Mode().Perm()
	}
	written := d.statePath(tempName, f.Name)
	if err := d.files.WriteNew(written, f.Data, perm); err != nil {
		return err
	}
	if there, err := d.exists(path); !there {
		return err
	}
	return d.files.Rename(written, path)
}
