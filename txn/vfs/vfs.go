// Package vfs has the file operations that a transaction of package txn makes.
package vfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// FS is the set of file operations by which a transaction touches the disk. [OS]
// is the operating system's; tests wrap it to fail, stop or record each call.
//
// Paths are absolute. Each mutating call is atomic with respect to a crash of the
// process, and durable across a power cut only once a later Sync covers it.
// Errors are those of package os unless stated otherwise.
type FS interface {
	// Lstat describes name without following a symbolic link.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// ReadFile reads a regular file of at most MaxFileBytes. It does not follow a
	// symbolic link and does not block on a pipe. Its errors include
	// ErrNotRegular and ErrFileTooLarge.
	ReadFile(name string) ([]byte, error)

	// Mkdir creates one directory. It returns fs.ErrExist if name exists.
	Mkdir(name string, perm fs.FileMode) error
	// WriteFile creates a file in tempDir, writes and syncs it, and renames it to
	// name. The file has the permissions of the file that it replaces; if there is
	// none, it has perm, whatever the umask.
	WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error
	// Overwrite writes a file in place, creating it if necessary, and does not sync
	// it. It is for small files that need not survive a crash. It does not follow a
	// symbolic link and does not block on a pipe. Its errors include ErrNotRegular.
	Overwrite(name string, data []byte) error
	// AppendLine adds a line to the end of a file in one write, creating the file if
	// necessary, and does not sync it. The line is preceded by a newline if the file
	// ends within a line, as an interrupted call leaves it, and followed by one. It
	// does not follow a symbolic link and does not block on a pipe. Its errors
	// include ErrNotRegular, and ErrFileTooLarge if ReadFile could not read the file
	// any more.
	AppendLine(name string, line []byte) error
	// Chtimes sets the modification time.
	Chtimes(name string, mtime time.Time) error
	// Link gives the file oldname a second name. It returns fs.ErrExist if newname
	// exists.
	Link(oldname, newname string) error
	// Rename renames oldname to newname, replacing a file or an empty directory
	// there.
	Rename(oldname, newname string) error
	// RenameNew renames oldname to newname. It returns fs.ErrExist if newname
	// exists, and errors.ErrUnsupported if the file system cannot check that and
	// rename in one step.
	RenameNew(oldname, newname string) error
	// Remove removes a file or an empty directory.
	Remove(name string) error
	// Sync makes durable the bytes of a file, or the names in a directory. It
	// follows a symbolic link.
	Sync(name string) error
}

// MaxFileBytes bounds a file of a transaction.
const MaxFileBytes = 64 << 20

var (
	// ErrNotRegular is returned by ReadFile, Overwrite and AppendLine when name is a symbolic
	// link, a directory, a pipe, a socket or a device.
	ErrNotRegular = safefile.ErrNotRegular
	// ErrFileTooLarge is returned by ReadFile when the file is larger than
	// MaxFileBytes, and by AppendLine when it would be.
	ErrFileTooLarge = safefile.ErrTooLarge
)

// OS is the operating system's file system.
type OS struct{}

func (OS) Mkdir(name string, perm fs.FileMode) error  { return os.Mkdir(name, perm) }
func (OS) Link(oldname, newname string) error         { return os.Link(oldname, newname) }
func (OS) RenameNew(oldname, newname string) error    { return renameNew(oldname, newname) }
func (OS) Remove(name string) error                   { return os.Remove(name) }
func (OS) Chtimes(name string, mtime time.Time) error { return os.Chtimes(name, mtime, mtime) }
func (OS) Lstat(name string) (fs.FileInfo, error)     { return os.Lstat(name) }
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Rename is not os.Rename, which refuses to replace an empty directory.
func (OS) Rename(oldname, newname string) error {
	for {
		err := syscall.Rename(oldname, newname)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
		}
	}
}

func (OS) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	return renameio.WriteFile(name, data, perm, renameio.WithTempDir(tempDir), renameio.WithStaticPermissions(perm))
}

func (OS) Overwrite(name string, data []byte) error {
	f, err := safefile.Open(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|safefile.NoFollow)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func (OS) AppendLine(name string, line []byte) error {
	f, err := safefile.Open(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|safefile.NoFollow)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(f, line), f.Close())
}

func appendLine(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	text := make([]byte, 0, len(line)+2)
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			text = append(text, '\n')
		}
	}
	text = append(append(text, line...), '\n')
	if info.Size()+int64(len(text)) > MaxFileBytes {
		return &fs.PathError{Op: "append", Path: f.Name(), Err: ErrFileTooLarge}
	}
	_, err = f.Write(text)
	return err
}

func (OS) ReadFile(name string) ([]byte, error) {
	return safefile.ReadFile(name, MaxFileBytes, safefile.NoFollow)
}

// Sync needs no handle that was written to: fsync(2) makes durable what belongs to
// the inode.
func (OS) Sync(name string) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
