package safefile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// holding is empty: here a descriptor is enough.
type holding struct{}

func (d *Dir) openDir(name string) (*Dir, error) {
	fd, err := openAt(d.fd, name, oDirectory|NoFollow, 0)
	if err != nil {
		return nil, err
	}
	opened, err := describe(fd, d.Path(name))
	if err != nil {
		return nil, errors.Join(err, closeFd(fd))
	}
	return &Dir{path: d.Path(name), fd: fd, opened: opened}, nil
}

// Close does nothing for a Dir that is closed, and for Unheld.
func (d *Dir) Close() error {
	if d.fd < 0 {
		return nil
	}
	err := closeFd(d.fd)
	d.fd = -1
	return err
}

// forget does nothing: no directory below d is kept open.
func (d *Dir) forget(string) {}

// Lstat does not follow a symbolic link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	fd, err := openAt(d.fd, name, forLook|noFollow, 0)
	if err != nil {
		return nil, pathError("lstat", d.Path(name), err)
	}
	info, err := describe(fd, d.Path(name))
	return info, pathError("lstat", d.Path(name), errors.Join(err, closeFd(fd)))
}

// Mkdir creates one directory. Its permissions are those of its parent.
func (d *Dir) Mkdir(name string, _ fs.FileMode) error {
	fd, err := openAt(d.fd, name, oDirectory|os.O_CREATE|os.O_EXCL, 0)
	if err == nil {
		err = closeFd(fd)
	}
	return pathError("mkdir", d.Path(name), err)
}

// Remove removes a file or an empty directory.
func (d *Dir) Remove(name string) error {
	return pathError("remove", d.Path(name), removeAt(d.fd, name))
}

// RemoveAll removes a file, or a directory with its content.
func (d *Dir) RemoveAll(name string) error {
	err := d.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, failed := d.ReadDir(name) // of a link to a directory this is an error
	if failed != nil {
		return err
	}
	for _, e := range entries {
		if err := d.RemoveAll(filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return d.Remove(name)
}

// Chtimes sets the modification time of name, or with "." that of the directory itself.
func (d *Dir) Chtimes(name string, mtime time.Time) error {
	fd, err := openAt(d.fd, name, forTimes, 0)
	if err == nil {
		at := windows.NsecToFiletime(mtime.UnixNano())
		err = errors.Join(posix(windows.SetFileTime(windows.Handle(fd), nil, &at, &at)), closeFd(fd))
	}
	return pathError("chtimes", d.Path(name), err)
}

// createTemporary creates a file beside name whose own begins with a dot, base and a number.
func (d *Dir) createTemporary(dir, base string) (fd int, name string, err error) {
	for range 100 {
		name = filepath.Join(dir, "."+base+strconv.Itoa(rand.N(1<<62)))
		fd, err = openAt(d.fd, name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return fd, name, err
}

// pending creates the file of WritePending.
func (d *Dir) pending(name string, _ fs.FileMode) (*Unsynced, error) {
	fd, temporary, err := d.createTemporary(filepath.Dir(name), Shortened(filepath.Base(name)))
	if err != nil {
		return nil, pathError("open", d.Path(name), err)
	}
	return &Unsynced{fd, d.Path(temporary), func() error { return closeFd(fd) }}, nil
}

// newPending creates a temporary file in dir that is to be renamed. end removes it if that has failed.
func newPending(dir, base string, _ Mode) (f *os.File, end func(failed bool), err error) {
	fd, name, err := Unheld.createTemporary(dir, base)
	if err != nil {
		return nil, nil, err
	}
	f = fileOf(fd, name, 0)
	return f, func(failed bool) {
		if failed {
			_ = f.Close()
			_ = Unheld.Remove(name)
		}
	}, nil
}

// keepAttributes gives a new file the access control list of like, and its attributes such as hidden.
func keepAttributes(f, like *os.File, _ fs.FileMode) error {
	const list = windows.DACL_SECURITY_INFORMATION
	d, err := windows.GetNamedSecurityInfo(like.Name(), windows.SE_FILE_OBJECT, list)
	if err != nil {
		return err
	}
	acl, _, err := d.DACL()
	if err != nil {
		return err
	}
	control, _, err := d.Control()
	if err != nil {
		return err
	}
	which := windows.SECURITY_INFORMATION(list | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if control&windows.SE_DACL_PROTECTED != 0 {
		which = list | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	if err := windows.SetNamedSecurityInfo(f.Name(), windows.SE_FILE_OBJECT, which, nil, nil, acl, nil); err != nil {
		return err
	}
	var st stat
	if err := fstat(int(like.Fd()), &st); err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(f.Name())
	if err != nil {
		return err
	}
	return windows.SetFileAttributes(name, st.attributes)
}
