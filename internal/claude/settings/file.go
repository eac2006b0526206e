package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxBytes bounds the size of a settings file; real ones have a few kilobytes.
const maxBytes = 64 << 20

// File is a settings file as it was read.
type File struct {
	Path   string // absolute, as the client names it
	Target string // Path with every symbolic link resolved
	Data   []byte // nil if there is no file
}

// Read reads the settings file. A missing file, or a link to one, is not an error.
// Read returns safefile.ErrNotRegular, safefile.ErrTooLarge or a system error.
func Read(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	target := safefile.Resolve(path)
	data, err := read(target)
	if err != nil {
		return nil, err
	}
	return &File{path, target, data}, nil
}

// read returns the content of a resolved path, nil if there is no file.
func read(target string) ([]byte, error) {
	data, err := safefile.ReadFile(target, maxBytes, safefile.NoFollow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Replace makes data the content of the file, atomically and durably. The file
// keeps its mode, and a symbolic link at Path stays. Nil removes the file and the
// directories that were created for it. If data equals Data, nothing is written.
// Replace returns ErrChanged if the file is no longer as it was read.
func (f *File) Replace(data []byte) error {
	if same(data, f.Data) {
		return nil
	}
	now, err := read(f.Target)
	if err != nil {
		return err
	}
	if !same(now, f.Data) {
		return fmt.Errorf("%s: %w", f.Path, ErrChanged)
	}
	if err := f.put(data); err != nil {
		return fmt.Errorf("changing %s: %w", f.Path, err)
	}
	return nil
}

// same tells an empty file from no file.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func (f *File) put(data []byte) error {
	switch {
	case data == nil:
		return f.remove()
	case f.Data == nil:
		return f.create(data)
	}
	return f.write(data)
}

func (f *File) write(data []byte) error {
	return safefile.Write(f.Target, data, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// create appends one newline for each directory that it creates: see CreatedDirs.
func (f *File) create(data []byte) error {
	created, err := safefile.Mkdir(filepath.Dir(f.Target))
	if err == nil {
		err = f.write(append(bytes.Clone(data), strings.Repeat("\n", len(created))...))
	}
	if err != nil {
		for _, dir := range created {
			err = errors.Join(err, safefile.Rmdir(dir))
		}
	}
	return err
}

// remove keeps directories that are not empty.
func (f *File) remove() error {
	if err := safefile.Remove(f.Target); err != nil {
		return err
	}
	dir := filepath.Dir(f.Target)
	for range CreatedDirs(f.Data) {
		if safefile.Rmdir(dir) != nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
