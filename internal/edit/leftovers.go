package edit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Leftovers returns the paths, directly in dir, of what killed writes and edits of this user
// left there. It changes nothing. It leaves out the directories of running processes and of
// other users, links, and directories with anything that no write or edit creates.
func Leftovers(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		dead := false
		switch {
		case safefile.IsTemp(e.Name()):
			dead = safefile.IsDeadTemp(path)
		case e.IsDir() && strings.HasPrefix(e.Name(), workPrefix):
			_ = withDeadWork(path, func(*work) error { dead = true; return nil })
		}
		if dead {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// RemoveLeftover removes what Leftovers has found at the path, unless it has come into use
// since. It returns errKept if that contains another program's version of a file.
func RemoveLeftover(path string) error {
	if safefile.IsTemp(filepath.Base(path)) {
		return safefile.RemoveDeadTemp(path)
	}
	return withDeadWork(path, (*work).discard)
}

// withDeadWork calls do with the work directory of a killed edit of this user, in a directory
// that is locked.
func withDeadWork(path string, do func(*work) error) error {
	dir, err := openPlace(path)
	if err != nil {
		return err
	}
	defer dir.close()
	w := &work{dir: dir, name: dir.base}
	locked, err := dir.tryLock()
	if err != nil {
		return nil // an edit is running
	}
	if err := w.open(); err != nil {
		return err
	}
	defer w.in.Close()
	if safefile.CheckOwner(path, w.in.Opened()) != nil || !w.isOurs() || w.check(locked) != nil {
		return nil
	}
	return do(w)
}

// isOurs reports whether the work directory has only what an edit creates.
func (w *work) isOurs() bool {
	for _, name := range w.names() {
		old, data, ok := strings.Cut(name, ".")
		isSlot := ok && isHash(old) && (data == "" || isHash(data))
		if name != newName && !isSlot && !strings.HasSuffix(name, keptSuffix) {
			return false
		}
	}
	return true
}

func isHash(s string) bool {
	return len(s) == len(hashOf(nil)) && strings.Trim(s, "0123456789abcdef") == ""
}

// discard removes the work directory with everything of ours in it, and the files that an
// edit had moved there to remove them.
func (w *work) discard() error {
	for _, name := range w.names() {
		if old, _, _ := strings.Cut(name, "."); w.holds(name, old) {
			if err := w.in.Remove(name); err != nil {
				return err
			}
		}
	}
	w.clean()
	if len(w.names()) > 0 {
		return fmt.Errorf("%w; move the version in %s to where it is needed, then remove the directory", errKept, w.path())
	}
	if err := w.dir.Remove(w.name); err != nil {
		return err
	}
	return w.dir.SyncNames(".")
}
