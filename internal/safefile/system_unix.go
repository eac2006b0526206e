//go:build unix

package safefile

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

const (
	atCwd      = unix.AT_FDCWD
	oDirectory = unix.O_DIRECTORY
	noFollow   = unix.O_NOFOLLOW
	forSync    = os.O_RDONLY // what a file is opened with to be synced
)

// stat describes a file.
type stat = syscall.Stat_t

func fstat(fd int, st *stat) error { return syscall.Fstat(fd, st) }

// statOf returns what the system says of the file at a path that info describes.
func statOf(_ string, info fs.FileInfo) (stat, error) { return *info.Sys().(*stat), nil }

// Stat describes what is at a path, at the end of its links.
func Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// IsWritable returns why this process may not make files in a directory.
func IsWritable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// OthersMayWrite reports whether the mode lets others than the owner change a file.
func OthersMayWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// SameFile reports whether two descriptions are of the same file.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(a, b) }

// isHeld returns false: a file can be replaced whatever its mode, and whoever has it open.
func isHeld(error) bool { return false }

// AsOpened returns the path: a file has the name by which it is opened.
func AsOpened(path string) string { return path }

// InUse returns nil: a file can be replaced whoever has it open.
func InUse(string) error { return nil }

// CheckNames returns nil: there is no name of a path that a file cannot have.
func CheckNames(string) error { return nil }

func openOnce(dirfd int, name string, flag int, perm uint32) (int, error) {
	return unix.Openat(dirfd, name, flag|unix.O_CLOEXEC, perm)
}

func closeFd(fd int) error                            { return unix.Close(fd) }
func readFd(fd int, p []byte) (int, error)            { return unix.Read(fd, p) }
func writeFd(fd int, p []byte) (int, error)           { return unix.Write(fd, p) }
func preadFd(fd int, p []byte, at int64) (int, error) { return unix.Pread(fd, p, at) }
func truncate(fd int) error                           { return unix.Ftruncate(fd, 0) }
func chmod(fd int, perm uint32) error                 { return unix.Fchmod(fd, perm) }
func linkAt(oldfd int, old string, newfd int, new string) error {
	return unix.Linkat(oldfd, old, newfd, new, 0)
}
func renameAt(oldfd int, old string, newfd int, new string) error {
	return unix.Renameat(oldfd, old, newfd, new)
}

func seekTo(fd int, at int64) error {
	_, err := unix.Seek(fd, at, io.SeekStart)
	return err
}

// fileOf returns the file of a descriptor that openAt has opened with these flags. It makes
// the descriptor blocking: else package os would ask the kernel to poll it, which regular
// files and directories refuse, and each call of Fd would make it blocking again.
func fileOf(fd int, path string, flag int) *os.File {
	if flag&oDirectory == 0 {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flag&unix.O_APPEND) // if it fails, the file is only slower
	}
	return os.NewFile(uintptr(fd), path)
}

// MostOpen returns how many files may be Unsynced at a time: at most half of those that a process may have open.
func MostOpen() int {
	const most = 2048
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return most / 16
	}
	return int(min(max(limit.Cur/2, 1), most))
}

// pending creates the file of WritePending.
func (d *Dir) pending(name string, perm fs.FileMode) (*Unsynced, error) {
	var f *renameio.PendingFile
	create := func(root *os.Root, base string) (err error) {
		f, err = renameio.NewPendingFile(Shortened(base), renameio.WithRoot(root), renameio.WithPermissions(perm))
		return err
	}
	if err := d.inRoot("open", name, create); err != nil {
		return nil, err
	}
	return &Unsynced{int(f.Fd()), d.Path(filepath.Join(filepath.Dir(name), filepath.Base(f.Name()))), f.File.Close}, nil
}

// newPending creates a temporary file in dir that is to be renamed. end removes it if that has failed.
func newPending(dir, base string, mode Mode) (f *os.File, end func(failed bool), err error) {
	root, err := Unheld.openRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	options := []renameio.Option{renameio.WithRoot(root), renameio.WithPermissions(mode.perm)}
	if mode.exactly {
		options = append(options, renameio.IgnoreUmask())
	}
	p, err := renameio.NewPendingFile(base, options...)
	if err != nil {
		return nil, nil, errors.Join(err, root.Close())
	}
	return p.File, func(failed bool) {
		if failed {
			_ = p.Cleanup()
		}
		_ = root.Close()
	}, nil
}

// lockFlag does not create the file: another directory may be at the path by now. A lock on
// NFS needs a file that is open for writing.
func lockFlag(opened fs.FileInfo) int {
	if opened.IsDir() {
		return os.O_RDONLY | syscall.O_DIRECTORY | NoFollow
	}
	return os.O_WRONLY | syscall.O_NONBLOCK | NoFollow
}

// tryLock takes the lock of what is at the path, without waiting.
func tryLock(path string, opened fs.FileInfo) (unlock func(), err error) {
	l := flock.New(path, flock.SetFlag(lockFlag(opened)))
	locked, err := l.TryLock()
	for errors.Is(err, syscall.EINTR) {
		locked, err = l.TryLock()
	}
	switch {
	case locked:
		there, err := l.Stat()
		if err == nil && os.SameFile(opened, there) {
			return func() { _ = l.Close() }, nil
		}
		_ = l.Close()
		return nil, cmp.Or(err, ErrMoved)
	case err == nil:
		err = ErrBusy
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENOTDIR):
		err = ErrMoved
	default:
		err = pathError("lock", l.Path(), err)
	}
	return nil, err
}
