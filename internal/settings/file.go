package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
// is nil, Replace removes the file, and as many of its agentDirs as Replace made for it, while they are empty. If data equals
// Data, nothing is written. Replace returns safefile.ErrChanged if the file has changed since it was read, and the other errors of
// safefile.Edit.
//
// The number of directories that were made for the file is in the file, where every program that reads it passes over it: so many blank
// lines are before its last bracket. A file that another program has written anew has none, and its directory stays.
func (f *File) Replace(data []byte) error {
	dirs := agentDirs(f.Target)
	if data != nil {
		if more := f.made(dirs) - blankLines(data); more > 0 && bytes.HasSuffix(data, []byte(lastLine)) {
			data = slices.Concat(data[:len(data)-len(lastLine)], bytes.Repeat([]byte("\n"), more), []byte(lastLine))
		}
		return f.named(f.edit.Replace(data))
	}
	err := f.edit.Replace(nil)
	for _, dir := range dirs[:f.made(dirs)] {
		if err != nil || safefile.Rmdir(dir) != nil { // there is something else in it
			break
		}
	}
	return f.named(err)
}

// made returns how many of the directories were made for the file, or are to be made for one that does not exist. A second file of ours
// in a directory that was made for the first may outlive it, and has the same number.
func (f *File) made(dirs []string) (n int) {
	if f.Data != nil {
		return min(blankLines(f.Data), len(dirs))
	}
	for n < len(dirs) && !safefile.IsDir(dirs[n]) {
		n++
	}
	if n > 0 || len(dirs) == 0 {
		return n
	}
	beside, _ := filepath.Glob(filepath.Join(dirs[0], "*.json"))
	for _, path := range beside {
		if data, err := safefile.ReadFile(path, MaxBytes, 0); err == nil && bytes.Contains(data, []byte(Program)) {
			n = max(n, blankLines(data))
		}
	}
	return min(n, len(dirs))
}

// lastLine is the end of a file that install has made.
const lastLine = "\n}\n"

// blankLines returns how many blank lines are before the last one.
func blankLines(text []byte) int {
	inside, _ := bytes.CutSuffix(text, []byte(lastLine))
	if len(inside) == len(text) {
		return 0
	}
	return len(inside) - len(bytes.TrimRight(inside, "\n"))
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
