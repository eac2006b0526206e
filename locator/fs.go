package locator

import (
	"io/fs"
	"os"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// FS is a file system to search in. [OS] is the real one; package aferofs adapts
// any afero file system.
//
// Paths are absolute. Errors are those of package os: fs.ErrNotExist for a missing
// name, fs.ErrPermission, and syscall.ENOTDIR, ENAMETOOLONG or EINVAL for a path
// that cannot exist.
type FS interface {
	// Open opens a file for reading. It follows symbolic links and does not block on
	// a FIFO.
	Open(path string) (fs.File, error)
	// Stat follows symbolic links, Lstat does not. Without symbolic links they are
	// the same.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	// Readlink returns the target of a symbolic link as written: absolute, or
	// relative to the link's directory. It fails for anything else.
	Readlink(path string) (string, error)
	// ReadDir lists a directory, sorted by name. For anything else it fails without
	// opening the file. With an error it returns the entries read before.
	ReadDir(path string) ([]fs.DirEntry, error)
}

// OS is the operating system's file system.
type OS struct{}

func (OS) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (OS) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (OS) Readlink(path string) (string, error)       { return os.Readlink(path) }
func (OS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (OS) Open(path string) (fs.File, error) {
	f, err := safefile.OpenAny(path)
	if err != nil {
		return nil, err // not f: a nil *os.File is not a nil fs.File
	}
	return f, nil
}
