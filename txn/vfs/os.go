package vfs

import (
	"errors"
	"io/fs"
	"os"
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
		return os.Lstat(name)
	}
	dir, rest, err := o.resolve("lstat", name)
	if err != nil {
		return nil, err
	}
	return dir.Lstat(rest)
}

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

// openOwn opens a file for writing in place, creating it if necessary.
func (o OS) openOwn(name string, flag int) (*os.File, error) {
	f, err := o.held.Open(name, flag|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := CheckOwn(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// CheckOwn returns ErrNotOwn unless this user owns the open file and the file has only one
// hard link.
func CheckOwn(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return safefile.CheckSole(f.Name(), info)
}

// Mkdir of a held directory opens what is at the path now, if that is not the directory
// that is held.
func (o OS) Mkdir(name string, perm fs.FileMode) error {
	if d, _, rest := o.held.find(name); d != nil && rest == "" {
		err := os.Mkdir(name, perm)
		if err == nil || errors.Is(err, fs.ErrExist) {
			if err := o.held.refresh(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return err
	}
	dir, rest, err := o.resolve("mkdir", name)
	if err != nil {
		return err
	}
	return dir.Mkdir(rest, perm)
}

func (o OS) Remove(name string) error {
	if d, _, rest := o.held.find(name); d != nil && rest == "" {
		return os.Remove(name)
	}
	dir, rest, err := o.resolve("remove", name)
	if err != nil {
		return err
	}
	return dir.Remove(rest)
}

func (o OS) Chtimes(name string, mtime time.Time) error {
	dir, rest, err := o.resolve("chtimes", name)
	if err != nil {
		return err
	}
	return dir.Chtimes(rest, mtime)
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

func (o OS) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return err
	}
	temp, in, err := o.resolve("open", tempDir)
	if err != nil {
		return err
	}
	if mode, ok := dir.Permissions(rest); ok {
		perm = mode
	}
	return dir.Replace(rest, data, safefile.Exactly(perm), temp, in)
}

func (o OS) WriteNew(name string, data []byte, perm fs.FileMode) error {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return err
	}
	return dir.WriteNew(rest, data, perm)
}

func (o OS) Overwrite(name string, data []byte) error {
	f, err := o.openOwn(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	return errors.Join(overwrite(f, data), f.Close())
}

// overwrite empties the file first only if it gets shorter. ext4 writes a file that was emptied
// out when it is closed (auto_da_alloc), which costs more than all the rest.
func overwrite(f *os.File, data []byte) error {
	info, err := f.Stat()
	if err == nil && info.Size() > int64(len(data)) {
		err = f.Truncate(0) // O_TRUNC would truncate the file before openOwn has checked it
	}
	if err == nil {
		_, err = f.Write(data)
	}
	return err
}

func (o OS) AppendLine(name string, line []byte) error {
	f, err := o.openOwn(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(f, line), f.Close())
}

func appendLine(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	text := make([]byte, 0, len(line)+2)
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append(text, '\n')
		}
	}
	text = append(append(text, line...), '\n')
	if info.Size()+int64(len(text)) > MaxFileBytes {
		return &fs.PathError{Op: "append", Path: f.Name(), Err: ErrFileTooLarge}
	}
	_, err = f.Write(text)
	return err
}

func (o OS) Sync(name string) error {
	dir, rest, err := o.resolve("open", name)
	if err != nil {
		return err
	}
	return dir.Sync(rest)
}
