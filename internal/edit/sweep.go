package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Sweep completes or reverts killed edits of path, whose work directories are in the
// directories above it, and removes the temporary directories of killed writes of path.
// File.Replace begins with it.
func Sweep(path string) error {
	safefile.SweepTemps(path)
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
	dir, err := openPlace(ancestor(path, up))
	if err != nil {
		return err
	}
	w := &work{dir: dir, name: workName(dir.base)}
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
		_ = w.in.Close()
		w.in = nil
		return err
	}
	for _, name := range w.names() {
		if err := w.finish(path, up, name); err != nil {
			return err
		}
	}
	return nil
}

// check returns an error if this process must not sweep the work directory.
func (w *work) check(locked bool) error {
	if !locked && time.Since(w.in.Opened().ModTime()) < safefile.SweepAge {
		return fmt.Errorf("%s: %w, or left by an edit that was killed; it is removed after %v", w.path(), safefile.ErrBusy, safefile.SweepAge)
	}
	if os.Geteuid() == 0 {
		return nil
	}
	return safefile.CheckOwner(w.path(), w.in.Opened())
}

// finish completes or reverts the step of a killed edit that left the named file. It puts
// another program's version back.
func (w *work) finish(path string, up int, name string) error {
	old, data, ok := strings.Cut(name, ".")
	if !ok || len(old) != len(hashOf(nil)) || strings.HasSuffix(name, keptSuffix) {
		if strings.HasSuffix(name, keptSuffix) {
			return fmt.Errorf("%s: %w; one version is in %s", path, errKept, filepath.Join(w.path(), name))
		}
		return nil // "new", which close removes
	}
	switch {
	case data == "" && w.holds(name, old): // the file was removed: complete the edit
		removeEmptied(path, up)
		return w.in.Remove(name)
	case data == "":
		return w.putBack(path, name)
	case w.holds(name, data) || w.holds(name, old):
		return w.in.Remove(name)
	case holds(w.dir.Dir, w.dir.base, data):
		return errors.Join(w.exchangeBackKilled(name), w.dir.SyncNames("."))
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
	dir, err := openPlace(path)
	if err == nil {
		defer dir.close()
		err = moveNew(w.in, name, dir.Dir, dir.base)
	}
	if err != nil {
		return w.keep(name, err)
	}
	return dir.SyncNames(".")
}
