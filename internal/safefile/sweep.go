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

// Sweep completes or reverts killed edits of path, whose work directories are in the
// directories above it, and removes the temporary directories of killed writes of path. An
// Edit's Replace begins with it.
func Sweep(path string) error {
	sweepTemps(path)
	for up := 0; ; up++ {
		at := ancestor(path, up)
		if at == filepath.Dir(at) {
			return nil
		}
		name := filepath.Join(filepath.Dir(at), workName(filepath.Base(at)))
		if info, err := os.Lstat(name); err == nil && info.IsDir() {
			if err := sweepOne(path, up); err != nil {
				return err
			}
		}
	}
}

func sweepOne(path string, up int) error {
	dir, err := openDir(ancestor(path, up))
	if err != nil {
		return err
	}
	w := &work{dir: dir, name: workName(dir.base), fd: -1}
	defer w.close()
	locked, err := dir.lock()
	if err != nil {
		return err
	}
	if err := w.open(); errors.Is(err, fs.ErrNotExist) {
		return nil // its process was alive, and has completed the edit
	} else if err != nil {
		return err
	}
	if err := w.check(locked); err != nil {
		unix.Close(w.fd)
		w.fd = -1
		return err
	}
	for _, name := range w.names() {
		if err := w.finish(path, up, name); err != nil {
			return err
		}
	}
	return nil
}

// minAge is how old a work directory or a temporary directory must be to be swept if the file
// system has no locks, which would show that its process has died.
const minAge = time.Hour

// check returns an error if this process must not sweep the work directory.
func (w *work) check(locked bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil {
		return pathError("stat", w.path(), err)
	}
	switch uid := os.Geteuid(); {
	case uid != 0 && int(st.Uid) != uid:
		return &fs.PathError{Op: "open", Path: w.path(), Err: ErrNotOwner}
	case !locked && time.Since(time.Unix(st.Mtim.Unix())) < minAge:
		return fmt.Errorf("%s: %w, or left by an edit that was killed; it is removed after %v", w.path(), ErrBusy, minAge)
	}
	return nil
}

// finish completes or reverts the step of a killed edit that left the named file. It puts
// another program's version back.
func (w *work) finish(path string, up int, name string) error {
	old, data, ok := strings.Cut(name, ".")
	if !ok || len(old) != len(hashOf(nil)) || strings.HasSuffix(name, keptSuffix) {
		if strings.HasSuffix(name, keptSuffix) {
			return fmt.Errorf("%s: %w; one version is in %s", path, ErrKept, filepath.Join(w.path(), name))
		}
		return nil // "new", which close removes
	}
	switch {
	case data == "" && w.holds(name, old): // the file was removed: complete the edit
		removeEmptied(path, up)
		return w.unlink(name)
	case data == "":
		return w.putBack(path, name)
	case w.holds(name, data) || w.holds(name, old):
		return w.unlink(name)
	case holds(w.dir.fd, w.dir.base, path, data):
		return errors.Join(w.exchangeBackKilled(name), w.dir.sync())
	}
	return w.keep(name, nil)
}

// exchangeBackKilled restores another program's version, which a killed edit removed.
func (w *work) exchangeBackKilled(name string) error {
	_, ours, _ := strings.Cut(name, ".")
	if err := w.exchangeBack(name, func() bool { return w.holds(name, ours) }); !errors.Is(err, ErrChanged) {
		return err
	}
	return nil
}

func (w *work) putBack(path, name string) error {
	dir, err := openDir(path)
	if err == nil {
		defer dir.close()
		err = moveNew(w.fd, name, dir.fd, dir.base)
	}
	if err != nil {
		return w.keep(name, err)
	}
	return dir.sync()
}
