package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Unsynced is a file whose bytes are being written to the disk. It stays open until it is synced:
// fsync(2) reports an error of the write-back that happened while the file was open.
type Unsynced struct {
	fd    int
	path  string
	close func() error
}

// MostOpen returns how many files may be Unsynced at a time: at most half of those that a process may have open.
func MostOpen() int {
	const most = 2048
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return most / 16
	}
	return int(min(max(limit.Cur/2, 1), most))
}

// WritePending writes a new file beside name, with a temporary name that begins with a dot, and starts its
// write-back. The umask does not apply to perm. The caller syncs it and renames it from its Path to name.
// Where many files are written before the first is synced, the file system commits them together.
// If WritePending fails, the temporary file may stay.
func (d *Dir) WritePending(name string, data []byte, perm fs.FileMode) (*Unsynced, error) {
	var f *renameio.PendingFile
	create := func(root *os.Root, base string) (err error) {
		f, err = renameio.NewPendingFile(Shortened(base), renameio.WithRoot(root), renameio.WithPermissions(perm))
		return err
	}
	if err := d.inRoot("open", name, create); err != nil {
		return nil, err
	}
	u := &Unsynced{int(f.Fd()), d.Path(filepath.Join(filepath.Dir(name), filepath.Base(f.Name()))), f.File.Close}
	return u.begun(fill(u.fd, data, uint32(perm)))
}

// StartSync starts the write-back of a file that another program may have written. It does not follow a symbolic
// link below a directory that is held.
func (d *Dir) StartSync(name string) (*Unsynced, error) {
	path := d.Path(name)
	fd, err := openAt(d.fd, name, os.O_RDONLY|d.noFollow(), 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	u := &Unsynced{fd, path, func() error { return unix.Close(fd) }}
	return u.begun(nil)
}

// begun returns u once its write-back has been started. If err is not nil it closes u.
func (u *Unsynced) begun(err error) (*Unsynced, error) {
	if err == nil {
		err = startWriteback(u.fd)
	}
	if err != nil {
		return nil, pathError("write", u.path, errors.Join(err, u.close()))
	}
	return u, nil
}

// Path returns the path of the file.
func (u *Unsynced) Path() string { return u.path }

// Wait waits until the bytes are written, which does not make them durable: a sync that follows finds all that the file system's
// journal has to hold of the file.
func (u *Unsynced) Wait() error { return pathError("write", u.path, awaitWriteback(u.fd)) }

// Sync makes the bytes of the file durable, and closes it.
func (u *Unsynced) Sync() error {
	_, err := retry(func() (int, error) { return 0, fsync(u.fd) })
	return pathError("sync", u.path, errors.Join(err, u.close()))
}

// Close closes the file without a sync.
func (u *Unsynced) Close() error { return pathError("close", u.path, u.close()) }
