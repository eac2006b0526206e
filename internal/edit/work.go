package edit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmtx/fsmtx/internal/hint"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// The work directory of an edit is beside the file or directory that it changes, and
// named after it, so that the next edit finds the work directory of a killed one. It
// contains
//
//	new         the file being written; useless after a crash
//	OLD.NEW     named by the hashes of the old and the new content: before the exchange
//	            the new file, after it the old file or another program's version
//	OLD.        the removed file
//	NAME.kept   another program's version, see errKept
const (
	workPrefix = ".fsmtx-edit-"
	newName    = "new"
	keptSuffix = ".kept"
)

// workName returns the name of the work directory for a file or directory called base.
func workName(base string) string { return workPrefix + safefile.Shortened(base) }

// slotName returns the name, in the work directory, of the file that an edit exchanges,
// or removes if data is nil.
func slotName(old, data []byte) string {
	if data == nil {
		return hashOf(old) + "."
	}
	return hashOf(old) + "." + hashOf(data)
}

func hashOf(data []byte) string { return safefile.HashOf(data) }

// place is a directory that is held open, and the name of a file in it.
type place struct {
	*safefile.Dir
	base   string
	unlock func() // nil until lock or tryLock has locked it
}

func openPlace(path string) (*place, error) {
	dir, err := safefile.OpenDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return &place{Dir: dir, base: filepath.Base(path)}, nil
}

func (p *place) close() {
	if p.unlock != nil {
		p.unlock()
	}
	_ = p.Close() // opened for reading only
}

// lock excludes other edits of this program in the directory. locked is false on a file
// system without such locks, such as some network file systems. Its only errors are safefile.ErrBusy
// and ErrChanged.
func (p *place) lock() (locked bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return p.locked(p.Lock(ctx))
}

// tryLock is lock without waiting.
func (p *place) tryLock() (locked bool, err error) { return p.locked(p.Lock(safefile.NoWait())) }

func (p *place) locked(unlock func(), err error) (bool, error) {
	switch p.unlock = unlock; {
	case errors.Is(err, safefile.ErrBusy):
		return false, fmt.Errorf("%s: %w", p.Path("."), safefile.ErrBusy)
	case errors.Is(err, safefile.ErrMoved):
		return false, ErrChanged
	}
	return err == nil, nil
}

// work is a work directory. The directory that contains it is locked.
type work struct {
	dir  *place // dir.base is the name that the edit changes: a file or a new directory
	name string
	in   *safefile.Dir // nil until it is opened
}

// createWork creates the work directory of an edit of path, in the directory that is up
// levels above that of the file.
func createWork(path string, up int) (*work, error) {
	dir, err := openPlace(ancestor(path, up))
	if err != nil {
		return nil, err
	}
	w := &work{dir: dir, name: workName(dir.base)}
	if _, err = dir.lock(); err == nil {
		err = unwritable(path, w.make())
	}
	if err != nil {
		dir.close()
		return nil, err
	}
	return w, nil
}

// unwritable returns the error of making the work directory as one of the file at path, which is what
// the person knows.
func unwritable(path string, err error) error {
	made, ok := errors.AsType[*fs.PathError](err)
	if !ok || made.Op != "mkdir" {
		return err
	}
	err = &fs.PathError{Op: "write", Path: path, Err: made.Err}
	if errors.Is(err, fs.ErrPermission) {
		return hint.With(err, "you may not write into "+filepath.Dir(made.Path)+": change its permissions, or run the command as its owner")
	}
	return err
}

func (w *work) path() string { return w.dir.Path(w.name) }

func (w *work) make() error {
	if err := w.dir.Mkdir(w.name, 0o700); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := w.dir.Lstat(w.name); err == nil && !info.IsDir() {
			return fmt.Errorf("%s: %w, and fsmtx did not create it; move it away", w.path(), unix.ENOTDIR)
		}
		return fmt.Errorf("%s: %w", w.path(), safefile.ErrBusy)
	}
	return w.open()
}

func (w *work) open() (err error) {
	w.in, err = w.dir.OpenDir(w.name)
	return err
}

// close removes the work directory, unless something is kept in it, and releases the
// lock.
func (w *work) close() {
	if w.in != nil {
		w.clean()
		_ = w.in.Close()
		if w.dir.Remove(w.name) == nil {
			_ = w.dir.SyncNames(".")
		}
	}
	w.dir.close()
}

// clean removes staged files: "new", and those with our old or new content.
func (w *work) clean() {
	_ = w.in.RemoveAll(newName)
	for _, name := range w.names() {
		if old, data, ok := strings.Cut(name, "."); ok && data != "" && (w.holds(name, data) || w.holds(name, old)) {
			_ = w.in.Remove(name)
		}
	}
}

func (w *work) names() (names []string) {
	entries, _ := w.in.ReadDir(".")
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// maxCompared bounds the size of files that are read to compare them.
const maxCompared = 256 << 20

// holds reports whether the content of the file in the work directory has the hash.
func (w *work) holds(name, hash string) bool { return holds(w.in, name, hash) }

func holds(dir *safefile.Dir, name, hash string) bool {
	data, err := dir.ReadFile(name, 0, maxCompared)
	return err == nil && hashOf(data) == hash
}

// keep moves another program's version to a name that no later edit removes. It returns
// an errKept.
func (w *work) keep(slot string, cause error) error {
	name := strings.TrimPrefix(w.name, workPrefix)
	kept := name + keptSuffix
	for i := 1; ; i++ {
		err := moveNew(w.in, slot, w.in, kept)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			kept = slot
			cause = errors.Join(cause, err)
			break
		}
		kept = fmt.Sprint(name, ".", i, keptSuffix)
	}
	err := fmt.Errorf("%s: %w; one version is in %s", w.dir.Path(w.dir.base), errKept, filepath.Join(w.path(), kept))
	return errors.Join(err, cause, w.in.SyncNames("."))
}

// stage writes data to "new", with the owner and the attributes of like, and returns the
// open file.
func (w *work) stage(data []byte, mode fs.FileMode, like *os.File) (*os.File, error) {
	f, err := createLike(w.in, newName, mode, like)
	if err != nil {
		return nil, err
	}
	if err := writeSynced(f, data); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func writeSynced(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return err
}

// moveNew is RenameNew with a fallback for file systems that cannot rename without
// replacing: a file is hard-linked and then unlinked; a directory may replace an empty
// one.
func moveNew(from *safefile.Dir, name string, to *safefile.Dir, newname string) error {
	err := from.RenameNew(name, to, newname)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = from.Link(name, to, newname); err == nil {
		return from.Remove(name)
	}
	if info, statErr := to.Lstat(newname); errors.Is(err, fs.ErrExist) || statErr == nil && !info.IsDir() {
		return unix.EEXIST
	}
	return from.Rename(name, to, newname)
}
