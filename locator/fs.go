package locator

import (
	"io/fs"
	"os"
	"syscall"
)

// FS is every way in which this package touches a filesystem: it only looks.
// [OS] is the real one; package aferofs makes one of any afero filesystem.
//
// Paths are absolute. Errors are those of package os: what is not there is
// fs.ErrNotExist, what may not be looked at fs.ErrPermission, and a path that
// nothing can have is syscall.ENOTDIR, ENAMETOOLONG or EINVAL.
type FS interface {
	// Open opens for reading, following symbolic links, and does not wait for
	// the other end of a FIFO. What it opens says of itself what it is.
	Open(path string) (fs.File, error)
	// Stat describes what path leads to, Lstat what has the name itself. Where
	// there are no symbolic links the two are one.
	Stat(path string) (fs.FileInfo, error)
	Lstat(path string) (fs.FileInfo, error)
	// Readlink returns where the symbolic link at path leads, as it is written
	// there: absolute, or relative to the link's directory. What is no link is
	// an error, and so is everything where there are none.
	Readlink(path string) (string, error)
	// ReadDir lists the directory that path leads to, sorted by name. What is no
	// directory is an error and is not opened. Beside an error is what could be
	// read until then.
	ReadDir(path string) ([]fs.DirEntry, error)
}

// OS is the operating system's filesystem.
type OS struct{}

func (OS) Stat(path string) (fs.FileInfo, error)      { return os.Stat(path) }
func (OS) Lstat(path string) (fs.FileInfo, error)     { return os.Lstat(path) }
func (OS) Readlink(path string) (string, error)       { return os.Readlink(path) }
func (OS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (OS) Open(path string) (fs.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err // f would be an interface that is not nil
	}
	return f, nil
}
