package edit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// create creates the file and the missing directories. All of them appear at once, with
// their content.
func (e *File) create(data []byte) error {
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
	switch err := moveNew(w.in, newName, w.dir.Dir, w.dir.base); {
	case errors.Is(err, fs.ErrExist):
		return ErrChanged
	case err != nil:
		return err
	}
	return w.dir.SyncNames(".")
}

// stageTree creates "new": the file or, if directories are missing, the outermost of
// them.
func (w *work) stageTree(path string, missing int, data []byte, mode fs.FileMode) (err error) {
	at, name := w.in, newName
	for i := range missing {
		if err := at.Mkdir(name, 0o777); err != nil {
			return err
		}
		dir, openErr := at.OpenDir(name)
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, dir.SyncNames("."), dir.Close()) }()
		at, name = dir, filepath.Base(ancestor(path, missing-1-i))
	}
	f, err := at.Create(name, mode)
	if err != nil {
		return err
	}
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
			return n, safefile.RequireDir(dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return n, err
		}
		n++
	}
}
