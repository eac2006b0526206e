package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// OS is the operating system's file system. Of the zero value every path is resolved
// as usual; see At.
type OS struct{ held *Held }

// Lstat describes a held directory as it is at its path, which shows whether it was
// removed or replaced.
func (o OS) Lstat(name string) (fs.FileInfo, error) {
	at, rest, err := o.at(name)
	if at == nil && err == nil || rest == "" {
		return os.Lstat(name)
	}
	if err != nil {
		return nil, called("lstat", name, err)
	}
	var info fs.FileInfo
	err = at.in(rest, func(root *os.Root, base string) (err error) {
		info, err = root.Lstat(base)
		return err
	})
	return info, called("lstat", name, err)
}

func (o OS) ReadDir(name string) ([]fs.DirEntry, error) {
	dirfd, rest, err := o.descriptor(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	d, err := openAt(dirfd, rest, name, os.O_RDONLY|unix.O_DIRECTORY|noFollow(dirfd), 0)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// noFollow is the flag that refuses a symbolic link below a held directory.
func noFollow(dirfd int) int {
	if dirfd == unix.AT_FDCWD {
		return 0
	}
	return unix.O_NOFOLLOW
}

func (o OS) ReadFile(name string) ([]byte, error) {
	f, err := o.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return safefile.ReadAll(f, MaxFileBytes)
}

// open opens a regular file.
func (o OS) open(name string, flag int) (*os.File, error) {
	dirfd, rest, err := o.descriptor(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return safefile.OpenFileAt(dirfd, rest, name, flag|safefile.NoFollow)
}

// openOwn opens a file for writing in place, creating it if necessary.
func (o OS) openOwn(name string, flag int) (*os.File, error) {
	f, err := o.open(name, flag|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := CheckOwn(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// CheckOwn returns ErrNotOwn unless this user owns the open file and it has one name.
func CheckOwn(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && int(st.Uid) != os.Geteuid():
		err = fmt.Errorf("%w: it belongs to user %d", ErrNotOwn, st.Uid)
	case ok && st.Nlink > 1:
		err = fmt.Errorf("%w: it has %d names", ErrNotOwn, st.Nlink)
	default:
		return nil
	}
	return &fs.PathError{Op: "open", Path: f.Name(), Err: err}
}

// Mkdir creates one directory. One that is held is held anew if it is another now.
func (o OS) Mkdir(name string, perm fs.FileMode) error {
	d, at, rest := o.held.find(name)
	switch {
	case d == nil:
		return os.Mkdir(name, perm)
	case rest == "":
		err := os.Mkdir(name, perm)
		if err == nil || errors.Is(err, fs.ErrExist) {
			if err := o.held.refresh(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return err
	case at == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrNotExist}
	}
	at.forget(rest)
	return called("mkdir", name, at.in(rest, func(root *os.Root, base string) error { return root.Mkdir(base, perm) }))
}

func (o OS) Remove(name string) error {
	at, rest, err := o.at(name)
	if at == nil && err == nil || rest == "" {
		return os.Remove(name)
	}
	if err == nil {
		at.forget(rest)
		err = at.in(rest, func(root *os.Root, base string) error { return root.Remove(base) })
	}
	return called("remove", name, err)
}

func (o OS) Chtimes(name string, mtime time.Time) error {
	at, rest, err := o.at(name)
	if at == nil && err == nil {
		return os.Chtimes(name, mtime, mtime)
	}
	if rest == "" {
		rest = "."
	}
	if err == nil {
		err = at.root.Chtimes(rest, mtime, mtime)
	}
	return called("chtimes", name, err)
}

func (o OS) Link(oldname, newname string) error {
	return o.both("link", oldname, newname, func(oldfd int, old string, newfd int, new string) error {
		return unix.Linkat(oldfd, old, newfd, new, 0)
	})
}

// Rename is not os.Rename, which refuses to replace an empty directory.
func (o OS) Rename(oldname, newname string) error {
	return o.both("rename", oldname, newname, unix.Renameat)
}

func (o OS) RenameNew(oldname, newname string) error {
	return o.both("rename", oldname, newname, safefile.RenameNewAt)
}

// both makes a system call on two paths, again if a signal interrupts it.
func (o OS) both(op, oldname, newname string, call func(oldfd int, old string, newfd int, new string) error) error {
	oldfd, old, err := o.descriptor(oldname)
	newfd, new, newErr := o.descriptor(newname)
	if op == "rename" {
		o.forget(oldname)
		o.forget(newname)
	}
	for err = errors.Join(err, newErr); err == nil; {
		if err = call(oldfd, old, newfd, new); err == nil {
			return nil
		}
		if errors.Is(err, unix.EINTR) {
			err = nil
		}
	}
	return &os.LinkError{Op: op, Old: oldname, New: newname, Err: err}
}

// WriteFile makes the temporary file by itself, because renameio resolves paths.
func (o OS) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	if mode, ok := o.regular(name); ok {
		perm = mode
	}
	f, err := o.createTemp(tempDir, filepath.Base(name), perm)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f, data, perm), f.Close())
	if err == nil {
		err = o.Rename(f.Name(), name)
	}
	if err != nil {
		_ = o.Remove(f.Name())
	}
	return err
}

// regular returns the mode of a regular file. It needs no more than one system call,
// where Lstat opens each directory on the way; what it says is no more than a mode.
func (o OS) regular(name string) (mode fs.FileMode, ok bool) {
	dirfd, rest, err := o.descriptor(name)
	if err != nil {
		return 0, false
	}
	var st unix.Stat_t
	err = unix.Fstatat(dirfd, rest, &st, unix.AT_SYMLINK_NOFOLLOW)
	return fs.FileMode(st.Mode) & fs.ModePerm, err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// forget is called before the directory at name becomes another one.
func (o OS) forget(name string) {
	if at, rest, _ := o.at(name); at != nil {
		at.forget(rest)
	}
}

func (o OS) createTemp(dir, base string, perm fs.FileMode) (*os.File, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf(".%s%d", base, rand.Int64N(9e15)+1e15))
		f, err := o.create(path, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// create creates a file that must not exist.
func (o OS) create(path string, perm fs.FileMode) (*os.File, error) {
	dirfd, rest, err := o.descriptor(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return openAt(dirfd, rest, path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// fill writes the whole file and syncs it.
func fill(f *os.File, data []byte, perm fs.FileMode) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != perm {
		err = f.Chmod(perm)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	return err
}

func (o OS) Overwrite(name string, data []byte) error {
	f, err := o.openOwn(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	err = f.Truncate(0) // only now: O_TRUNC would come before the check
	if err == nil {
		_, err = f.Write(data)
	}
	return errors.Join(err, f.Close())
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

// Sync needs no handle that was written to: fsync(2) makes durable what belongs to
// the inode.
func (o OS) Sync(name string) error {
	dirfd, rest, err := o.descriptor(name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := openAt(dirfd, rest, name, os.O_RDONLY|noFollow(dirfd), 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
