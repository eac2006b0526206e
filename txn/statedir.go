package txn

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsmtx/fsmtx/internal/safefile"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Names inside S.
const (
	lockName       = "lock"      // locked by flock; never unlinked; not empty while a process uses S, or has died
	journalName    = "journal"   // present while a transaction is in progress
	txnPrefix      = "txn-"      // txn-<id>/: the directory of a transaction
	stagedName     = "new"       // txn-<id>/new/: staged files
	backupName     = "old"       // txn-<id>/old/: backup links to the deleted files
	draftName      = "draft"     // txn-<id>/draft: the journal before it has its name
	markName       = "mark"      // txn-<id>/mark: the staged Mark
	probeName      = "probe"     // txn-<id>/probe: a file to find out whether links can be made
	donePrefix     = "done-"     // done-<id>: the journal of a committed transaction
	tempName       = "tmp"       // temporary files outside of transactions
	quarantineName = "conflicts" // what was in the way of a rollback, and untrusted journals
	lockerName     = "locks"     // the Locker's
)

const statePrefix, stateSuffix = ".", ".fsmtx"

// StateDir returns the path of S for the directory dir: ".<name>.fsmtx" beside
// dir. If dir is a symbolic link, S is beside the link's target, so that all processes
// use the same S for one directory, by whichever path they name it. Neither dir nor S
// need exist.
//
// Errors: ErrUntrustedDir if dir is not a directory or is a symbolic link of another
// user, ErrName if its name is too long or not UTF-8, or the file system's, for example
// if dir is a dangling symbolic link.
func StateDir(dir string) (string, error) {
	_, s, err := resolve(vfs.OS{}, dir)
	return s, err
}

// IsAbsent reports whether there is neither the directory nor its S.
func IsAbsent(dir string) bool {
	for _, path := range []string{dir, stateDirOf(dir)} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// ParseStateDir reports whether name is the name of a state directory, and returns
// the name of the directory that it belongs to.
func ParseStateDir(name string) (dir string, ok bool) {
	dir, prefixed := strings.CutPrefix(name, statePrefix)
	dir, suffixed := strings.CutSuffix(dir, stateSuffix)
	if !prefixed || !suffixed || !isPlain(dir) {
		return "", false
	}
	return dir, true
}

// resolve returns D, with a symbolic link as its last element resolved, and S. D need not
// exist, but a dangling link is an error: only its creator knows where D should be.
func resolve(files vfs.FS, dir string) (d, s string, err error) {
	if d, err = resolveLink(files, dir); err != nil {
		return "", "", err
	}
	return d, stateDirOf(d), checkDirName(d)
}

// checkDirName returns ErrName if D cannot have a state directory or a journal that
// names it.
func checkDirName(d string) error {
	name := filepath.Base(d)
	if room := maxName - len(statePrefix) - len(stateSuffix); len(name) > room {
		return fmt.Errorf("%s: %w: the name has %d bytes, and more than %d leave no room for the state directory beside it", d, ErrName,
			len(name), room)
	}
	if !isPlain(name) {
		return fmt.Errorf("%s: %w: the directory's name is not UTF-8", d, ErrName)
	}
	return nil
}

func resolveLink(files vfs.FS, dir string) (d string, err error) {
	d, err = filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := files.Lstat(d)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
		return d, nil
	}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if user := ownerOf(info); user != os.Geteuid() && user != 0 {
			return "", untrusted(d, fmt.Sprintf("it is a symbolic link that belongs to user %d", user))
		}
		if d, err = files.EvalSymlinks(d); err != nil {
			return "", fmt.Errorf("resolving the symbolic link %s: %w", dir, err)
		}
		info, err = files.Lstat(d)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", untrusted(d, "it is "+describe(info.Mode()))
	}
	return d, nil
}

func stateDirOf(d string) string {
	return filepath.Join(filepath.Dir(d), statePrefix+filepath.Base(d)+stateSuffix)
}

// mkdirAll creates dir and its missing parents, and returns the directories in
// which it created a name: they have to be synced.
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

// Forget removes S, after which the Dir can only be closed, and nothing that was deleted can be
// restored. The lock goes last: a process that waits for it then finds that S is not the same, and
// creates another one.
//
// Errors: ErrClosed or the file system's. What is left of S then can be opened and forgotten again.
func (d *Dir) Forget() error {
	if d.closed {
		return ErrClosed
	}
	d.dirty = true // Close leaves the lock file alone
	entries, err := d.files.ReadDir(d.s)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}
		path := d.statePath(e.Name())
		if err := d.removeTree(path); err != nil {
			return err
		}
		if err := d.files.Remove(path); ignoreNotExist(err) != nil { // it was not a directory
			return err
		}
	}
	if err := d.files.Remove(d.statePath(lockName)); err != nil {
		return err
	}
	return d.files.Remove(d.s)
}

// checkTrusted returns ErrUntrustedDir unless dir is a directory that only this
// user can change. Another user may have put anything else there to redirect writes.
func checkTrusted(files vfs.FS, dir string) error {
	info, err := files.Lstat(dir)
	if err != nil {
		return err
	}
	return checkTrustedInfo(dir, info)
}

func checkTrustedInfo(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return untrusted(dir, "it is "+describe(info.Mode()))
	}
	if user := ownerOf(info); user != os.Geteuid() {
		return fmt.Errorf("%s: %w: %w", dir, ErrUntrustedDir, ofOther(user, dir))
	}
	if safefile.OthersMayWrite(info) {
		return fmt.Errorf("%s: %w: %w", dir, ErrUntrustedDir, ofOthers{info.Mode().Perm(), dir})
	}
	return nil
}

// ofOthers is that others may write into a directory. It is an ErrOfOther.
type ofOthers struct {
	mode fs.FileMode
	dir  string
}

func (e ofOthers) Error() string {
	return fmt.Sprintf("others may write to it (mode %04o); inspect it, then: chmod 700 '%s'", e.mode, quoted(e.dir))
}

func (ofOthers) Is(target error) bool { return target == safefile.ErrOfOther }

// quoted is a path between single quotes of a shell.
func quoted(path string) string { return strings.ReplaceAll(path, "'", `'\''`) }

// ofOther says to whom a directory belongs, and what mends that: if root has made it here by mistake, how it becomes this user's.
func ofOther(user int, dir string) error {
	switch {
	case os.Geteuid() == 0:
		return fmt.Errorf("%w %d; run fsmtx as that user", safefile.ErrOfOther, user)
	case user != 0:
		return fmt.Errorf("%w %d; inspect it, then move it away", safefile.ErrOfOther, user)
	}
	return fmt.Errorf("%w 0 (root); if root has run fsmtx here, mend it: sudo chown -R %d '%s'", safefile.ErrOfOther, os.Geteuid(),
		quoted(filepath.Dir(dir)))
}

// ownerOf returns the id of the user who owns a file, or this user's id if the file
// system does not report an owner.
func ownerOf(info fs.FileInfo) int {
	if uid, ok := safefile.OwnerOf(info); ok {
		return uid
	}
	return os.Geteuid()
}

func untrusted(dir, why string) error {
	return fmt.Errorf("%s: %w: %s", dir, ErrUntrustedDir, why)
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
	return "neither a file nor a directory"
}
