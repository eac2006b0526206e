package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The temporary file of a Replace is in a directory of its own, because renameio chooses the
// file's name. The directory is beside the file and named after it, so that the next Replace
// finds the one of a killed Replace without reading the directory above. Its process holds a
// lock on it as long as it exists, so one without a lock is dead.
const (
	tempPrefix = ".fsmtx-write-"
	maxTemps   = 100 // of one file
)

// tempPath returns the path of the nth temporary directory for path. Only concurrent writers,
// and files of others at these paths, need more than the first.
func tempPath(path string, n int) string {
	name := tempPrefix + shortened(filepath.Base(path))
	if n > 0 {
		name += fmt.Sprint(".", n)
	}
	return filepath.Join(filepath.Dir(path), name)
}

// isTempIn reports whether renameio creates a file of that name in a temporary directory of
// that name: a dot, the name of the file to replace, and a number.
func isTempIn(dir, name string) bool {
	base, ok := strings.CutPrefix(name, ".")
	for ok && len(base) > 1 && isNumber(base[len(base)-1:]) {
		base = base[:len(base)-1] // the digits before it may be of the number or of the file's name
		n, is := strings.CutPrefix(dir, tempPrefix+shortened(base))
		if is && (n == "" || n[0] == '.' && isNumber(n[1:])) {
			return true
		}
	}
	return false
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// createTempDir creates a temporary directory for path and locks it.
func createTempDir(path string) (dir *os.File, err error) {
	for n := range maxTemps {
		dir, err = lockedTempDir(tempPath(path, n))
		if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, ErrBusy) {
			return dir, err
		}
	}
	return dir, err
}

// lockedTempDir returns ErrBusy if a sweep of another process was faster than the lock.
func lockedTempDir(name string) (*os.File, error) {
	if err := os.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := openTempDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrBusy)
	}
	if err != nil {
		_ = unix.Rmdir(name)
		return nil, err
	}
	if _, err = tryLock(int(dir.Fd()), name); err == nil && !(&original{f: dir}).isAt(unix.AT_FDCWD, name) {
		err = fmt.Errorf("%s: %w", name, ErrBusy)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

func openTempDir(name string) (*os.File, error) {
	fd, err := OpenAt(unix.AT_FDCWD, name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	if err != nil {
		return nil, pathError("open", name, err)
	}
	return FileOf(fd, name, unix.O_DIRECTORY), nil
}

// tryLock locks a directory, or returns ErrBusy if another process has locked it. locked is
// false on a file system without such locks.
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

// tempsIn returns the names in a temporary directory. ok is false if one of them is not that
// of a file of renameio, or has a second link.
func tempsIn(dir *os.File) (names []string, ok bool) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	for _, name := range names {
		var st unix.Stat_t
		err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 || !isTempIn(filepath.Base(dir.Name()), name) {
			return nil, false
		}
	}
	return names, true
}

// removeTempDir removes a temporary directory that is locked, with what tempsIn has found.
func removeTempDir(dir *os.File, temps []string) error {
	for _, name := range temps {
		if err := unix.Unlinkat(int(dir.Fd()), name, 0); err != nil {
			return pathError("remove", filepath.Join(dir.Name(), name), err)
		}
	}
	return pathError("remove", dir.Name(), unix.Rmdir(dir.Name()))
}

// sweepTemps removes the temporary directories for path of killed processes. It looks past the
// first missing one only if that is the first of all.
func sweepTemps(path string) {
	for n := range maxTemps {
		name := tempPath(path, n)
		_, err := os.Lstat(name)
		if err != nil && n > 0 {
			return
		}
		if err == nil {
			_ = withDeadTemp(name, removeTempDir)
		}
	}
}

// withDeadTemp calls do with a temporary directory that a killed process of this user left and
// the names in it, while no other process can lock it. Others it leaves alone: files and links
// of that name, directories of other users, those in use, and those with anything that
// renameio does not create.
func withDeadTemp(name string, do func(dir *os.File, temps []string) error) error {
	if info, err := os.Lstat(name); err != nil || !info.IsDir() {
		return err
	}
	dir, err := openTempDir(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	locked, err := tryLock(int(dir.Fd()), name)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil {
		return pathError("stat", name, err)
	}
	young := time.Since(time.Unix(st.Mtim.Unix())) < minAge
	if int(st.Uid) != os.Geteuid() || !locked && young || !(&original{f: dir}).isAt(unix.AT_FDCWD, name) {
		return nil
	}
	if temps, ok := tempsIn(dir); ok {
		return do(dir, temps)
	}
	return nil
}
