package safefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
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
		found := func() error { paths = append(paths, path); return nil }
		switch {
		case strings.HasPrefix(e.Name(), tempPrefix) && e.Name() != tempPrefix:
			_ = withDeadTemp(path, func(*os.File, []string) error { return found() })
		case e.IsDir() && strings.HasPrefix(e.Name(), workPrefix):
			_ = withDeadWork(path, func(*work) error { return found() })
		}
	}
	return paths, nil
}

// RemoveLeftover removes what Leftovers has found at the path, unless it has come into use
// since. It returns ErrKept if that contains another program's version of a file.
func RemoveLeftover(path string) error {
	if strings.HasPrefix(filepath.Base(path), tempPrefix) {
		return withDeadTemp(path, removeTempDir)
	}
	return withDeadWork(path, (*work).discard)
}

// withDeadWork calls do with the work directory of a killed edit of this user, in a directory
// that is locked.
func withDeadWork(path string, do func(*work) error) error {
	dir, err := openDir(path)
	if err != nil {
		return err
	}
	defer dir.close()
	w := &work{dir: dir, name: dir.base, fd: -1}
	locked, err := dir.tryLock()
	if err != nil {
		return nil // an edit is running
	}
	if err := w.open(); err != nil {
		return err
	}
	defer unix.Close(w.fd)
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil || int(st.Uid) != os.Geteuid() || !w.isOurs() {
		return pathError("stat", path, err)
	}
	if w.check(locked) != nil {
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
		if old, data, ok := strings.Cut(name, "."); ok && data == "" && w.holds(name, old) {
			if err := w.unlink(name); err != nil {
				return err
			}
		}
	}
	w.clean()
	if len(w.names()) > 0 {
		return fmt.Errorf("%w; move the version in %s to where it is needed, then remove the directory", ErrKept, w.path())
	}
	if err := unix.Unlinkat(w.dir.fd, w.name, unix.AT_REMOVEDIR); err != nil {
		return pathError("remove", w.path(), err)
	}
	return w.dir.sync()
}
