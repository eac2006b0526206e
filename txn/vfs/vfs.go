package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
)

// FS is every way in which a transaction touches the disk. [OS] is the real one;
// tests put theirs around it to fail, to stop or to record each call.
// Paths are absolute. Mutating calls are atomic, and durable only as far as a
// later SyncFile or SyncDir makes them.
type FS interface {
	// Mkdir makes one directory; fs.ErrExist if the name is taken.
	Mkdir(name string, perm fs.FileMode) error
	// Link gives the file oldname a second name; fs.ErrExist if it is taken.
	Link(oldname, newname string) error
	// Rename replaces newname, which must be a file, an empty directory or absent.
	Rename(oldname, newname string) error
	// RenameNew renames only if newname is free, else fs.ErrExist. Where the file
	// system cannot do that in one step the error is errors.ErrUnsupported.
	RenameNew(oldname, newname string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// WriteFile makes a file in tempDir, writes and syncs it, and renames it to
	// name, replacing what is there.
	WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error
	// Overwrite writes a small file in place, for what needs to survive no power cut.
	// It does not follow a symbolic link.
	Overwrite(name string, data []byte) error
	// Chtimes sets the modification time.
	Chtimes(name string, mtime time.Time) error
	// SyncFile makes a file's bytes durable, SyncDir the names in a directory or in
	// the one that a symbolic link leads to.
	SyncFile(name string) error
	SyncDir(name string) error
	// ReadFile reads a regular file of at most MaxFileBytes. It neither follows a
	// symbolic link nor waits for the other end of a pipe.
	ReadFile(name string) ([]byte, error)
	// Lstat describes name itself, not what it links to.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
}

// MaxFileBytes bounds a file of a transaction.
const MaxFileBytes = 64 << 20

var (
	// ErrNotRegular means that a symbolic link, a directory, a pipe or a device
	// stands where a file is expected.
	ErrNotRegular = errors.New("not a regular file")
	// ErrFileTooLarge means that a file is larger than MaxFileBytes.
	ErrFileTooLarge = fmt.Errorf("larger than %d MiB", MaxFileBytes>>20)
)

// OS is the operating system's file system.
type OS struct{}

func (OS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (OS) Link(oldname, newname string) error         { return os.Link(oldname, newname) }
func (OS) Rename(oldname, newname string) error       { return os.Rename(oldname, newname) }
func (OS) RenameNew(oldname, newname string) error    { return renameNew(oldname, newname) }
func (OS) Remove(name string) error                   { return os.Remove(name) }
func (OS) Chtimes(name string, mtime time.Time) error { return os.Chtimes(name, mtime, mtime) }
func (OS) SyncFile(name string) error                 { return syncPath(name, syscall.O_NOFOLLOW) }
func (OS) SyncDir(name string) error                  { return syncPath(name, syscall.O_DIRECTORY) }
func (OS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (OS) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	return renameio.WriteFile(name, data, perm, renameio.WithTempDir(tempDir), renameio.WithStaticPermissions(perm))
}

func (OS) Overwrite(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (OS) ReadFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f)
}

func readRegular(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrNotRegular}
	}
	if info.Size() > MaxFileBytes {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrFileTooLarge}
	}
	return io.ReadAll(io.LimitReader(f, MaxFileBytes))
}

// syncPath needs a handle of its own: what fsync makes durable belongs to the
// inode, not to the handle that wrote it.
func syncPath(name string, flag int) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
