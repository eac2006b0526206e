package faultfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/fsmtx/fsmtx/internal/pattern"
	"github.com/fsmtx/fsmtx/txn/vfs"
)

// Step is an operation that is about to happen.
type Step struct {
	Op   string // mkdir, link, rename, remove, create, write, sync, chtimes, overwrite or append; lstat, read or readdir
	Path string
	To   string // the new name, for link and rename
	Data []byte // for write, overwrite and append
}

// String returns a name for the step that is the same in every run. A path in the state
// directory is written relative to it, as S/…, any other path as its last element. Ids of
// transactions, and the numbers of temporary names, are left out.
func (s Step) String() string {
	name := s.Op + " " + short(s.Path)
	if s.To != "" {
		name += " to " + short(s.To)
	}
	return name
}

// The patterns are compiled on first use: fsmtx links this package, and its hooks start
// for every tool call.
var (
	ids      = pattern.New(`(txn|done)-[0-9a-z-]+|[0-9a-f]{12}`)
	stateDir = pattern.New(`^.*/\.[^/]+\.fsmtx`)
	pending  = pattern.New(`(/\.[^/]*[^/0-9])[0-9]+$`)
)

func short(path string) string {
	path = pending.Regexp().ReplaceAllString(filepath.ToSlash(path), "$1")
	if stateDir.Regexp().MatchString(path) {
		return ids.Regexp().ReplaceAllString(stateDir.Regexp().ReplaceAllString(path, "S"), "$1")
	}
	return filepath.Base(path)
}

// Steps is a file system that calls Before before each step. If Before returns an error,
// the step changes nothing and fails with that error. Steps run one at a time. Before must
// not use the same Steps, which would deadlock.
type Steps struct {
	vfs.FS
	Before func(Step) error
	Reads  bool // whether Lstat, ReadFile and ReadDir are steps

	outer *Steps        // the Steps whose Around returned this one; nil if none did
	once  sync.Once     // turn is made
	turn  chan struct{} // held during a step; not a mutex, for which package synctest does not wait
}

var _ vfs.Wrapper = (*Steps)(nil)

// Wrapped implements vfs.Wrapper.
func (s *Steps) Wrapped() vfs.FS { return s.FS }

// Around implements vfs.Wrapper. The result uses Before and Reads of s, and takes turns with it.
func (s *Steps) Around(files vfs.FS) vfs.FS {
	return &Steps{FS: files, outer: s.origin()}
}

func (s *Steps) origin() *Steps {
	if s.outer != nil {
		return s.outer
	}
	return s
}

func (s *Steps) step(step Step, do func() error) error {
	o := s.origin()
	o.once.Do(func() { o.turn = make(chan struct{}, 1) })
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if err := o.Before(step); err != nil {
		return err
	}
	return do()
}

func (s *Steps) Mkdir(name string, perm fs.FileMode) error {
	return s.step(Step{Op: "mkdir", Path: name}, func() error { return s.FS.Mkdir(name, perm) })
}

func (s *Steps) Link(oldname, newname string) error {
	return s.step(Step{Op: "link", Path: oldname, To: newname}, func() error { return s.FS.Link(oldname, newname) })
}

func (s *Steps) Rename(oldname, newname string) error {
	return s.step(Step{Op: "rename", Path: oldname, To: newname}, func() error { return s.FS.Rename(oldname, newname) })
}

func (s *Steps) RenameNew(oldname, newname string) error {
	return s.step(Step{Op: "rename", Path: oldname, To: newname}, func() error { return s.FS.RenameNew(oldname, newname) })
}

func (s *Steps) Remove(name string) error {
	return s.step(Step{Op: "remove", Path: name}, func() error { return s.FS.Remove(name) })
}

func (s *Steps) Sync(name string) error {
	return s.step(Step{Op: "sync", Path: name}, func() error { return s.FS.Sync(name) })
}

func (s *Steps) Chtimes(name string, mtime time.Time) error {
	return s.step(Step{Op: "chtimes", Path: name}, func() error { return s.FS.Chtimes(name, mtime) })
}

func (s *Steps) Overwrite(name string, data []byte) error {
	return s.step(Step{Op: "overwrite", Path: name, Data: data}, func() error { return s.FS.Overwrite(name, data) })
}

func (s *Steps) AppendLine(name string, line []byte) error {
	return s.step(Step{Op: "append", Path: name, Data: line}, func() error { return s.FS.AppendLine(name, line) })
}

// WriteNew makes the same changes as vfs.OS, in the same order.
func (s *Steps) WriteNew(name string, data []byte, perm fs.FileMode) error {
	f, err := s.write(name, data, perm)
	if err != nil {
		return err
	}
	return unsynced{s, f, name}.Sync()
}

// WritePending makes the same changes as vfs.OS, in the same order. The start of the write-back is not a step:
// a crash may leave any part of what was not synced, whether it was started or not.
func (s *Steps) WritePending(name string, data []byte, perm fs.FileMode) (vfs.Unsynced, error) {
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+strconv.FormatInt(rand.Int64(), 10))
	f, err := s.write(temp, data, perm)
	if err != nil {
		return nil, err
	}
	return unsynced{s, f, temp}, nil
}

// StartSync is not a step. The Sync of what it returns is.
func (s *Steps) StartSync(name string) (vfs.Unsynced, error) {
	u, err := s.FS.StartSync(name)
	if err != nil {
		return nil, err
	}
	return unsynced{s, u, name}, nil
}

// write creates and writes a file, and leaves it open.
func (s *Steps) write(name string, data []byte, perm fs.FileMode) (*os.File, error) {
	var f *os.File
	err := s.step(Step{Op: "create", Path: name}, func() (err error) {
		f, err = vfs.Create(s.FS, name, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err = f.Chmod(perm); err == nil {
		err = s.step(Step{Op: "write", Path: name, Data: data}, func() error { _, err := f.Write(data); return err })
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// unsynced is an open file whose Sync is a step.
type unsynced struct {
	steps *Steps
	file  interface {
		Sync() error
		Close() error
	}
	path string
}

func (u unsynced) Path() string { return u.path }
func (u unsynced) Wait() error  { return nil }
func (u unsynced) Close() error { return u.file.Close() }

// Sync closes the file too, which what vfs.OS has opened has done by itself.
func (u unsynced) Sync() error {
	err := u.steps.step(Step{Op: "sync", Path: u.path}, u.file.Sync)
	if f, ok := u.file.(*os.File); ok {
		return errors.Join(err, f.Close())
	}
	return err
}

// read calls Before before a step that reads, if Reads is set. Reads themselves run
// concurrently, because they change nothing.
func (s *Steps) read(op, path string) error {
	if !s.origin().Reads {
		return nil
	}
	return s.step(Step{Op: op, Path: path}, func() error { return nil })
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

func (s *Steps) ReadFrom(name string, offset int64) ([]byte, error) {
	if err := s.read("read", name); err != nil {
		return nil, err
	}
	return s.FS.ReadFrom(name, offset)
}

func (s *Steps) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.read("readdir", name); err != nil {
		return nil, err
	}
	return s.FS.ReadDir(name)
}
