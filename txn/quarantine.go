package txn

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// quarantine moves a file of D into S/conflicts, and reports it as moved there. It syncs the file and
// its name there before it removes the one in D, because a power cut during a rename between two
// directories may lose both names. It returns fs.ErrNotExist if the file does not exist.
func (u *rollback) quarantine(name, why string) error {
	dir, err := u.mkdirQuarantine(u.j.ID)
	if err != nil {
		return err
	}
	target, err := u.linkInto(dir, name)
	if err != nil {
		return err
	}
	if err := u.syncQuarantine(dir); err != nil {
		return err
	}
	u.report.Conflicts = append(u.report.Conflicts, Conflict{Name: name, MovedTo: target, Why: why})
	return ignoreNotExist(u.files.Remove(u.filePath(name)))
}

// syncQuarantine makes the names in a directory of mkdirQuarantine durable.
func (d *Dir) syncQuarantine(dir string) error {
	for _, dir := range []string{dir, filepath.Dir(dir), d.s} {
		if err := d.syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// linkInto links a file of D into dir, under a free name or the one that an interrupted attempt
// has given it, and returns its path there. It syncs a regular file, because the program that wrote
// it may not have. A directory cannot be linked and is renamed.
func (u *rollback) linkInto(dir, name string) (string, error) {
	here, err := u.files.Lstat(u.filePath(name))
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		target := filepath.Join(dir, name)
		if n > 0 {
			target = filepath.Join(dir, safefile.Shortened(name)+"."+strconv.Itoa(n))
		}
		there, err := u.files.Lstat(target)
		if err == nil && !vfs.SameFile(here, there) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			add := u.files.Link
			if here.IsDir() {
				add = u.files.RenameNew
			}
			err = add(u.filePath(name), target)
		}
		if err == nil && here.Mode().IsRegular() {
			err = u.files.Sync(target)
		}
		return target, err
	}
}

// mkdirQuarantine creates a directory inside S/conflicts and returns its path.
func (d *Dir) mkdirQuarantine(name string) (string, error) {
	path := d.statePath(quarantineName, name)
	for _, dir := range []string{filepath.Dir(path), path} {
		if err := d.files.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		// It may not exist: Inspect's file system creates nothing.
		if err := ignoreNotExist(checkTrusted(d.files, dir)); err != nil {
			return "", err
		}
	}
	return path, nil
}
