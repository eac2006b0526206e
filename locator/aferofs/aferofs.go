// Package aferofs lets a locator read through an afero filesystem: one in
// memory, in an archive, below a directory or read-only.
//
// It is apart from package locator because of what afero brings along: net/http
// and the tables of golang.org/x/text, which a program that imports them sets up
// at every start. The hook starts whenever a skill is invoked and reads from the
// operating system alone, through [locator.OS]; it must not pay for that.
//
// It does not write, and it adds nothing that the filesystem below does not
// have: in one without symbolic links none are found.
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

// New returns files as a locator reads them. They are as safe for concurrent
// use as files is.
//
// Opening waits for no other end of a FIFO if files is the operating system's,
// or afero's read-only or base path filesystem around that. Of any other it
// cannot be told whether it understands the flag.
func New(files afero.Fs) locator.FS { return adapter{files} }

type adapter struct{ files afero.Fs }

func (a adapter) Stat(path string) (fs.FileInfo, error) { return a.files.Stat(path) }

// Lstat follows links where the filesystem cannot do otherwise: it has none then.
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

// ReadDir looks before it opens: there is no flag for directories that every
// filesystem takes.
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

// open hands the flag to those that pass it on. What one of them wraps may be
// read-only to the point of refusing every flag, as afero's archives are.
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
