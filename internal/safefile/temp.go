package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// The temporary file of a Replace is beside the file and named after it, so that the next
// Replace finds the one of a killed Replace without reading the directory. Its process holds
// a lock on it as long as it has that name, so one without a lock is dead.
const (
	tempPrefix = ".fsmtx-write-"
	maxTemps   = 100 // of one file
)

// tempPath returns the path of the nth temporary file for path. Only concurrent writers, and
// files of others at these paths, need more than the first.
func tempPath(path string, n int) string {
	name := filepath.Base(path)
	if len(name) > 200 { // names have at most 255 bytes
		name = hashOf([]byte(name))
	}
	if n > 0 {
		name += fmt.Sprint(".", n)
	}
	return filepath.Join(filepath.Dir(path), tempPrefix+name)
}

// temp is a temporary file that is open twice. The lock is on its own descriptor, which is
// not open for writing: a program cannot be started while it is open for writing, and the
// lock must be held until the file has its final name.
type temp struct {
	*os.File
	lock *os.File
}

// createTemp creates a temporary file for path and locks it.
func createTemp(path string, mode Mode) (t temp, err error) {
	for n := range maxTemps {
		t, err = lockedTemp(tempPath(path, n), mode)
		if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, ErrBusy) {
			return t, err
		}
	}
	return t, err
}

// lockedTemp returns ErrBusy if a sweep of another process was faster than the lock.
func lockedTemp(name string, mode Mode) (t temp, err error) {
	t.File, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|NoFollow, mode.perm)
	if err != nil {
		return t, err
	}
	if t.lock, err = Open(name, os.O_RDONLY|NoFollow); err == nil {
		if _, err = tryLock(int(t.lock.Fd()), name); err == nil && !(&original{f: t.File}).isAt(unix.AT_FDCWD, name) {
			err = ErrBusy
		}
	}
	if err == nil && mode.exact {
		err = t.Chmod(mode.perm)
	}
	if err == nil {
		return t, nil
	}
	if !errors.Is(err, ErrBusy) { // else the name is no longer of this file
		_ = os.Remove(name)
	}
	t.File.Close()
	t.lock.Close() // of nil, it does nothing
	return temp{}, err
}

// tryLock locks a file or a directory, or returns ErrBusy if another process has locked it. locked is false
// on a file system without such locks.
func tryLock(fd int, path string) (locked bool, err error) {
	for {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, fmt.Errorf("%s: %w", path, ErrBusy)
		}
		return err == nil, nil
	}
}

// sweepTemps removes the temporary files for path of killed processes. It looks past the
// first missing one only if that is the first of all.
func sweepTemps(path string) {
	for n := range maxTemps {
		name := tempPath(path, n)
		_, err := os.Lstat(name)
		if err != nil && n > 0 {
			return
		}
		if err == nil {
			_ = withDeadTemp(name, os.Remove)
		}
	}
}

// withDeadTemp calls do with a temporary file that a killed process of this user left, while
// no other process can lock it. Other files it leaves alone: links of both kinds, files of
// other users, and those in use.
func withDeadTemp(name string, do func(name string) error) error {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return err // do not open a device
	}
	f, err := Open(name, os.O_RDONLY|NoFollow)
	if err != nil {
		return err
	}
	defer f.Close()
	locked, err := tryLock(int(f.Fd()), name)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return pathError("stat", name, err)
	}
	young := time.Since(time.Unix(st.Mtim.Unix())) < minAge
	if int(st.Uid) != os.Geteuid() || st.Nlink != 1 || !locked && young || !(&original{f: f}).isAt(unix.AT_FDCWD, name) {
		return nil
	}
	return do(name)
}
