package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// create creates the file and the missing directories. All of them appear at once, with
// their content.
func (e *Edit) create(data []byte) error {
	missing, err := missingDirs(e.Path)
	if err != nil {
		return err
	}
	w, err := createWork(e.Path, missing)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.stageTree(e.Path, missing, data, e.Mode); err != nil {
		return err
	}
	switch err := moveNew(w.fd, newName, w.dir.fd, w.dir.base); {
	case errors.Is(err, fs.ErrExist):
		return ErrChanged
	case err != nil:
		return pathError("create", e.Path, err)
	}
	return w.dir.sync()
}

// stageTree creates "new": the file or, if directories are missing, the outermost of
// them.
func (w *work) stageTree(path string, missing int, data []byte, mode fs.FileMode) error {
	at, name := w.fd, newName
	for i := range missing {
		if err := unix.Mkdirat(at, name, 0o777); err != nil {
			return pathError("mkdir", path, err)
		}
		fd, err := OpenAt(at, name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
		if err != nil {
			return pathError("open", path, err)
		}
		defer unix.Close(fd)
		defer syncFd(fd)
		at, name = fd, filepath.Base(ancestor(path, missing-1-i))
	}
	fd, err := OpenAt(at, name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|NoFollow, mode)
	if err != nil {
		return pathError("create", path, err)
	}
	f := FileOf(fd, path, os.O_WRONLY)
	return errors.Join(writeSynced(f, data), f.Close())
}

// ancestor returns the directory that is up levels above the path.
func ancestor(path string, up int) string {
	for range up {
		path = filepath.Dir(path)
	}
	return path
}

// MissingDirs returns how many directories Replace would create for a path.
func MissingDirs(path string) int {
	n, _ := missingDirs(path)
	return n
}

// missingDirs returns how many directories above the path do not exist.
func missingDirs(path string) (n int, err error) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		_, err := os.Lstat(dir)
		if err == nil {
			return n, requireDir(dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return n, err
		}
		n++
	}
}
