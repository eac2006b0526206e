package safefile

import (
	"crypto/sha256"
	"encoding/hex"
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
	name := tempPrefix + Shortened(filepath.Base(path))
	if n > 0 {
		name += fmt.Sprint(".", n)
	}
	return filepath.Join(filepath.Dir(path), name)
}

// isPending reports whether a name may be that of a file of renameio: a dot, the name of the file
// to replace, and a number.
func isPending(name string) bool {
	return len(name) > 2 && name[0] == '.' && strings.Trim(name[len(name)-1:], "0123456789") == ""
}

// Shortened returns the name, or its hash if a prefix would make it too long: names have at
// most 255 bytes.
func Shortened(name string) string {
	if len(name) > 200 {
		return hashOf([]byte(name))
	}
	return name
}

// hashOf returns a hash of data in hexadecimal.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// tempDir is a temporary directory. It is removed only under its lock.
type tempDir struct {
	*Dir
	unlock func() // nil on a file system without locks
}

// createTempDir creates a temporary directory for path and locks it.
func createTempDir(path string) (temp *tempDir, err error) {
	for n := range maxTemps {
		temp, err = lockedTempDir(tempPath(path, n))
		if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, ErrBusy) {
			return temp, err
		}
	}
	return temp, err
}

// lockedTempDir returns ErrBusy if a sweep of another process was faster than the lock.
func lockedTempDir(name string) (*tempDir, error) {
	if err := os.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	temp, err := openTempDir(name)
	if err != nil && !errors.Is(err, ErrBusy) {
		_ = unix.Rmdir(name)
	}
	return temp, err
}

// openTempDir opens a temporary directory and locks it. It returns ErrBusy if another process
// has locked it, or has removed it.
func openTempDir(name string) (*tempDir, error) {
	dir, err := OpenDir(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		unlock, err := dir.Lock(NoWait())
		temp := &tempDir{dir, unlock}
		if !errors.Is(err, ErrBusy) && !errors.Is(err, ErrMoved) && Unheld.Has(name, dir.Opened()) {
			return temp, nil
		}
		temp.close()
	}
	return nil, fmt.Errorf("%s: %w", name, ErrBusy)
}

func (t *tempDir) close() {
	if t.unlock != nil {
		t.unlock()
	}
	_ = t.Close()
}

// discard removes the directory, also what renameio leaves in it if it cannot set the mode,
// and then ends the lock.
func (t *tempDir) discard() {
	if temps, ok := t.temps(); ok {
		_ = t.remove(temps)
	}
	t.close()
}

// temps returns the names in a temporary directory. ok is false if one of them is not that
// of a file of renameio, or has a second link.
func (t *tempDir) temps() (names []string, ok bool) {
	entries, err := t.ReadDir(".")
	for _, e := range entries {
		name := e.Name()
		info, err := t.Lstat(name)
		if err != nil || !info.Mode().IsRegular() || CheckSole(name, info) != nil || !isPending(name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, err == nil
}

// remove removes a temporary directory that is locked, with what temps has found.
func (t *tempDir) remove(temps []string) error {
	for _, name := range temps {
		if err := t.Remove(name); err != nil {
			return err
		}
	}
	return pathError("remove", t.path, unix.Rmdir(t.path))
}

// SweepTemps removes the temporary directories of killed calls of Replace for path. It looks past the
// first missing one only if that is the first of all.
func SweepTemps(path string) {
	for n := range maxTemps {
		name := tempPath(path, n)
		_, err := os.Lstat(name)
		if err != nil && n > 0 {
			return
		}
		if err == nil {
			_ = withDeadTemp(name, (*tempDir).remove)
		}
	}
}

// Leftovers returns the paths, directly in dir, of what killed calls of Replace of this user left
// there. It changes nothing.
func Leftovers(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) && e.Name() != tempPrefix {
			path := filepath.Join(dir, e.Name())
			_ = withDeadTemp(path, func(*tempDir, []string) error { paths = append(paths, path); return nil })
		}
	}
	return paths, err
}

// RemoveLeftover removes what Leftovers has found, unless it has come into use since.
func RemoveLeftover(path string) error { return withDeadTemp(path, (*tempDir).remove) }

// sweepAge is how old what a killed process has left must be to be removed if the file system
// has no locks, which would show that the process has died.
const sweepAge = time.Hour

// withDeadTemp calls do with a temporary directory that a killed process of this user left and
// the names in it, while no other process can lock it. Others it leaves alone: files and links
// of that name, directories of other users, those in use, and those with anything that
// renameio does not create.
func withDeadTemp(name string, do func(temp *tempDir, temps []string) error) error {
	temp, err := openTempDir(name)
	if errors.Is(err, ErrBusy) || errors.Is(err, ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	defer temp.close()
	young := time.Since(temp.Opened().ModTime()) < sweepAge
	if CheckOwner(name, temp.Opened()) != nil || temp.unlock == nil && young {
		return nil
	}
	if temps, ok := temp.temps(); ok {
		return do(temp, temps)
	}
	return nil
}
