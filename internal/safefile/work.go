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

// The work directory of an edit is beside what it changes, and named after it, so that
// the next edit finds what a killed one left. It holds
//
//	new         what is being written; of no use to anybody after a crash
//	OLD.NEW     hashes of the file before and after: before the exchange the new
//	            content, after it the old, or what another program had written
//	OLD.        the file that was removed
//	NAME.kept   what another program had written, see ErrKept
const (
	workPrefix = ".fsmtx-edit-"
	newName    = "new"
	keptSuffix = ".kept"
)

// workName returns the name of the work directory for what is called base.
func workName(base string) string {
	if len(base) > 200 { // names have at most 255 bytes
		base = hashOf([]byte(base))
	}
	return workPrefix + base
}

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

// heldDir is a directory that is held open, and a name in it.
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

func syncFd(fd int) error {
	if err := unix.Fsync(fd); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// lock excludes other edits of this program in the directory. locked is false on a file
// system without such locks, as some network ones are.
func (d *heldDir) lock() (locked bool, err error) {
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		err := unix.Flock(d.fd, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err == nil, nil
		}
		if time.Now().After(end) {
			return false, fmt.Errorf("%s: %w", d.path, ErrBusy)
		}
	}
}

// work is a work directory and the directory that holds it, locked.
type work struct {
	dir  *heldDir // dir.base is what the edit changes in it: a file, or a new directory
	name string
	fd   int
}

// openWork creates the work directory of an edit of path, in the directory that is up
// levels above that of the file.
func openWork(path string, up int) (*work, error) {
	for range up {
		path = filepath.Dir(path)
	}
	dir, err := openDir(path)
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

// clean removes what is staged.
func (w *work) clean() {
	removeTree(w.fd, newName)
	for _, name := range w.names() {
		if old, data, ok := strings.Cut(name, "."); ok && data != "" && (w.holds(name, data) || w.holds(name, old)) {
			_ = unix.Unlinkat(w.fd, name, 0)
		}
	}
}

// removeTree removes a file, or a directory and what is in it; links are not followed.
func removeTree(dirfd int, name string) {
	if err := unix.Unlinkat(dirfd, name, 0); err == nil || errors.Is(err, unix.ENOENT) {
		return
	}
	fd, err := OpenAt(dirfd, name, os.O_RDONLY|unix.O_DIRECTORY|NoFollow, 0)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(fd), name)
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
	f := os.NewFile(uintptr(fd), w.path())
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	return names
}

// maxCompared bounds what is read of a file to compare it.
const maxCompared = 256 << 20

// holds reports whether the file in the work directory has the content with that hash.
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

// keep puts aside what another program has written, where no later edit removes it.
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

// stage writes data as "new", with the owner and the attributes of like, and returns the
// file, open.
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

// create creates the file and the directories that are missing: with their content they
// appear at once.
func (e *Edit) create(data []byte) error {
	missing, err := missingDirs(e.Path)
	if err != nil {
		return err
	}
	w, err := openWork(e.Path, missing)
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

// stageTree makes "new" a file or, with missing directories, the first of them.
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
	f := os.NewFile(uintptr(fd), path)
	return errors.Join(writeSynced(f, data), f.Close())
}

// ancestor returns the directory that is up levels above the path.
func ancestor(path string, up int) string {
	for range up {
		path = filepath.Dir(path)
	}
	return path
}

// MissingDirs returns how many directories Replace creates for a path.
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

// Sweep ends what killed edits of the path have left in the directories above it, as
// Replace does before it begins.
func Sweep(path string) error {
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
		return nil // its process was alive, and has ended
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

// withoutLock is how long a work directory is left alone where no lock says that its process
// has died.
const withoutLock = 10 * time.Minute

// check returns an error for a work directory that is not for this process to clean.
func (w *work) check(locked bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(w.fd, &st); err != nil {
		return pathError("stat", w.path(), err)
	}
	switch uid := os.Geteuid(); {
	case uid != 0 && int(st.Uid) != uid:
		return &fs.PathError{Op: "open", Path: w.path(), Err: ErrNotOwner}
	case !locked && time.Since(time.Unix(st.Mtim.Unix())) < withoutLock:
		return fmt.Errorf("%s: %w by another edit, or by one that was killed; it is removed after %v", w.path(), ErrBusy, withoutLock)
	}
	return nil
}

// finish ends one step of a killed edit. Another program's version is put back.
func (w *work) finish(path string, up int, name string) error {
	old, data, ok := strings.Cut(name, ".")
	if !ok || len(old) != len(hashOf(nil)) || strings.HasSuffix(name, keptSuffix) {
		if strings.HasSuffix(name, keptSuffix) {
			return fmt.Errorf("%s: %w; one version is in %s", path, ErrKept, filepath.Join(w.path(), name))
		}
		return nil // "new", which close removes
	}
	switch {
	case data == "" && w.holds(name, old): // removed, as was wanted
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

// exchangeBackKilled restores another program's version, which a killed edit took away.
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

// moveNew is RenameNewAt, also where the file system cannot rename so: there a file gets a
// hard link first, and a directory may replace an empty one.
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
