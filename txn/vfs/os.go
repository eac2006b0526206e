package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// OS is the operating system's file system. The zero value resolves every path as usual.
// At returns one that resolves the paths below held directories from their descriptors.
type OS struct{ held *Held }

// Lstat of a held directory itself looks at the path, not at the descriptor, to show
// whether the directory was removed or replaced.
func (o OS) Lstat(name string) (fs.FileInfo, error) {
	dir, rest, err := o.handleOf(name)
	if dir == nil && err == nil || rest == "" {
		return os.Lstat(name)
	}
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	var info fs.FileInfo
	err = dir.inParent(rest, func(root *os.Root, base string) (err error) {
		info, err = root.Lstat(base)
		return err
	})
	return info, pathError("lstat", name, err)
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

// noFollow returns O_NOFOLLOW for a name that is resolved from a held directory.
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

func (o OS) ReadFrom(name string, offset int64) ([]byte, error) {
	f, err := o.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
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

// CheckOwn returns ErrNotOwn unless this user owns the open file and the file has only one
// hard link.
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
		err = fmt.Errorf("%w: it has %d hard links", ErrNotOwn, st.Nlink)
	default:
		return nil
	}
	return &fs.PathError{Op: "open", Path: f.Name(), Err: err}
}

// Mkdir of a held directory opens what is at the path now, if that is not the directory
// that is held.
func (o OS) Mkdir(name string, perm fs.FileMode) error {
	d, dir, rest := o.held.find(name)
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
	case dir == nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrNotExist}
	}
	dir.forget(rest)
	return pathError("mkdir", name, dir.inParent(rest, func(root *os.Root, base string) error { return root.Mkdir(base, perm) }))
}

func (o OS) Remove(name string) error {
	dir, rest, err := o.handleOf(name)
	if dir == nil && err == nil || rest == "" {
		return os.Remove(name)
	}
	if err == nil {
		dir.forget(rest)
		err = dir.inParent(rest, func(root *os.Root, base string) error { return root.Remove(base) })
	}
	return pathError("remove", name, err)
}

func (o OS) Chtimes(name string, mtime time.Time) error {
	dir, rest, err := o.handleOf(name)
	if dir == nil && err == nil {
		return os.Chtimes(name, mtime, mtime)
	}
	if rest == "" {
		rest = "."
	}
	if err == nil {
		err = dir.root.Chtimes(rest, mtime, mtime)
	}
	return pathError("chtimes", name, err)
}

func (o OS) Link(oldname, newname string) error {
	return o.onTwoPaths("link", oldname, newname, func(oldfd int, old string, newfd int, new string) error {
		return unix.Linkat(oldfd, old, newfd, new, 0)
	})
}

// Rename does not use os.Rename, which does not replace an empty directory.
func (o OS) Rename(oldname, newname string) error {
	return o.onTwoPaths("rename", oldname, newname, unix.Renameat)
}

func (o OS) RenameNew(oldname, newname string) error {
	return o.onTwoPaths("rename", oldname, newname, safefile.RenameNewAt)
}

// onTwoPaths makes a system call with two paths. It repeats a call that a signal
// interrupted.
func (o OS) onTwoPaths(op, oldname, newname string, call func(oldfd int, old string, newfd int, new string) error) error {
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

// WriteFile writes the file with renameio. Its root is the directory of the temporary file,
// so that it cannot leave a held directory. If the file is to be in another directory, only
// the rename is made here.
func (o OS) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	if mode, ok := o.regularMode(name); ok {
		perm = mode
	}
	root, err := o.openRoot(tempDir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := renameio.NewPendingFile(filepath.Base(name), renameio.WithRoot(root),
		renameio.WithPermissions(perm), renameio.WithStaticPermissions(perm))
	if err != nil {
		return pathError("open", filepath.Join(tempDir, "."+filepath.Base(name)), err)
	}
	if len(data) > 0 {
		_, err = f.Write(data)
	}
	switch {
	case err != nil:
	case filepath.Dir(name) == tempDir:
		err = pathError("rename", name, f.CloseAtomicallyReplace())
	default:
		err = o.moveTemp(f, tempDir, name)
	}
	if err != nil {
		_ = f.Cleanup()
	}
	return err
}

// moveTemp is CloseAtomicallyReplace for a file of another directory than tempDir.
func (o OS) moveTemp(f *renameio.PendingFile, tempDir, name string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.File.Close(); err != nil {
		return err
	}
	return o.Rename(filepath.Join(tempDir, filepath.Base(f.Name())), name)
}

// openRoot opens a directory, below the held one that contains it. The caller closes it.
func (o OS) openRoot(path string) (*os.Root, error) {
	dir, rest, err := o.handleOf(path)
	if dir == nil && err == nil {
		return os.OpenRoot(path)
	}
	if rest == "" {
		rest = "."
	}
	var root *os.Root
	if err == nil {
		root, err = dir.root.OpenRoot(rest)
	}
	return root, pathError("open", path, err)
}

// regularMode returns the permissions of a regular file. It makes one system call, where
// Lstat would open each directory on the way. Symbolic links in the directory part are
// followed, which is safe because only a mode is read.
func (o OS) regularMode(name string) (mode fs.FileMode, ok bool) {
	dirfd, rest, err := o.descriptor(name)
	if err != nil {
		return 0, false
	}
	var st unix.Stat_t
	err = unix.Fstatat(dirfd, rest, &st, unix.AT_SYMLINK_NOFOLLOW)
	return fs.FileMode(st.Mode) & fs.ModePerm, err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// forget closes the descriptor that is kept for a directory at or below name. It is called
// before that directory is removed, renamed or created.
func (o OS) forget(name string) {
	if dir, rest, _ := o.handleOf(name); dir != nil {
		dir.forget(rest)
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

func (o OS) WriteNew(name string, data []byte, perm fs.FileMode) error {
	f, err := o.create(name, perm)
	if err != nil {
		return err
	}
	return errors.Join(fill(f, data, perm), f.Close())
}

// fill sets the permissions of a new file and writes its content.
func fill(f *os.File, data []byte, perm fs.FileMode) error {
	info, err := f.Stat()
	if err == nil && info.Mode().Perm() != perm {
		err = f.Chmod(perm)
	}
	if err == nil && len(data) > 0 {
		_, err = f.Write(data)
	}
	return err
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

// Sync opens the file anew: fsync(2) applies to the inode, whichever descriptor wrote it.
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
