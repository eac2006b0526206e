package vfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// OS is the operating system's file system. The zero value resolves every path as usual.
// At returns one that resolves the paths below held directories from their descriptors.
type OS struct{ held *Held }

// Lstat of a held directory itself looks at the path, not at the descriptor, to show
// whether the directory was removed or replaced.
func (o OS) Lstat(name string) (fs.FileInfo, error) {
	if d, _, rest := o.held.find(name); d != nil && rest == "" {
		return safefile.Unheld.Lstat(name)
	}
	dir, rest, err := o.resolve("lstat", name)
	if err != nil {
		return nil, err
	}
	return dir.Lstat(rest)
}

func (o OS) EvalSymlinks(name string) (string, error) { return filepath.EvalSymlinks(name) }

func (o OS) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return nil, err
	}
	return dir.ReadDir(rest)
}

func (o OS) ReadFile(name string) ([]byte, error) { return o.ReadFrom(name, 0) }

func (o OS) ReadFrom(name string, offset int64) ([]byte, error) {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return nil, err
	}
	return dir.ReadFile(rest, offset, MaxFileBytes)
}

// Mkdir of a held directory opens what is at the path now, if that is not the directory
// that is held.
func (o OS) Mkdir(name string, perm fs.FileMode) error {
	if d, _, rest := o.held.find(name); d != nil && rest == "" {
		err := safefile.Unheld.Mkdir(name, perm)
		if err == nil || errors.Is(err, fs.ErrExist) {
			if err := o.held.refresh(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return err
	}
	return o.in("mkdir", name, func(dir *safefile.Dir, rest string) error { return dir.Mkdir(rest, perm) })
}

func (o OS) Remove(name string) error {
	if d, _, rest := o.held.find(name); d != nil && rest == "" {
		return safefile.Rmdir(name)
	}
	return o.in("remove", name, func(dir *safefile.Dir, rest string) error { return dir.Remove(rest) })
}

func (o OS) Chtimes(name string, mtime time.Time) error {
	return o.in("chtimes", name, func(dir *safefile.Dir, rest string) error { return dir.Chtimes(rest, mtime) })
}

// in calls do with the directory from which name is resolved, and name relative to it.
func (o OS) in(op, name string, do func(dir *safefile.Dir, rest string) error) error {
	dir, rest, err := o.resolve(op, name)
	if err != nil {
		return err
	}
	return do(dir, rest)
}

func (o OS) Link(oldname, newname string) error {
	return o.onTwo("link", oldname, newname, (*safefile.Dir).Link)
}

func (o OS) Rename(oldname, newname string) error {
	return o.onTwo("rename", oldname, newname, (*safefile.Dir).Rename)
}

func (o OS) RenameNew(oldname, newname string) error {
	return o.onTwo("rename", oldname, newname, (*safefile.Dir).RenameNew)
}

func (o OS) onTwo(op, oldname, newname string, do func(from *safefile.Dir, name string, to *safefile.Dir, newname string) error) error {
	from, old, err := o.resolve(op, oldname)
	if err != nil {
		return err
	}
	to, new, err := o.resolve(op, newname)
	if err != nil {
		return err
	}
	return do(from, old, to, new)
}

func (o OS) WriteNew(name string, data []byte, perm fs.FileMode) error {
	return o.in("open", name, func(dir *safefile.Dir, rest string) error { return dir.WriteNew(rest, data, perm) })
}

func (o OS) WritePending(name string, data []byte, perm fs.FileMode) (Unsynced, error) {
	return o.unsynced(name, func(dir *safefile.Dir, rest string) (*safefile.Unsynced, error) {
		return dir.WritePending(rest, data, perm)
	})
}

func (o OS) StartSync(name string) (Unsynced, error) {
	return o.unsynced(name, (*safefile.Dir).StartSync)
}

func (o OS) unsynced(name string, do func(dir *safefile.Dir, rest string) (*safefile.Unsynced, error)) (Unsynced, error) {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return nil, err
	}
	u, err := do(dir, rest)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (o OS) Overwrite(name string, data []byte) error {
	return o.in("open", name, func(dir *safefile.Dir, rest string) error { return dir.Overwrite(rest, data) })
}

func (o OS) AppendLine(name string, line []byte) error {
	return o.in("open", name, func(dir *safefile.Dir, rest string) error { return dir.AppendLine(rest, line, MaxFileBytes) })
}

func (o OS) Sync(name string) error {
	return o.in("open", name, func(dir *safefile.Dir, rest string) error { return dir.Sync(rest) })
}

// Lock refuses a file that has a second hard link or another owner, because its content will be
// replaced.
func (o OS) Lock(ctx context.Context, name string, create bool) (locked fs.FileInfo, unlock func(), err error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return nil, nil, err
	}
	f, err := dir.Open(rest, flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrMoved
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if locked, err = f.Stat(); err == nil {
		err = safefile.CheckSole(name, locked)
	}
	if err == nil {
		unlock, err = safefile.Lock(ctx, name, locked)
	}
	return locked, unlock, err
}
