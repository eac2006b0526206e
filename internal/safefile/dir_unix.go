//go:build unix

package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// holding is what a Dir stands on beside its descriptor.
type holding struct {
	root *os.Root // nil if Unheld

	mu      sync.Mutex
	sub     *os.Root // the subdirectory that the last inParent opened, or nil
	subName string   // its name relative to root, "" if sub is nil
}

func (d *Dir) openDir(name string) (*Dir, error) {
	fd, err := openAt(d.fd, name, os.O_RDONLY|oDirectory|NoFollow, 0)
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
	return &Dir{path: d.Path(name), fd: fd, holding: holding{root: root}, opened: opened}, nil
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

// Close does nothing for a Dir that is closed, and for Unheld.
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
