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

// The work directory of an edit is beside the file or directory that it changes, and
// named after it, so that the next edit finds the work directory of a killed one. It
// contains
//
//	new         the file being written; useless after a crash
//	OLD.NEW     named by the hashes of the old and the new content: before the exchange
//	            the new file, after it the old file or another program's version
//	OLD.        the removed file
//	NAME.kept   another program's version, see ErrKept
const (
	workPrefix = ".fsmtx-edit-"
	newName    = "new"
	keptSuffix = ".kept"
)

// workName returns the name of the work directory for a file or directory called base.
func workName(base string) string { return workPrefix + shortened(base) }

// shortened returns the name, or its hash if a prefix would make it too long: names have at
// most 255 bytes.
func shortened(name string) string {
	if len(name) > 200 {
		return hashOf([]byte(name))
	}
	return name
}

// slotName returns the name, in the work directory, of the file that an edit exchanges,
// or removes if data is nil.
func slotName(old, data []byte) string {
	if data == nil {
		return hashOf(old) + "."
	}
	return hashOf(old) + "." + hashOf(data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// heldDir is a directory that is held open, and the name of a file in it.
type heldDir struct {
	fd   int
	path string
	base string
}

func openDir(path string) (*heldDir, error) {
	d := &heldDir{path: filepath.Dir(path), base: filepath.Base(path)}
	fd, err := OpenAt(unix.AT_FDCWD, d.path, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	if err != nil {
		return nil, pathError("open", d.path, err)
	}
	d.fd = fd
	return d, nil
}

func (d *heldDir) close() { unix.Close(d.fd) }

func (d *heldDir) sync() error { return pathError("sync", d.path, syncFd(d.fd)) }

func syncFd(fd int) error { return syncError(unix.Fsync(fd)) }

// lock excludes other edits of this program in the directory. locked is false on a file
// system without such locks, such as some network file systems.
func (d *heldDir) lock() (locked bool, err error) {
	for end := time.Now().Add(timeout); ; time.Sleep(5 * time.Millisecond) {
		locked, err = d.tryLock()
		if err == nil || time.Now().After(end) {
			return locked, err
		}
	}
}

// tryLock is lock without waiting: ErrBusy is its only error.
func (d *heldDir) tryLock() (locked bool, err error) { return tryLock(d.fd, d.path) }

// work is a work directory. The directory that contains it is locked.
type work struct {
	dir  *heldDir // dir.base is the name that the edit changes: a file or a new directory
	name string
	fd   int
}

// createWork creates the work directory of an edit of path, in the directory that is up
// levels above that of the file.
func createWork(path string, up int) (*work, error) {
	dir, err := openDir(ancestor(path, up))
	if err != nil {
		return nil, err
	}
	w := &work{dir: dir, name: workName(dir.base), fd: -1}
	if _, err = dir.lock(); err == nil {
		err = w.make()
	}
	if err != nil {
		dir.close()
		return nil, err
	}
	return w, nil
}

func (w *work) path() string { return filepath.Join(w.dir.path, w.name) }

func (w *work) make() error {
	if err := unix.Mkdirat(w.dir.fd, w.name, 0o700); err != nil {
		if !errors.Is(err, unix.EEXIST) {
			return pathError("mkdir", w.path(), err)
		}
		if info, err := os.Lstat(w.path()); err == nil && !info.IsDir() {
			return fmt.Errorf("%s: %w, and fsmtx did not create it; move it away", w.path(), unix.ENOTDIR)
		}
		return fmt.Errorf("%s: %w", w.path(), ErrBusy)
	}
	return w.open()
}

func (w *work) open() (err error) {
	w.fd, err = OpenAt(w.dir.fd, w.name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	return pathError("open", w.path(), err)
}

func (w *work) sync() error { return pathError("sync", w.path(), syncFd(w.fd)) }

func (w *work) unlink(name string) error {
	return pathError("remove", filepath.Join(w.path(), name), unix.Unlinkat(w.fd, name, 0))
}

// close removes the work directory, unless something is kept in it, and releases the
// lock.
func (w *work) close() {
	if w.fd >= 0 {
		w.clean()
		unix.Close(w.fd)
		if unix.Unlinkat(w.dir.fd, w.name, unix.AT_REMOVEDIR) == nil {
			_ = w.dir.sync()
		}
	}
	w.dir.close()
}

// clean removes staged files: "new", and those with our old or new content.
func (w *work) clean() {
	removeTree(w.fd, newName)
	for _, name := range w.names() {
		if old, data, ok := strings.Cut(name, "."); ok && data != "" && (w.holds(name, data) || w.holds(name, old)) {
			_ = unix.Unlinkat(w.fd, name, 0)
		}
	}
}

// removeTree removes a file, or a directory with its content. It does not follow symbolic
// links.
func removeTree(dirfd int, name string) {
	if unix.Unlinkat(dirfd, name, 0) == nil {
		return
	}
	fd, err := OpenAt(dirfd, name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	if err != nil {
		return
	}
	f := FileOf(fd, name, unix.O_DIRECTORY)
	names, _ := f.Readdirnames(-1)
	for _, n := range names {
		removeTree(fd, n)
	}
	f.Close()
	_ = unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR)
}

func (w *work) names() []string {
	fd, err := OpenAt(w.fd, ".", os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	f := FileOf(fd, w.path(), unix.O_DIRECTORY)
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}

// maxCompared bounds the size of files that are read to compare them.
const maxCompared = 256 << 20

// holds reports whether the content of the file in the work directory has the hash.
func (w *work) holds(name, hash string) bool {
	return holds(w.fd, name, filepath.Join(w.path(), name), hash)
}

func holds(dirfd int, name, path, hash string) bool {
	f, err := OpenFileAt(dirfd, name, path, os.O_RDONLY|NoFollow)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := ReadAll(f, maxCompared)
	return err == nil && hashOf(data) == hash
}

// keep moves another program's version to a name that no later edit removes. It returns
// an ErrKept.
func (w *work) keep(slot string, cause error) error {
	name := strings.TrimPrefix(w.name, workPrefix)
	kept := name + keptSuffix
	for i := 1; ; i++ {
		err := moveNew(w.fd, slot, w.fd, kept)
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
	err := fmt.Errorf("%s: %w; one version is in %s", filepath.Join(w.dir.path, w.dir.base), ErrKept, filepath.Join(w.path(), kept))
	return errors.Join(err, cause, w.sync())
}

// stage writes data to "new", with the owner and the attributes of like, and returns the
// open file.
func (w *work) stage(data []byte, mode fs.FileMode, like *os.File) (*os.File, error) {
	f, err := createLike(w.fd, newName, filepath.Join(w.path(), newName), mode, like)
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

// moveNew is RenameNewAt with a fallback for file systems that cannot rename without
// replacing: a file is hard-linked and then unlinked; a directory may replace an empty
// one.
func moveNew(oldfd int, oldname string, newfd int, newname string) error {
	err := RenameNewAt(oldfd, oldname, newfd, newname)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = unix.Linkat(oldfd, oldname, newfd, newname, 0); err == nil {
		return unix.Unlinkat(oldfd, oldname, 0)
	}
	var at unix.Stat_t
	if errors.Is(err, unix.EEXIST) || unix.Fstatat(newfd, newname, &at, unix.AT_SYMLINK_NOFOLLOW) == nil && at.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.EEXIST
	}
	return unix.Renameat(oldfd, oldname, newfd, newname)
}
