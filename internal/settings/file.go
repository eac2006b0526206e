package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// MaxBytes limits the size of a file that is read: a settings file, which has a few kilobytes, or the client's
// file with its MCP servers and histories, which has more. It is one limit for all that read these files, so that
// doctor says of a file what install does.
const MaxBytes = 64 << 20

// File is a settings file that was read.
type File struct {
	Path   string // absolute; may contain symbolic links
	Target string // Path with every symbolic link resolved
	Data   []byte // nil if there is no file

	edit *safefile.Edit
}

// Read reads the settings file. A missing file is not an error, nor is a symbolic link to
// one. Other errors are errUnread, which wraps safefile.ErrNotRegular, safefile.ErrTooLarge or a system error.
func Read(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	edit, err := safefile.ReadToEdit(safefile.Resolve(path), MaxBytes)
	if err != nil {
		return nil, Unread(path, err)
	}
	if edit.Data == nil {
		edit.Mode = 0o644
	}
	return &File{path, edit.Path, edit.Data, edit}, nil
}

// Unread returns errUnread for the file at path, with the reason. It repeats the path only if a link leads to
// the file.
func Unread(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == path {
		err = at.Err
	}
	return fmt.Errorf("%s: %w: %w", path, errUnread, err)
}

// Replace makes data the content of the file, atomically and durably, as safefile.Edit
// documents: it keeps the owner and the permissions. A symbolic link at Path is kept. If data
// is nil, Replace removes the file, and the directories above it that are empty then and belong to an agent: one whose name begins
// with a dot, such as .claude, and those in it. If data equals Data, nothing is written. Replace returns safefile.ErrChanged if the file
// has changed since it was read, and the other errors of safefile.Edit.
func (f *File) Replace(data []byte) error {
	err := f.edit.Replace(data)
	if err == nil && data == nil && f.Data != nil {
		for _, dir := range agentDirs(f.Target) {
			if safefile.Rmdir(dir) != nil { // there is something else in it
				break
			}
		}
	}
	return f.named(err)
}

// agentDirs returns the directories of a file up to the one whose name begins with a dot, innermost first; none if there is no such
// directory, or if it is HOME or the working directory.
func agentDirs(file string) (all []string) {
	home, _ := os.UserHomeDir()
	here, _ := os.Getwd()
	for dir := filepath.Dir(file); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if home != "" && safefile.Same(dir, home) || here != "" && safefile.Same(dir, here) {
			return nil
		}
		if all = append(all, dir); strings.HasPrefix(filepath.Base(dir), ".") {
			return all
		}
	}
	return nil
}

// named adds Path to an error that mentions only Target.
func (f *File) named(err error) error {
	if err == nil || f.Path == f.Target {
		return err
	}
	return fmt.Errorf("changing %s: %w", f.Path, err)
}
