package statefile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmtx/fsmtx/txn/vfs"
)

// ErrName is returned when a state file cannot have that name: names consist of lower-case
// letters and dots and begin with a letter, and some are reserved. Nothing was changed.
var ErrName = errors.New("not the name of a state file")

// View reads the state files in a directory that also holds other files, whose names are
// reserved or contain a "-". Its methods return fs.ErrClosed after Close. Other errors are
// ErrName, vfs.ErrNotRegular, vfs.ErrFileTooLarge and the file system's.
type View struct {
	files    vfs.FS // nil after Close
	dir      string
	reserved []string
}

// In returns the state files in dir.
func In(files vfs.FS, dir string, reserved ...string) View { return View{files, dir, reserved} }

// Shut ends the use of v.
func (v *View) Shut() { v.files = nil }

// ReadState returns the content of a state file, or nil if the file does not exist.
func (v *View) ReadState(name string) ([]byte, error) { return v.ReadStateFrom(name, 0) }

// ReadStateFrom returns the bytes of a state file from offset on, which are none if the file
// is shorter or does not exist. A reader of a file that only grows need not read it whole.
func (v *View) ReadStateFrom(name string, offset int64) ([]byte, error) {
	path, err := v.path(name)
	if err != nil {
		return nil, err
	}
	data, err := v.files.ReadFrom(path, offset)
	return data, ignoreNotExist(err)
}

// StateNames returns the names of the state files that begin with prefix, sorted.
func (v *View) StateNames(prefix string) (names []string, err error) {
	if v.files == nil {
		return nil, fs.ErrClosed
	}
	entries, err := v.files.ReadDir(v.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && v.isName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// path returns the path of a state file.
func (v *View) path(name string) (string, error) {
	if v.files == nil {
		return "", fs.ErrClosed
	}
	if !v.isName(name) {
		return "", fmt.Errorf("%w: %q", ErrName, name)
	}
	return filepath.Join(v.dir, name), nil
}

func (v *View) isName(name string) bool {
	return name != "" && name[0] != '.' && len(name) <= 255 && !slices.Contains(v.reserved, name) &&
		strings.Trim(name, ".abcdefghijklmnopqrstuvwxyz") == ""
}

// Store also writes state files. Its caller holds a lock on the directory.
type Store struct {
	View
	temp string // a directory for temporary files, which it creates; its owner removes it after a crash
}

// Stored returns a Store of the state files of v.
func Stored(v View, temp string) Store { return Store{v, temp} }

// WriteState replaces or creates a state file, with mode 0600. After a crash the file has
// either the old content or the new. Once WriteState has returned nil it has the new
// content, even if the power fails.
func (s *Store) WriteState(name string, data []byte) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	if err := s.files.Mkdir(s.temp, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	err = s.write(path, filepath.Join(s.temp, name), data)
	_ = s.files.Remove(s.temp)
	return err
}

// WriteUnlocked is WriteState without the lock, for a file that no other process writes. A process
// that is killed leaves at most a temporary file, which StateNames does not list.
func (v *View) WriteUnlocked(name string, data []byte) error {
	path, err := v.path(name)
	if err != nil {
		return err
	}
	return v.write(path, path+"-", data)
}

func (v *View) write(path, temp string, data []byte) error {
	if len(data) > vfs.MaxFileBytes {
		return fmt.Errorf("%s: %w", path, vfs.ErrFileTooLarge)
	}
	_ = v.files.Remove(temp) // of a process that was killed
	err := v.files.WriteNew(temp, data, 0o600)
	if err == nil {
		err = v.files.Rename(temp, path)
	}
	if err != nil {
		_ = v.files.Remove(temp)
		return err
	}
	return vfs.SyncDir(v.files, v.dir)
}

// AppendState appends line and a newline to a state file, which is created if it does not
// exist. line must not contain a newline. Once AppendState has returned nil, the line is
// durable. A crash may leave a part of the line, and the next AppendState ends it with a
// newline: readers must skip lines that they cannot parse. It returns vfs.ErrFileTooLarge
// if the file would be larger than vfs.MaxFileBytes.
func (s *Store) AppendState(name string, line []byte) error {
	if err := s.AppendStateLazily(name, line); err != nil {
		return err
	}
	if err := s.files.Sync(filepath.Join(s.dir, name)); err != nil {
		return err
	}
	return vfs.SyncDir(s.files, s.dir) // also if the file exists: its creator may have died before its sync
}

// AppendStateLazily is AppendState without the syncs: a power cut may lose the line. It is
// for lines whose loss does no harm.
func (s *Store) AppendStateLazily(name string, line []byte) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	if bytes.ContainsRune(line, '\n') {
		return fmt.Errorf("%s: the line contains a newline", path)
	}
	return s.files.AppendLine(path, line)
}

// ReplaceState replaces or creates a state file, or removes it if data is nil. A process that is
// killed leaves the old content or the new, and a power cut may leave anything: nothing is synced. It is
// for what does not outlive the processes that it is about.
func (s *Store) ReplaceState(name string, data []byte) error {
	path, err := s.path(name)
	switch {
	case err != nil:
		return err
	case data == nil:
		return ignoreNotExist(s.files.Remove(path))
	case len(data) > vfs.MaxFileBytes:
		return fmt.Errorf("%s: %w", path, vfs.ErrFileTooLarge)
	}
	if err := s.files.Mkdir(s.temp, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	u, err := s.files.WritePending(filepath.Join(s.temp, name), data, 0o600)
	if err == nil {
		err = u.Close()
	}
	if err == nil {
		err = s.files.Rename(u.Path(), path)
	}
	_ = s.files.Remove(s.temp)
	return err
}

// RemoveState removes a state file, durably. It returns nil if the file does not exist.
func (s *Store) RemoveState(name string) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	if err := s.files.Remove(path); ignoreNotExist(err) != nil {
		return err
	}
	return vfs.SyncDir(s.files, s.dir) // a process that removed it may have died before its sync
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
