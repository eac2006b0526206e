// Package aferofs lets a locator read from an afero file system: one in memory, in
// an archive, below a directory or read-only. It never writes.
//
// It is separate from package locator because afero links net/http and the tables of
// golang.org/x/text, which are initialised at every start of a program. The hook of
// fsmtx starts at every call of a skill and reads only from the operating system, through
// [locator.OS].
package aferofs

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/fsmtx/fsmtx/locator"
)

// New returns files as a locator.FS, which is safe for concurrent use if files is.
//
// Opening a FIFO does not block if files is the operating system's file system, also
// inside afero's read-only and base path file systems. Other file systems may not support
// the flag O_NONBLOCK.
func New(files afero.Fs) locator.FS { return adapter{files} }

type adapter struct{ files afero.Fs }

func (a adapter) Stat(path string) (fs.FileInfo, error) { return a.files.Stat(path) }

// Lstat calls Stat if the file system has no Lstat, and so no symbolic links.
func (a adapter) Lstat(path string) (fs.FileInfo, error) {
	if l, ok := a.files.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return a.files.Stat(path)
}

func (a adapter) Readlink(path string) (string, error) {
	if l, ok := a.files.(afero.LinkReader); ok {
		return l.ReadlinkIfPossible(path)
	}
	return "", &fs.PathError{Op: "readlink", Path: path, Err: afero.ErrNoReadlink}
}

func (a adapter) Open(path string) (fs.File, error) { return a.open(path) }

// ReadDir checks the type before it opens the file, because not every file system has a
// flag to open only directories.
func (a adapter) ReadDir(path string) ([]fs.DirEntry, error) {
	info, err := a.files.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: path, Err: syscall.ENOTDIR}
	}
	f, err := a.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	infos, err := f.Readdir(-1)
	return sorted(infos), err
}

func sorted(infos []fs.FileInfo) []fs.DirEntry {
	entries := make([]fs.DirEntry, len(infos))
	for i, info := range infos {
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// open passes O_NONBLOCK to the file systems that support it or pass it on. If a file
// system inside refuses all flags, as afero's archives do, open tries again without.
func (a adapter) open(path string) (afero.File, error) {
	switch a.files.(type) {
	case *afero.OsFs, afero.OsFs, *afero.ReadOnlyFs, *afero.BasePathFs:
		f, err := a.files.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EPERM) {
			return f, err
		}
	}
	return a.files.Open(path)
}
