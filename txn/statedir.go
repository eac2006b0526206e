package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Names inside S.
const (
	lockName      = "lock"      // flocked; never unlinked
	journalName   = "journal"   // there while a transaction is under way
	txnPrefix     = "txn-"      // txn-<id>/: new/ and old/
	donePrefix    = "done-"     // done-<id>: the journal of a committed transaction
	newName       = "new"       // staged files
	oldName       = "old"       // links to the files to be deleted
	conflictsName = "conflicts" // what stood in the way of a rollback
	scratchName   = "locks"     // the Locker's
)

// StateDir returns the path of S for the directory dir: ".<name>.fsmtx" beside
// dir. If dir is a symbolic link, S is beside the link's target, so that everyone
// who uses one directory, under whatever name, uses the same S. StateDir does not
// report whether S exists.
func StateDir(dir string) (string, error) {
	_, s, err := resolve(vfs.OS{}, dir)
	return s, err
}

// resolve returns D with a symbolic link at its end resolved, and S. D may be
// absent, but not a link to nothing: what made the link decides where D is.
func resolve(files vfs.FS, dir string) (d, s string, err error) {
	d, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	info, err := files.Lstat(d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, stateDirOf(d), nil
	case err != nil:
		return "", "", err
	case info.Mode()&fs.ModeSymlink != 0:
		if d, err = filepath.EvalSymlinks(d); err != nil {
			return "", "", fmt.Errorf("resolving the symbolic link %s: %w", dir, err)
		}
		if info, err = files.Lstat(d); err != nil {
			return "", "", err
		}
	}
	if !info.IsDir() {
		return "", "", fmt.Errorf("%s: %w", d, ErrUntrustedDir)
	}
	return d, stateDirOf(d), nil
}

func stateDirOf(d string) string {
	return filepath.Join(filepath.Dir(d), "."+filepath.Base(d)+".fsmtx")
}

// ParseStateDir reports whether name is the name of a state directory, and returns
// the name of the directory that it belongs to.
func ParseStateDir(name string) (dir string, ok bool) {
	const prefix, suffix = ".", ".fsmtx"
	if len(name) <= len(prefix)+len(suffix) || name[:len(prefix)] != prefix || name[len(name)-len(suffix):] != suffix {
		return "", false
	}
	dir = name[len(prefix) : len(name)-len(suffix)]
	return dir, isPlain(dir)
}

// mkdirAll makes dir and its missing parents and returns the directories whose
// names changed by that, which have to be synced.
func mkdirAll(files vfs.FS, dir string, perm fs.FileMode) (changed []string, err error) {
	err = files.Mkdir(dir, perm)
	if errors.Is(err, fs.ErrNotExist) {
		if changed, err = mkdirAll(files, filepath.Dir(dir), 0o755); err != nil {
			return changed, err
		}
		err = files.Mkdir(dir, perm)
	}
	if errors.Is(err, fs.ErrExist) {
		return changed, nil
	}
	if err != nil {
		return changed, err
	}
	return append(changed, filepath.Dir(dir)), nil
}

// checkOwn refuses a directory inside which nothing can be trusted: not a
// directory but a link, say, planted to lead writes astray, or another user's.
func checkOwn(files vfs.FS, dir string) error {
	info, err := files.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: %w: it is %s", dir, ErrUntrustedDir, describe(info.Mode()))
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s: %w: it belongs to user %d", dir, ErrUntrustedDir, st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: %w: others may write to it (mode %04o)", dir, ErrUntrustedDir, info.Mode().Perm())
	}
	return nil
}

func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode.IsRegular():
		return "a file"
	}
	return "neither file nor directory"
}
