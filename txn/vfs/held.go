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

// Held are directories that are held open. A path below one of them is resolved from
// its descriptor, so that it leads into the directory that was checked even if
// another program puts a different one, or a symbolic link, in its place. The zero
// value holds none.
//
// Safe for concurrent use, except for Hold and Close.
type Held struct {
	dirs []*heldDir
}

type heldDir struct {
	path string
	now  atomic.Pointer[handle] // nil while there is no such directory

	mu  sync.Mutex
	all []*handle // those of before too: they may still be in use
}

// handle is an open directory: root for what package os offers, dir for the rest.
type handle struct {
	root *os.Root
	dir  *os.File

	mu    sync.Mutex
	below string   // a directory inside root, "" if none is open
	sub   *os.Root // that directory
}

// in calls do with the directory that the name is in and its last element. The
// directory of the last call stays open: os.Root opens and closes every directory on
// the way, and a transaction removes its files one after another from the same one.
func (h *handle) in(name string, do func(root *os.Root, base string) error) error {
	slash := strings.LastIndexByte(name, '/')
	if slash < 0 {
		return do(h.root, name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if dir := name[:slash]; h.below != dir {
		sub, err := h.root.OpenRoot(dir)
		if err != nil {
			return err
		}
		h.forgetSub()
		h.below, h.sub = dir, sub
	}
	return do(h.sub, name[slash+1:])
}

// forget closes the directory that in keeps open if it is at name or below it: name is
// about to become another one.
func (h *handle) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.below == name || strings.HasPrefix(h.below, name+"/") {
		h.forgetSub()
	}
}

func (h *handle) forgetSub() {
	if h.sub != nil {
		_ = h.sub.Close() // opened for reading only
	}
	h.below, h.sub = "", nil
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

// ErrNotDir is returned by Hold when something other than a directory is at the path.
var ErrNotDir = errors.New("not a directory")

// open holds what is at the path now.
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
		return errors.Join(called("open", d.path, err), root.Close(), dir.Close())
	}
	now := &handle{root: root, dir: dir}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, now)
	d.now.Store(now)
	return nil
}

// checkSame returns ErrNotDir if the directory was replaced between its two openings,
// of which one follows a symbolic link.
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

// Stat describes the held directory. It returns fs.ErrNotExist if there was none.
func (h *Held) Stat(path string) (fs.FileInfo, error) {
	if _, at, _ := h.find(path); at != nil {
		return at.dir.Stat()
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
		for _, at := range d.all {
			errs = append(errs, at.close())
		}
	}
	return errors.Join(errs...)
}

// find returns the held directory that name is, or is below of, its handle, which is
// nil if the directory does not exist, and the rest of the path.
func (h *Held) find(name string) (d *heldDir, at *handle, rest string) {
	if h == nil {
		return nil, nil, name
	}
	for _, d := range h.dirs {
		below, ok := strings.CutPrefix(name, d.path)
		if ok && (below == "" || below[0] == '/') {
			return d, d.now.Load(), strings.TrimPrefix(below, "/")
		}
	}
	return nil, nil, name
}

// refresh holds the directory at the path if that is not the one that is held.
func (h *Held) refresh(d *heldDir) error {
	if h.Current(d.path) {
		return nil
	}
	return d.open()
}

// descriptor returns what name is relative to: the descriptor of a held directory, or
// the working directory.
func (o OS) descriptor(name string) (dirfd int, rest string, err error) {
	d, at, rest := o.held.find(name)
	switch {
	case d == nil:
		return unix.AT_FDCWD, name, nil
	case at == nil:
		return -1, "", fs.ErrNotExist
	case rest == "":
		rest = "."
	}
	return int(at.dir.Fd()), rest, nil
}

// at returns the held directory that name is below of, or nil.
func (o OS) at(name string) (at *handle, rest string, err error) {
	d, at, rest := o.held.find(name)
	if d != nil && at == nil {
		return nil, "", fs.ErrNotExist
	}
	return at, rest, nil
}

// openAt opens name without inheriting the descriptor. path is its path, for errors.
func openAt(dirfd int, name, path string, flag int, perm fs.FileMode) (*os.File, error) {
	fd, err := safefile.OpenAt(dirfd, name, flag, perm)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// called gives an error of os.Root the operation and the path that package os would
// have given it.
func called(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// Wrapper is a file system that changes what another one does, as those of tests do.
type Wrapper interface {
	FS
	// Wrapped returns the other file system.
	Wrapped() FS
	// Around returns the same change of a different file system.
	Around(FS) FS
}

// At returns files with the paths below the held directories resolved from their
// descriptors. A file system that is neither OS nor a Wrapper is returned as it is.
func At(files FS, held *Held) FS {
	switch f := files.(type) {
	case OS:
		return OS{held}
	case Wrapper:
		return f.Around(At(f.Wrapped(), held))
	}
	return files
}

// OpenDir opens a directory for reading, from its descriptor if files holds it.
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

// Create creates a file that must not exist, for file systems that make the steps of
// WriteFile one by one.
func Create(files FS, name string, perm fs.FileMode) (*os.File, error) {
	switch f := files.(type) {
	case OS:
		return f.create(name, perm)
	case Wrapper:
		return Create(f.Wrapped(), name, perm)
	}
	return OS{}.create(name, perm)
}
