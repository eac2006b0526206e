package safefile

import (
	"errors"
	"io/fs"
)

// Unsynced is a file whose bytes are being written to the disk. It stays open until it is synced:
// fsync(2) reports an error of the write-back that happened while the file was open.
type Unsynced struct {
	fd    int
	path  string
	close func() error
}

// WritePending writes a new file beside name, with a temporary name that begins with a dot, and starts its
// write-back. The umask does not apply to perm. The caller syncs it and renames it from its Path to name.
// Where many files are written before the first is synced, the file system commits them together.
// If WritePending fails, the temporary file may stay.
func (d *Dir) WritePending(name string, data []byte, perm fs.FileMode) (*Unsynced, error) {
	u, err := d.pending(name, perm)
	if err != nil {
		return nil, err
	}
	return u.begun(fill(u.fd, data, uint32(perm)))
}

// StartSync starts the write-back of a file that another program may have written. It does not follow a symbolic
// link below a directory that is held.
func (d *Dir) StartSync(name string) (*Unsynced, error) {
	path := d.Path(name)
	fd, err := openAt(d.fd, name, forSync|d.noFollow(), 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	u := &Unsynced{fd, path, func() error { return closeFd(fd) }}
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
