package faultfs

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Step is one call that changes the disk, syncs it or reads it, about to be made.
type Step struct {
	Op   string // mkdir, link, rename, remove, create, write, sync, chtimes or overwrite; lstat, read or readdir
	Path string
	To   string // the new name, for link and rename
	Data []byte // for write and overwrite
}

// String names the step the same way in every run: paths are shortened to what
// follows the directory or its sibling, and a transaction's id is left out.
func (s Step) String() string {
	name := s.Op + " " + short(s.Path)
	if s.To != "" {
		name += " to " + short(s.To)
	}
	return name
}

// The patterns are compiled when a step is first named: the program that shows a
// crash is started as a hook, too, and names none.
var (
	ids    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(txn|done)-[0-9a-z-]+|[0-9a-f]{12}`) })
	temps  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([^/]*)\d{16}$`) })
	prefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^.*/\.[^/]+\.fsmtx`) })
)

func short(path string) string {
	path = temps().ReplaceAllString(path, "$1~")
	if prefix().MatchString(path) {
		return ids().ReplaceAllString(prefix().ReplaceAllString(path, "S"), "$1")
	}
	return filepath.Base(path)
}

// Steps is a file system that calls Before ahead of each step and does not make
// the step if that returns an error. Steps are made one at a time. What WriteFile
// does inside is steps of its own: the temporary file is created, written, synced
// and renamed.
type Steps struct {
	vfs.FS
	Before func(Step) error
	Reads  bool // Lstat, ReadFile and ReadDir are steps as well

	mu sync.Mutex
}

func (s *Steps) step(op, path, to string, do func() error) error {
	return s.stepData(op, path, to, nil, do)
}

func (s *Steps) stepData(op, path, to string, data []byte, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Before(Step{op, path, to, data}); err != nil {
		return err
	}
	return do()
}

func (s *Steps) Mkdir(name string, perm fs.FileMode) error {
	return s.step("mkdir", name, "", func() error { return s.FS.Mkdir(name, perm) })
}

func (s *Steps) Link(oldname, newname string) error {
	return s.step("link", oldname, newname, func() error { return s.FS.Link(oldname, newname) })
}

func (s *Steps) Rename(oldname, newname string) error {
	return s.step("rename", oldname, newname, func() error { return s.FS.Rename(oldname, newname) })
}

func (s *Steps) RenameNew(oldname, newname string) error {
	return s.step("rename", oldname, newname, func() error { return s.FS.RenameNew(oldname, newname) })
}

func (s *Steps) Remove(name string) error {
	return s.step("remove", name, "", func() error { return s.FS.Remove(name) })
}

func (s *Steps) Sync(name string) error {
	return s.step("sync", name, "", func() error { return s.FS.Sync(name) })
}

func (s *Steps) Chtimes(name string, mtime time.Time) error {
	return s.step("chtimes", name, "", func() error { return s.FS.Chtimes(name, mtime) })
}

func (s *Steps) Overwrite(name string, data []byte) error {
	return s.stepData("overwrite", name, "", data, func() error { return s.FS.Overwrite(name, data) })
}

// WriteFile does what renameio does, in its order; a test holds the two against
// each other.
func (s *Steps) WriteFile(name, tempDir string, data []byte, perm fs.FileMode) error {
	temp := filepath.Join(tempDir, fmt.Sprintf(".%s%d", filepath.Base(name), rand.Int64N(1e15)+1e15))
	var f *os.File
	err := s.step("create", temp, "", func() (err error) {
		f, err = os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	if err != nil {
		return err
	}
	err = s.fill(f, name, data, perm)
	if err != nil {
		_ = f.Close()
		_ = s.FS.Remove(temp)
	}
	return err
}

func (s *Steps) fill(f *os.File, name string, data []byte, perm fs.FileMode) error {
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if err := s.stepData("write", f.Name(), "", data, func() error { _, err := f.Write(data); return err }); err != nil {
		return err
	}
	if err := s.step("sync", f.Name(), "", f.Sync); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return s.step("rename", f.Name(), name, func() error { return s.FS.Rename(f.Name(), name) })
}

func (s *Steps) read(op, path string) error {
	if !s.Reads {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Before(Step{Op: op, Path: path})
}

func (s *Steps) Lstat(name string) (fs.FileInfo, error) {
	if err := s.read("lstat", name); err != nil {
		return nil, err
	}
	return s.FS.Lstat(name)
}

func (s *Steps) ReadFile(name string) ([]byte, error) {
	if err := s.read("read", name); err != nil {
		return nil, err
	}
	return s.FS.ReadFile(name)
}

func (s *Steps) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.read("readdir", name); err != nil {
		return nil, err
	}
	return s.FS.ReadDir(name)
}
