// Package vfs contains the file operations of package txn: the interface [FS], its
// implementation [OS], and [Held], which resolves paths from open directories.
// Package faultfs has file systems that fail, for tests.
package vfs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// FS is the set of file operations of a transaction. [OS] is the operating system's
// file system; tests wrap it to fail, stop or record each call.
//
// Paths are absolute. Each mutating call is atomic with respect to a crash of the
// process, and durable across a power cut only once a later Sync covers it.
// Errors are those of package os unless stated otherwise.
type FS interface {
	// Lstat describes name without following a symbolic link.
	Lstat(name string) (fs.FileInfo, error)
	// EvalSymlinks returns name with every symbolic link on the way resolved.
	EvalSymlinks(name string) (string, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// ReadFile reads a regular file of at most MaxFileBytes. It does not follow a
	// symbolic link and does not block on a pipe. Its errors include
	// ErrNotRegular and ErrFileTooLarge.
	ReadFile(name string) ([]byte, error)
	// ReadFrom is ReadFile from the byte at offset on. It returns nothing if the file is
	// shorter.
	ReadFrom(name string, offset int64) ([]byte, error)

	// Mkdir creates one directory. It returns fs.ErrExist if name exists.
	Mkdir(name string, perm fs.FileMode) error
	// WriteNew creates a file, which must not exist, writes and syncs it. It has perm,
	// whatever the umask. After a crash it may have a part of the data.
	WriteNew(name string, data []byte, perm fs.FileMode) error
	// WritePending writes a new file with a temporary name beside name and starts its write-back. It
	// has perm, whatever the umask. The caller syncs it and renames it from its Path to name. If
	// WritePending fails, or after a crash, a file with a part of the data may stay.
	WritePending(name string, data []byte, perm fs.FileMode) (Unsynced, error)
	// StartSync opens a file that another program may have written and starts its write-back. The
	// caller syncs it.
	StartSync(name string) (Unsynced, error)
	// Overwrite replaces the content of a file in place, creating the file if
	// necessary, and does not sync it. It is for small files that need not survive a
	// crash. It does not follow a symbolic link and does not block on a pipe. Its
	// errors include ErrNotRegular and ErrNotOwn.
	Overwrite(name string, data []byte) error
	// AppendLine appends line and a newline to a file in one write, creating the file
	// if necessary, and does not sync it. If an interrupted call left the file without
	// a final newline, AppendLine writes that newline first. It does not follow a
	// symbolic link and does not block on a pipe. Its errors include ErrNotRegular,
	// ErrNotOwn, and ErrFileTooLarge if the file would exceed MaxFileBytes.
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
	// Sync makes the bytes of a file, or the names in a directory, durable. Below a
	// held directory it does not follow a symbolic link; elsewhere it does.
	Sync(name string) error

	// Lock takes an exclusive lock on a file, and waits for it until ctx is done. It
	// creates the file if create is true. The lock ends with the process, or with a call
	// of unlock. locked describes the file, which by then may have lost its name to
	// another one. Its errors include ErrBusy, ErrNotRegular, ErrNotOwn, and ErrMoved if
	// there is no file or if it was replaced while it was opened.
	Lock(ctx context.Context, name string, create bool) (locked fs.FileInfo, unlock func(), err error)
}

// Unsynced is an open file whose bytes are on their way to the disk. It is open until Sync or Close, so
// that Sync returns an error of the write-back too.
type Unsynced interface {
	// Path returns the path of the file.
	Path() string
	// Wait waits until the write-back is over. It makes nothing durable. An error of the
	// write-back is returned once, by Wait or Sync.
	Wait() error
	// Sync makes the bytes of the file durable, and closes it.
	Sync() error
	// Close closes the file without a sync.
	Close() error
}

// SameFile reports whether two descriptions are of the same file. Files of a file system that is not the operating system's are the same if
// a method SameFile of the first says so.
func SameFile(a, b fs.FileInfo) bool {
	if fake, ok := a.(interface{ SameFile(fs.FileInfo) bool }); ok {
		return fake.SameFile(b)
	}
	return safefile.SameFile(a, b)
}

// SyncDir makes the names in a directory durable. On a file system that cannot sync directories
// they are as durable as it makes them by itself.
func SyncDir(files FS, dir string) error {
	err := files.Sync(dir)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// MaxFileBytes is the largest size of a file in a transaction.
const MaxFileBytes = 64 << 20

var (
	// ErrNotRegular is returned by ReadFile, Overwrite and AppendLine when name is a symbolic
	// link, a directory, a pipe, a socket or a device.
	ErrNotRegular = safefile.ErrNotRegular
	// ErrFileTooLarge is returned by ReadFile when the file is larger than
	// MaxFileBytes, and by AppendLine when it would be.
	ErrFileTooLarge = safefile.ErrTooLarge
	// ErrNotOwn is returned by Overwrite and AppendLine when the file belongs to another
	// user or has a second hard link. Writing it in place would change another user's
	// file, or a file outside the directory. Nothing was written.
	ErrNotOwn = safefile.ErrNotOwn
	// ErrBusy is returned by Lock when another process held the lock until the context
	// ended.
	ErrBusy = safefile.ErrBusy
	// ErrMoved is returned by Lock when the file does not exist, or was replaced while it
	// was opened.
	ErrMoved = safefile.ErrMoved
	// ErrNotDir is returned by Held.Hold, and by Mkdir of a held directory, when the path exists
	// and is not a directory.
	ErrNotDir = safefile.ErrNotDir
)
