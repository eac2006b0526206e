package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// File is a settings file as it was when it was read.
type File struct {
	Path   string // absolute, as the client names it
	Target string // what Path links to, Path itself if it is no link
	Data   []byte // nil if there is no file
}

// maxLinks is how many symbolic links in a row are followed, as by Linux.
const maxLinks = 40

// Read reads the settings file. A file that does not exist is no error, and
// neither is a link to one. It returns ErrNotRegular or what the system returned.
func Read(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	target, err := resolve(path)
	if err != nil {
		return nil, err
	}
	data, err := readRegular(target)
	if err != nil {
		return nil, err
	}
	return &File{path, target, data}, nil
}

// Replace makes data the content of the file: atomically, durably, in the file
// that Path links to, with the mode it had. Data like the old is not written. Nil
// removes the file and the directories that were made for it. It returns
// ErrChanged if the file is not as it was read.
func (f *File) Replace(data []byte) error {
	if bytes.Equal(data, f.Data) && (data == nil) == (f.Data == nil) {
		return nil
	}
	now, err := readRegular(f.Target)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, f.Data) || (now == nil) != (f.Data == nil) {
		return fmt.Errorf("%s: %w", f.Path, ErrChanged)
	}
	if err := f.put(data); err != nil {
		return fmt.Errorf("changing %s: %w", f.Path, err)
	}
	return nil
}

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
	content := func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
	return safefile.Write(f.Target, content, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// create adds to data one newline for every directory it makes: see MadeDirs.
func (f *File) create(data []byte) error {
	made, err := safefile.Mkdir(filepath.Dir(f.Target))
	if err == nil {
		err = f.write(append(bytes.Clone(data), strings.Repeat("\n", len(made))...))
	}
	if err != nil {
		for _, dir := range made {
			err = errors.Join(err, safefile.Rmdir(dir))
		}
	}
	return err
}

// remove keeps a directory that is not empty, and with it its parents.
func (f *File) remove() error {
	if err := safefile.Remove(f.Target); err != nil {
		return err
	}
	dir := filepath.Dir(f.Target)
	for range MadeDirs(f.Data) {
		if safefile.Rmdir(dir) != nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// resolve follows the links at path to the file at the end, which need not exist.
func resolve(path string) (string, error) {
	for range maxLinks {
		link, err := os.Readlink(path)
		if err != nil { // no link, or nothing there: reading it will tell
			return path, nil
		}
		if !filepath.IsAbs(link) {
			// ".." in a link starts from the real directory.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	return os.ReadFile(path) // not nil, even of an empty file
}
