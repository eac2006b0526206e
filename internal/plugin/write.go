package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ErrForeign means that the directory holds something else than the plugin that
// should be written there.
var ErrForeign = errors.New("is not empty and not this plugin")

// DiffersError means that files of the plugin are there with another content or
// mode. Nothing was written.
type DiffersError struct {
	Dir   string
	Paths []string // slashes, relative to Dir
}

func (e *DiffersError) Error() string {
	return fmt.Sprintf("%s has files that would be overwritten: %s", e.Dir, strings.Join(e.Paths, ", "))
}

// Write puts the plugin into the directory, which it makes if need be. Files that
// are there already as they should be are left; files of no plugin are left too.
// It returns the paths it wrote. Unless overwrite is set it writes nothing if that
// would replace a file, and returns a DiffersError; it returns ErrForeign for a
// directory that holds something else than a plugin of that name.
func (p Plugin) Write(dir string, overwrite bool) (written []string, err error) {
	files, err := p.Files()
	if err != nil {
		return nil, err
	}
	if err := p.mayWriteTo(dir); err != nil {
		return nil, err
	}
	todo, replaced, err := compare(dir, files)
	if err != nil {
		return nil, err
	}
	if len(replaced) > 0 && !overwrite {
		return nil, &DiffersError{dir, replaced}
	}
	for _, f := range todo {
		if err := f.write(dir); err != nil {
			return written, err
		}
		written = append(written, f.Path)
	}
	return written, nil
}

// mayWriteTo returns nil if the directory is absent, empty or this plugin's.
func (p Plugin) mayWriteTo(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	var manifest struct {
		Name string `json:"name"`
	}
	data, err := os.ReadFile(filepath.Join(dir, manifestPath))
	if err != nil || json.Unmarshal(data, &manifest) != nil || manifest.Name != p.Name {
		return fmt.Errorf("%s %w, %s", dir, ErrForeign, p.Name)
	}
	return nil
}

// compare returns the files that have to be written, and which of those replace
// one.
func compare(dir string, files []File) (todo []File, replaced []string, err error) {
	for _, f := range files {
		there, same, err := f.stands(dir)
		if err != nil {
			return nil, nil, err
		}
		if same {
			continue
		}
		todo = append(todo, f)
		if there {
			replaced = append(replaced, f.Path)
		}
	}
	return todo, replaced, nil
}

// stands reports whether there is something in the file's place, and whether it
// is the file: its content, and whether it can be run.
func (f File) stands(dir string) (there, same bool, err error) {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return true, false, err
	}
	data, err := os.ReadFile(path)
	executable := (info.Mode()&0o111 != 0) == (f.Mode&0o111 != 0)
	return true, executable && bytes.Equal(data, f.Data), err
}

func (f File) write(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	if _, err := safefile.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	content := func(w io.Writer) error {
		_, err := w.Write(f.Data)
		return err
	}
	return safefile.Write(path, content, renameio.WithStaticPermissions(f.Mode))
}
