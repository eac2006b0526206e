package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/signals"
)

// Mode is the mode of a file that Write or Replace creates.
type Mode struct {
	perm    fs.FileMode
	exactly bool                 // the umask does not apply
	prepare func(*os.File) error // may be nil
	last    func() error         // is called immediately before the rename; may be nil
}

// Exactly is a mode to which the umask does not apply.
func Exactly(perm fs.FileMode) Mode {
	return Mode{perm: perm, exactly: true}
}

// LessUmask is a mode from which the umask is taken.
func LessUmask(perm fs.FileMode) Mode {
	return Mode{perm: perm}
}

// preparedBy is the mode that prepare gives the new file before anything is written into it. Until then only this
// user can read the file.
func preparedBy(prepare func(*os.File) error) Mode {
	m := Exactly(0o600)
	m.prepare = prepare
	return m
}

// WriteNew creates a file, which must not exist, writes and syncs it. The umask does not apply to perm. If that fails, the
// file stays.
func (d *Dir) WriteNew(name string, data []byte, perm fs.FileMode) error {
	fd, err := openAt(d.fd, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return &fs.PathError{Op: "open", Path: d.Path(name), Err: err}
	}
	if err = fill(fd, data, uint32(perm)); err == nil {
		_, err = retry(func() (int, error) { return 0, fsync(fd) })
	}
	return pathError("write", d.Path(name), errors.Join(err, closeFd(fd)))
}

// fill sets the permissions of a new file, and writes its content.
func fill(fd int, data []byte, perm uint32) error {
	var st stat
	err := fstat(fd, &st)
	if err == nil && uint32(st.Mode)&0o777 != perm {
		err = chmod(fd, perm)
	}
	if err == nil {
		err = writeAll(fd, data)
	}
	return err
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := retry(func() (int, error) { return writeFd(fd, data) })
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Overwrite replaces the content of a file in place, or creates it with mode 0600 less the umask.
// Nothing is synced, and a crash may leave a part of the content. It returns ErrNotRegular and
// ErrNotOwn.
//
// The file is emptied first only if it gets shorter. ext4 writes a file that was emptied out when
// it is closed (auto_da_alloc), which costs more than all the rest. O_TRUNC would empty it before
// its owner is known.
func (d *Dir) Overwrite(name string, data []byte) error {
	return d.writeOwn(name, os.O_WRONLY, func(fd int, size int64) error {
		if size > int64(len(data)) {
			if _, err := retry(func() (int, error) { return 0, truncate(fd) }); err != nil {
				return err
			}
		}
		return writeAll(fd, data)
	})
}

// AppendLine appends line and a newline to a file, which it creates as Overwrite does. If the last
// line has no newline, because a crash has cut it off, it gets one first. Nothing is synced. It
// returns ErrNotRegular, ErrNotOwn, and ErrTooLarge if the file would have more than max bytes.
func (d *Dir) AppendLine(name string, line []byte, max int64) error {
	return d.writeOwn(name, os.O_RDWR|os.O_APPEND, func(fd int, size int64) error {
		text := make([]byte, 0, len(line)+2)
		if size > 0 {
			var last [1]byte
			n, err := retry(func() (int, error) { return preadFd(fd, last[:], size-1) })
			if err != nil {
				return err
			}
			if n == 1 && last[0] != '\n' {
				text = append(text, '\n')
			}
		}
		text = append(append(text, line...), '\n')
		if size+int64(len(text)) > max {
			return ErrTooLarge
		}
		return writeAll(fd, text)
	})
}

// writeOwn opens a regular file that is only this user's, see CheckSole, for writing in place,
// and creates it if it does not exist. It calls do with the descriptor and the file's size.
func (d *Dir) writeOwn(name string, flag int, do func(fd int, size int64) error) error {
	path := d.Path(name)
	fd, st, err := openRegular(d.fd, name, flag|os.O_CREATE|NoFollow)
	if err != nil {
		return pathError("open", path, err)
	}
	if err = checkSole(path, &st); err == nil {
		err = pathError("write", path, do(fd, st.Size))
	}
	return errors.Join(err, pathError("close", path, closeFd(fd)))
}

// Write is Replace followed by a sync of the directory: when it has returned nil, a power
// cut leaves the new content. A signal ends the program when Write has ended (signals.Hold).
func Write(path string, data []byte, mode Mode) error {
	defer signals.Hold()()
	if err := Replace(path, data, mode); err != nil {
		return err
	}
	return Unheld.SyncNames(filepath.Dir(path))
}

// Replace creates or replaces the file at path atomically: a crash or a power cut leaves either the old content or the new.
// A symbolic link is replaced, not followed. A killed Replace leaves its temporary file, see Leftovers.
func Replace(path string, data []byte, mode Mode) error {
	dir := filepath.Dir(path)
	base := strings.TrimPrefix(tempPrefix, ".") + Shortened(filepath.Base(path))
	f, end, err := newPending(dir, base, mode)
	if err != nil {
		return pathError("open", filepath.Join(dir, "."+base), err)
	}
	if mode.prepare != nil {
		err = mode.prepare(f)
	}
	if err == nil && len(data) > 0 {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil && mode.last != nil {
		err = mode.last()
	}
	if err == nil {
		err = Unheld.Rename(filepath.Join(dir, filepath.Base(f.Name())), Unheld, path)
	}
	end(err != nil)
	return err
}

// Mkdir creates the directory and its missing parents durably, with mode 0777 less
// the umask. It returns the directories that it created, innermost first, also if it
// returns an error. If the directory exists already, that is not an error.
func Mkdir(dir string) (created []string, err error) {
	err = os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if created, err = Mkdir(filepath.Dir(dir)); err != nil {
			return created, err
		}
		err = os.Mkdir(dir, 0o777) // not Mkdir: in /proc a directory is "not there" however often it is made
	}
	switch {
	case err == nil:
		return slices.Insert(created, 0, dir), Unheld.SyncNames(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		err = requireDir(dir)
	}
	return created, err
}

// requireDir returns an error unless there is a directory at the path, or a link to one.
func requireDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	}
	return err
}

// Rmdir removes an empty directory durably. Unlike os.Remove it does not remove a
// file or a symbolic link of that name.
func Rmdir(dir string) error {
	if err := syscall.Rmdir(dir); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return Unheld.SyncNames(filepath.Dir(dir))
}
