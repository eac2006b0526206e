package vfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

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
	fake FS // not nil if the file system is not the operating system's, which holds nothing
}

// Holding returns a Held for paths of files.
func Holding(files FS) *Held {
	for {
		switch f := files.(type) {
		case OS:
			return new(Held)
		case Wrapper:
			files = f.Wrapped()
		default:
			return &Held{fake: files}
		}
	}
}

type heldDir struct {
	path    string
	current atomic.Pointer[safefile.Dir] // nil while the directory does not exist

	mu  sync.Mutex
	all []*safefile.Dir // current and earlier ones, which may still be in use
}

// Hold opens the directory at path, which must not be a symbolic link, and holds it.
// A directory that does not exist is held once Mkdir has created it.
//
// Errors: ErrNotDir, or the file system's except fs.ErrNotExist.
func (h *Held) Hold(path string) error {
	if h.fake != nil {
		info, err := h.fake.Lstat(path)
		if err == nil && !info.IsDir() {
			return ErrNotDir
		}
		return ignoreNotExist(err)
	}
	d := &heldDir{path: path}
	h.dirs = append(h.dirs, d)
	return ignoreNotExist(d.open())
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// open makes the directory that is at the path now the current one.
func (d *heldDir) open() error {
	dir, err := safefile.OpenDir(d.path)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, dir)
	d.current.Store(dir)
	return nil
}

// Stat describes the directory that is held for path, as it was when it was opened. It returns
// fs.ErrNotExist if none is held.
func (h *Held) Stat(path string) (fs.FileInfo, error) {
	if h.fake != nil {
		return h.fake.Lstat(path)
	}
	if _, dir, _ := h.find(path); dir != nil {
		return dir.Opened(), nil
	}
	return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
}

// Current reports whether the directory at path is the one that is held.
func (h *Held) Current(path string) bool {
	held, err := h.Stat(path)
	if err != nil || h.fake != nil {
		return err == nil
	}
	now, err := safefile.Unheld.Lstat(path)
	return err == nil && SameFile(held, now)
}

// Close closes the directories. Nothing below them can be reached afterwards.
func (h *Held) Close() error {
	var errs []error
	for _, d := range h.dirs {
		for _, dir := range d.all {
			errs = append(errs, dir.Close())
		}
	}
	return errors.Join(errs...)
}

// find returns the held directory that contains name or is name, nil if there is none; its
// Dir, nil if the directory does not exist; and name relative to the directory.
func (h *Held) find(name string) (d *heldDir, dir *safefile.Dir, rest string) {
	if h == nil {
		return nil, nil, name
	}
	for _, d := range h.dirs {
		below, ok := strings.CutPrefix(name, d.path)
		if ok && (below == "" || os.IsPathSeparator(below[0])) {
			return d, d.current.Load(), below[min(1, len(below)):]
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

// resolve returns the directory from which name is resolved, and name relative to it, "." if
// name is a held directory itself. If no held directory contains name, that is
// safefile.Unheld and name. It returns fs.ErrNotExist if the held directory does not exist.
func (o OS) resolve(op, name string) (dir *safefile.Dir, rest string, err error) {
	d, dir, rest := o.held.find(name)
	switch {
	case d == nil:
		return safefile.Unheld, name, nil
	case dir == nil:
		return nil, "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	case rest == "":
		rest = "."
	}
	return dir, rest, nil
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
	dir, rest, err := place(files, name)
	if err != nil {
		return nil, err
	}
	return dir.List(rest)
}

// Create creates and opens a file, which must not exist. It is for wrappers that make the
// system calls of WriteFile one by one.
func Create(files FS, name string, perm fs.FileMode) (*os.File, error) {
	dir, rest, err := place(files, name)
	if err != nil {
		return nil, err
	}
	return dir.Create(rest, perm)
}

// place returns the directory from which files resolves name, and name relative to it.
func place(files FS, name string) (dir *safefile.Dir, rest string, err error) {
	switch f := files.(type) {
	case OS:
		return f.resolve("open", name)
	case Wrapper:
		return place(f.Wrapped(), name)
	}
	return safefile.Unheld, name, nil
}
