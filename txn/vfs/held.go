package vfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Held is a set of directories that are kept open. A path below one of them is resolved
// from its descriptor, so it leads into the directory that was checked even if another
// program puts a different directory, or a symbolic link, at its path. The zero value
// holds no directory.
//
// A Held is safe for concurrent use, except for Hold and Close.
type Held struct {
	dirs []*heldDir
}

type heldDir struct {
	path    string
	current atomic.Pointer[handle] // nil while the directory does not exist

	mu  sync.Mutex
	all []*handle // current and earlier ones, which may still be in use
}

// handle is an open directory: root for the operations that package os offers on an
// os.Root, dir for system calls that need a descriptor.
type handle struct {
	root *os.Root
	dir  *os.File

	mu      sync.Mutex
	sub     *os.Root // the subdirectory that the last inParent opened, or nil
	subName string   // its name relative to root, "" if sub is nil
}

// inParent calls do with the parent directory of name and the last element of name. It
// keeps that directory open for the next call: os.Root would open and close every
// directory on the way, and a transaction removes many files from the same one.
func (h *handle) inParent(name string, do func(root *os.Root, base string) error) error {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return do(h.root, name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if dir := name[:slash]; h.subName != dir {
		sub, err := h.root.OpenRoot(dir)
		if err != nil {
			return err
		}
		h.forgetSub()
		h.subName, h.sub = dir, sub
	}
	return do(h.sub, name[slash+1:])
}

// forget closes the directory that inParent keeps open if it is name or below name. It is
// called before name is removed, renamed or created.
func (h *handle) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subName == name || strings.HasPrefix(h.subName, name+"/") {
		h.forgetSub()
	}
}

func (h *handle) forgetSub() {
	if h.sub != nil {
		_ = h.sub.Close() // opened for reading only
	}
	h.subName, h.sub = "", nil
}

func (h *handle) close() error {
	h.mu.Lock()
	h.forgetSub()
	h.mu.Unlock()
	return errors.Join(h.root.Close(), h.dir.Close())
}

// Hold opens the directory at path, which must not be a symbolic link, and holds it.
// A directory that does not exist is held once Mkdir has created it.
//
// Errors: ErrNotDir, or the file system's except fs.ErrNotExist.
func (h *Held) Hold(path string) error {
	d := &heldDir{path: path}
	h.dirs = append(h.dirs, d)
	err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrNotDir is returned by Hold, and by Mkdir of a held directory, when the path exists
// and is not a directory.
var ErrNotDir = errors.New("not a directory")

// open makes the directory that is at the path now the current one.
func (d *heldDir) open() error {
	dir, err := openAt(unix.AT_FDCWD, d.path, d.path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return &fs.PathError{Op: "open", Path: d.path, Err: ErrNotDir}
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	if err := checkSame(root, dir); err != nil {
		return errors.Join(pathError("open", d.path, err), root.Close(), dir.Close())
	}
	h := &handle{root: root, dir: dir}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, h)
	d.current.Store(h)
	return nil
}

// checkSame returns ErrNotDir if root and dir are different directories. os.OpenRoot
// follows a symbolic link that another program may have put there after dir was opened.
func checkSame(root *os.Root, dir *os.File) error {
	a, err := root.Stat(".")
	if err != nil {
		return err
	}
	b, err := dir.Stat()
	if err == nil && !os.SameFile(a, b) {
		err = ErrNotDir
	}
	return err
}

// Stat describes the directory that is held for path. It returns fs.ErrNotExist if none is
// held.
func (h *Held) Stat(path string) (fs.FileInfo, error) {
	if _, dir, _ := h.find(path); dir != nil {
		return dir.dir.Stat()
	}
	return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
}

// Current reports whether the directory at path is the one that is held.
func (h *Held) Current(path string) bool {
	held, err := h.Stat(path)
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(held, now)
}

// Open opens a regular file below a held directory, with the flags of os.OpenFile. A
// new file has mode 0600 less the umask. It does not follow a symbolic link and does
// not block on a pipe.
//
// Errors: ErrNotRegular, or the file system's.
func (h *Held) Open(name string, flag int) (*os.File, error) { return OS{h}.open(name, flag) }

// Close closes the directories. Nothing below them can be reached afterwards.
func (h *Held) Close() error {
	var errs []error
	for _, d := range h.dirs {
		for _, h := range d.all {
			errs = append(errs, h.close())
		}
	}
	return errors.Join(errs...)
}

// find returns the held directory that contains name or is name, nil if there is none; its
// handle, nil if the directory does not exist; and name relative to the directory.
func (h *Held) find(name string) (d *heldDir, dir *handle, rest string) {
	if h == nil {
		return nil, nil, name
	}
	for _, d := range h.dirs {
		below, ok := strings.CutPrefix(name, d.path)
		if ok && (below == "" || below[0] == '/') {
			return d, d.current.Load(), strings.TrimPrefix(below, "/")
		}
	}
	return nil, nil, name
}

// refresh opens the directory at the path of d unless that is the one already held.
func (h *Held) refresh(d *heldDir) error {
	if h.Current(d.path) {
		return nil
	}
	return d.open()
}

// descriptor returns the directory from which a system call resolves rest: that of a held
// directory if name is in one, else AT_FDCWD. It returns fs.ErrNotExist if the held
// directory does not exist.
func (o OS) descriptor(name string) (dirfd int, rest string, err error) {
	d, dir, rest := o.held.find(name)
	switch {
	case d == nil:
		return unix.AT_FDCWD, name, nil
	case dir == nil:
		return -1, "", fs.ErrNotExist
	case rest == "":
		rest = "."
	}
	return int(dir.dir.Fd()), rest, nil
}

// handleOf returns the handle of the held directory that contains name or is name, nil if
// there is none, and name relative to it, "" if name is the directory. It returns
// fs.ErrNotExist if the held directory does not exist.
func (o OS) handleOf(name string) (dir *handle, rest string, err error) {
	d, dir, rest := o.held.find(name)
	if d != nil && dir == nil {
		err = fs.ErrNotExist
	}
	return dir, rest, err
}

// openAt opens name relative to dirfd, with close-on-exec. path is for errors.
func openAt(dirfd int, name, path string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := safefile.OpenAt(dirfd, name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return safefile.FileOf(fd, path, flag), nil
}

// pathError gives an error of os.Root, which has a relative path, the operation and the
// whole path.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// Wrapper is a file system that adds behaviour to another one, as those of faultfs do. At
// can reach the operating system's file system inside it.
type Wrapper interface {
	FS
	// Wrapped returns the file system inside.
	Wrapped() FS
	// Around returns a Wrapper with the same behaviour around another file system.
	Around(FS) FS
}

// At returns a file system like files that resolves the paths below held directories from
// their descriptors. A file system that is neither OS nor a Wrapper is returned unchanged.
func At(files FS, held *Held) FS {
	switch f := files.(type) {
	case OS:
		return OS{held}
	case Wrapper:
		return f.Around(At(f.Wrapped(), held))
	}
	return files
}

// OpenDir opens a directory for reading. Like the methods of OS it resolves the path from
// a held directory. It does not block on a pipe.
func OpenDir(files FS, name string) (*os.File, error) {
	switch f := files.(type) {
	case OS:
		dirfd, rest, err := f.descriptor(name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return openAt(dirfd, rest, name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	case Wrapper:
		return OpenDir(f.Wrapped(), name)
	}
	return os.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0) // opening a pipe would block
}

// Create creates and opens a file, which must not exist. It is for wrappers that make the
// system calls of WriteFile one by one.
func Create(files FS, name string, perm fs.FileMode) (*os.File, error) {
	switch f := files.(type) {
	case OS:
		return f.create(name, perm)
	case Wrapper:
		return Create(f.Wrapped(), name, perm)
	}
	return OS{}.create(name, perm)
}
