package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ErrNotDir is returned by OpenDir when the path exists and is not a directory.
var ErrNotDir = errors.New("not a directory")

// Dir is a directory that is held open. Names are resolved from its descriptor, so they lead
// into the directory that was opened even if another program puts a different directory, or
// a symbolic link, at its path.
//
// A name may have several elements. Lstat, Mkdir, Remove and Chtimes never leave the
// directory; the other methods follow links in the directory part of a name, so nobody else
// may be able to write there. Errors are those of package os, with the whole path.
//
// A Dir is safe for concurrent use, except for Close.
type Dir struct {
	path string
	fd   int // atCwd if Unheld
	holding

	opened fs.FileInfo // describes the directory as it was when it was opened
}

// Unheld is no directory: its names are paths, and they are resolved as package os does.
var Unheld = &Dir{fd: atCwd}

// OpenDir opens the directory at path, which must not be a symbolic link. It does not block
// on a pipe.
func OpenDir(path string) (*Dir, error) { return Unheld.OpenDir(path) }

// OpenDir opens a directory in d, which must not be a symbolic link. The caller closes it.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	opened, err := d.openDir(name)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		err = ErrNotDir
	}
	return opened, pathError("open", d.Path(name), err)
}

// Path returns the path of a name: for ".", the path at which the directory was opened.
func (d *Dir) Path(name string) string {
	if d.fd == atCwd {
		return name
	}
	return filepath.Join(d.path, name)
}

// Fd returns the descriptor of the directory, which is valid until Close.
func (d *Dir) Fd() int { return d.fd }

// Opened describes the directory as it was when it was opened. Its identity does not change.
func (d *Dir) Opened() fs.FileInfo { return d.opened }

// Has reports whether name is the file that info describes, and not a link to it.
func (d *Dir) Has(name string, info fs.FileInfo) bool {
	there, err := d.Lstat(name)
	return err == nil && SameFile(there, info)
}

// ReadDir lists a directory, sorted by name.
func (d *Dir) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := d.List(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// List opens a directory, to read the names in it. Unheld follows a link to it.
func (d *Dir) List(name string) (*os.File, error) {
	return d.open(name, os.O_RDONLY|oDirectory|d.noFollow(), 0)
}

// noFollow returns NoFollow for a directory that is held.
func (d *Dir) noFollow() int {
	if d.fd == atCwd {
		return 0
	}
	return NoFollow
}

// Open opens a regular file with the flags of os.OpenFile and without following a symbolic
// link. A new file has mode 0600 less the umask. It never blocks for longer than a second; for
// what is not a regular file it returns ErrNotRegular.
func (d *Dir) Open(name string, flag int) (*os.File, error) {
	return d.openFile(name, flag|NoFollow)
}

func (d *Dir) openFile(name string, flag int) (*os.File, error) {
	fd, _, err := openRegular(d.fd, name, flag)
	if err != nil {
		return nil, pathError("open", d.Path(name), err)
	}
	return fileOf(fd, d.Path(name), flag), nil
}

// Create creates a file, which must not exist, and opens it for reading and writing.
func (d *Dir) Create(name string, perm fs.FileMode) (*os.File, error) {
	return d.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d *Dir) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	path := d.Path(name)
	fd, err := openAt(d.fd, name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fileOf(fd, path, flag), nil
}

// ReadFile returns the content of a regular file of at most max bytes from offset on, never
// nil. It does not follow a symbolic link. It also returns ErrNotRegular and ErrTooLarge.
func (d *Dir) ReadFile(name string, offset, max int64) ([]byte, error) {
	return d.readFile(name, offset, max, NoFollow)
}

func (d *Dir) readFile(name string, offset, max int64, flag int) ([]byte, error) {
	fd, st, err := openRegular(d.fd, name, os.O_RDONLY|flag)
	if err != nil {
		return nil, pathError("open", d.Path(name), err)
	}
	defer closeFd(fd)
	if offset > 0 {
		err = seekTo(fd, offset)
	}
	var data []byte
	if err == nil {
		data, err = readAll(&raw{fd, st.Size, offset}, st.Size-offset, max)
	}
	return data, pathError("read", d.Path(name), err)
}

// Link gives a file the second name newname in to, which must not exist.
func (d *Dir) Link(name string, to *Dir, newname string) error {
	return d.onTwo("link", name, to, newname, linkAt)
}

// Rename replaces a file, or an empty directory, which os.Rename does not.
func (d *Dir) Rename(name string, to *Dir, newname string) error {
	return d.onTwo("rename", name, to, newname, renameAt)
}

// RenameNew returns fs.ErrExist if the new name exists, and errors.ErrUnsupported if the kernel
// or the file system cannot rename without replacing.
func (d *Dir) RenameNew(name string, to *Dir, newname string) error {
	return d.onTwo("rename", name, to, newname, renameNew)
}

// onTwo makes a system call with two names.
func (d *Dir) onTwo(op, name string, to *Dir, newname string, call onNames) error {
	d.forget(name)
	to.forget(newname)
	_, err := retry(func() (int, error) { return 0, call(d.fd, name, to.fd, newname) })
	if err != nil {
		return &os.LinkError{Op: op, Old: d.Path(name), New: to.Path(newname), Err: err}
	}
	return nil
}

// onNames is a system call with two names, each of which is relative to a directory.
type onNames = func(oldfd int, old string, newfd int, new string) error

// Sync makes the bytes of a file durable, or the names in a directory, with "." those in this
// one. It opens the file: fsync(2) applies to the inode, whichever descriptor wrote it.
func (d *Dir) Sync(name string) error {
	fd, err := openAt(d.fd, name, forSync|d.noFollow(), 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: d.Path(name), Err: err}
	}
	_, err = retry(func() (int, error) { return 0, fsync(fd) })
	return errors.Join(pathError("sync", d.Path(name), err), closeFd(fd))
}

// SyncNames is Sync of a directory. It returns nil on a file system that cannot sync directories.
func (d *Dir) SyncNames(name string) error {
	err := d.Sync(name)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// pathError gives a bare error of the system, or one of os.Root, which has a relative path,
// the operation and the whole path.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
