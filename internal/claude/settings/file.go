package settings

import (
	"fmt"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxBytes bounds the size of a settings file; real ones have a few kilobytes.
const maxBytes = 64 << 20

// File is a settings file as it was read.
type File struct {
	Path   string // absolute, as the client names it
	Target string // Path with every symbolic link resolved
	Data   []byte // nil if there is no file

	edit *safefile.Edit
}

// Read reads the settings file. A missing file, or a link to one, is not an error.
// Read returns safefile.ErrNotRegular, safefile.ErrTooLarge or a system error.
func Read(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	edit, err := safefile.ReadEdit(safefile.Resolve(path), maxBytes)
	if err != nil {
		return nil, err
	}
	if edit.Data == nil {
		edit.Mode = 0o644
	}
	return &File{path, edit.Path, edit.Data, edit}, nil
}

// Replace makes data the content of the file, atomically and durably, by the rules of
// safefile.Edit: it keeps its owner and permissions, no write of another program is
// lost, and what a killed Replace left is removed. A symbolic link at Path stays. Nil
// removes the file and the directories that were created for it. If data equals Data,
// nothing is written. Replace returns safefile.ErrChanged if the file has changed since it
// was read, and the other errors of safefile.Edit.
func (f *File) Replace(data []byte) error {
	// Before directories are counted: a killed Replace may have left some.
	if err := safefile.Sweep(f.Target); err != nil {
		return f.named(err)
	}
	if f.Data == nil && data != nil {
		data = withDirs(data, safefile.MissingDirs(f.Target))
	}
	return f.named(f.edit.Replace(data, CreatedDirs(f.Data)))
}

// named adds the path of a link to an error that has only the target's.
func (f *File) named(err error) error {
	if err == nil || f.Path == f.Target {
		return err
	}
	return fmt.Errorf("changing %s: %w", f.Path, err)
}

// Unguarded says after Replace why a write of another program at the same moment could
// have been lost. It is nil if it could not.
func (f *File) Unguarded() error { return f.edit.Unguarded }
