package safefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
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
	fd   int      // for system calls that package os does not offer on an os.Root
	root *os.Root // nil if Unheld

	opened fs.FileInfo // describes the directory as it was when it was opened

	mu      sync.Mutex
	sub     *os.Root // the subdirectory that the last inParent opened, or nil
	subName string   // its name relative to root, "" if sub is nil
}

// Unheld is no directory: its names are paths, and they are resolved as package os does.
var Unheld = &Dir{fd: unix.AT_FDCWD}

// OpenDir opens the directory at path, which must not be a symbolic link. It does not block
// on a pipe.
func OpenDir(path string) (*Dir, error) { return Unheld.OpenDir(path) }

// OpenDir opens a directory in d, which must not be a symbolic link. The caller closes it.
func (d *Dir) OpenDir(name string) (*Dir, error) {
	opened, err := d.openDir(name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		err = ErrNotDir
	}
	return opened, pathError("open", d.Path(name), err)
}

func (d *Dir) openDir(name string) (*Dir, error) {
	fd, err := openAt(d.fd, name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	if err != nil {
		return nil, err
	}
	root, err := d.openRoot(name)
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil {
		err = checkSame(opened, fd)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close(), unix.Close(fd))
	}
	return &Dir{path: d.Path(name), fd: fd, root: root, opened: opened}, nil
}

// openRoot opens a directory in d as a root. It follows links. The dot keeps it from waiting for
// a writer of a FIFO.
func (d *Dir) openRoot(name string) (*os.Root, error) {
	if d.root == nil {
		return os.OpenRoot(name + "/.")
	}
	return d.root.OpenRoot(name + "/.")
}

// checkSame returns ErrNotDir unless fd is the directory that root describes: openRoot follows a
// symbolic link that another program may have put there after fd was opened.
func checkSame(root fs.FileInfo, fd int) error {
	var st syscall.Stat_t
	err := syscall.Fstat(fd, &st)
	if of := root.Sys().(*syscall.Stat_t); err == nil && (of.Dev != st.Dev || of.Ino != st.Ino) {
		err = ErrNotDir
	}
	return err
}

// Close closes the directory. Closing a closed Dir, or Unheld, does nothing.
func (d *Dir) Close() error {
	if d.root == nil || d.fd < 0 {
		return nil
	}
	d.mu.Lock()
	d.forgetSub()
	d.mu.Unlock()
	err := errors.Join(d.root.Close(), unix.Close(d.fd))
	d.fd = -1
	return err
}

// Path returns the path of a name: for ".", the path at which the directory was opened.
func (d *Dir) Path(name string) string {
	if d.root == nil {
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
	return err == nil && os.SameFile(there, info)
}

// Lstat does not follow a symbolic link.
func (d *Dir) Lstat(name string) (info fs.FileInfo, err error) {
	if d.root == nil {
		return os.Lstat(name)
	}
	err = d.inParent("lstat", name, func(root *os.Root, base string) error {
		info, err = root.Lstat(base)
		return err
	})
	return info, err
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
	return d.open(name, os.O_RDONLY|unix.O_DIRECTORY|d.noFollow(), 0)
}

// noFollow returns NoFollow for a directory that is held.
func (d *Dir) noFollow() int {
	if d.root == nil {
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
	defer unix.Close(fd)
	if offset > 0 {
		_, err = unix.Seek(fd, offset, io.SeekStart)
	}
	var data []byte
	if err == nil {
		data, err = readAll(&raw{fd, st.Size, offset}, st.Size-offset, max)
	}
	return data, pathError("read", d.Path(name), err)
}

// Mkdir creates one directory.
func (d *Dir) Mkdir(name string, perm fs.FileMode) error {
	if d.root == nil {
		return os.Mkdir(name, perm)
	}
	d.forget(name)
	return d.inParent("mkdir", name, func(root *os.Root, base string) error { return root.Mkdir(base, perm) })
}

// Remove removes a file or an empty directory.
func (d *Dir) Remove(name string) error {
	if d.root == nil {
		return os.Remove(name)
	}
	d.forget(name)
	return d.inParent("remove", name, func(root *os.Root, base string) error { return root.Remove(base) })
}

// RemoveAll removes a file, or a directory with its content.
func (d *Dir) RemoveAll(name string) error {
	d.forget(name)
	return d.inParent("remove", name, func(root *os.Root, base string) error { return root.RemoveAll(base) })
}

// Chtimes sets the modification time of name, or with "." that of the directory itself.
func (d *Dir) Chtimes(name string, mtime time.Time) error {
	if d.root == nil {
		return os.Chtimes(name, mtime, mtime)
	}
	return pathError("chtimes", d.Path(name), d.root.Chtimes(name, mtime, mtime))
}

// Link gives a file the second name newname in to, which must not exist.
func (d *Dir) Link(name string, to *Dir, newname string) error {
	return d.onTwo("link", name, to, newname, func(oldfd int, old string, newfd int, new string) error {
		return unix.Linkat(oldfd, old, newfd, new, 0)
	})
}

// Rename replaces a file, or an empty directory, which os.Rename does not.
func (d *Dir) Rename(name string, to *Dir, newname string) error {
	return d.onTwo("rename", name, to, newname, unix.Renameat)
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
	fd, err := openAt(d.fd, name, os.O_RDONLY|d.noFollow(), 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: d.Path(name), Err: err}
	}
	_, err = retry(func() (int, error) { return 0, fsync(fd) })
	return errors.Join(pathError("sync", d.Path(name), err), unix.Close(fd))
}

// SyncNames is Sync of a directory. It returns nil on a file system that cannot sync directories.
func (d *Dir) SyncNames(name string) error {
	err := d.Sync(name)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// inParent calls do with the parent directory of name and the last element of name. It
// keeps that directory open for the next call: os.Root would open and close every
// directory on the way, and a transaction removes many files from the same one.
func (d *Dir) inParent(op, name string, do func(root *os.Root, base string) error) error {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return pathError(op, d.Path(name), do(d.root, name))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if dir := name[:slash]; d.subName != dir {
		sub, err := d.root.OpenRoot(dir)
		if err != nil {
			return pathError(op, d.Path(name), err)
		}
		d.forgetSub()
		d.subName, d.sub = dir, sub
	}
	return pathError(op, d.Path(name), do(d.sub, name[slash+1:]))
}

// inRoot is inParent for Unheld, too, which opens the directory for one call.
func (d *Dir) inRoot(op, name string, do func(root *os.Root, base string) error) error {
	if d.root != nil {
		return d.inParent(op, name, do)
	}
	root, err := d.openRoot(filepath.Dir(name))
	if err != nil {
		return pathError(op, name, err)
	}
	defer root.Close()
	return pathError(op, name, do(root, filepath.Base(name)))
}

// forget closes the directory that inParent keeps open if it is name or below name. It is
// called before name is removed, renamed or created.
func (d *Dir) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.subName == name || strings.HasPrefix(d.subName, name+"/") {
		d.forgetSub()
	}
}

func (d *Dir) forgetSub() {
	if d.sub != nil {
		_ = d.sub.Close() // opened for reading only
	}
	d.subName, d.sub = "", nil
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
