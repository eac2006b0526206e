package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/renameio/v2"

	"github.com/fsmtx/fsmtx/internal/claude/plugins"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ErrForeign is returned by Write for a directory that is not empty and does not
// hold a plugin of that name.
var ErrForeign = errors.New("is neither empty nor a plugin")

// DiffersError is returned by Write when files of the plugin exist with other
// content or another mode. Nothing was written.
type DiffersError struct {
	Dir   string
	Paths []string // slashes, relative to Dir
}

func (e *DiffersError) Error() string {
	return fmt.Sprintf("%s has files that would be overwritten: %s", e.Dir, strings.Join(e.Paths, ", "))
}

// maxHooks bounds the size of a hooks.json.
const maxHooks = 4 << 20

// guest returns the files that are written into a plugin that this program has not
// made: the program, the configuration, and that plugin's own hooks.json with the hooks
// added to it. What describes the plugin is left to its author, and a sample skill has
// no place in it.
func (p Plugin) guest(dir string, files []File) ([]File, error) {
	var own []File
	for _, f := range files {
		switch {
		case f.Path == hooksPath:
			data, err := safefile.ReadFile(filepath.Join(dir, hooksPath), maxHooks, 0)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if f.Data, err = settings.Add(data, p.hooks()); err != nil {
				return nil, fmt.Errorf("%s:%w", filepath.Join(dir, hooksPath), err)
			}
			own = append(own, f)
		case f.Path == serverPath:
			f.Keep = true
			own = append(own, f)
		case f.Path == programPath || f.Path == mcpPath || f.Keep:
			own = append(own, f)
		}
	}
	return own, nil
}

// Write writes the plugin into the directory, which it creates if necessary, and
// returns the paths it wrote. It skips files that are up to date and ignores files
// that are not part of the plugin. A plugin of that name that somebody else has made
// keeps everything it has: the hooks are added to its hooks.json. If overwrite is false and an existing file would
// be replaced, it writes nothing and returns a *DiffersError. It returns ErrName or
// ErrForeign before it writes anything.
func (p Plugin) Write(dir string, overwrite bool) (written []string, err error) {
	files, err := p.Files()
	if err != nil {
		return nil, err
	}
	others, err := p.checkDir(dir)
	if err != nil {
		return nil, err
	}
	if others {
		if files, err = p.guest(dir, files); err != nil {
			return nil, err
		}
	}
	outdated, replaced, err := compare(dir, files)
	if err != nil {
		return nil, err
	}
	if len(replaced) > 0 && !overwrite {
		return nil, &DiffersError{dir, replaced}
	}
	for _, f := range outdated {
		if err := f.write(dir); err != nil {
			return written, err
		}
		written = append(written, f.Path)
	}
	return written, nil
}

// maxManifest bounds the size of a manifest; real ones have less than a kilobyte.
const maxManifest = 1 << 20

// checkDir returns an error unless the directory is absent, empty or holds a plugin of
// that name. others reports that somebody else has made that plugin.
func (p Plugin) checkDir(dir string) (others bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var manifest struct {
		Name   string `json:"name"`
		Author person `json:"author"`
	}
	data, err := safefile.ReadFile(filepath.Join(dir, plugins.ManifestPath), maxManifest, 0)
	if err != nil || json.Unmarshal(data, &manifest) != nil || manifest.Name != p.Name {
		return false, fmt.Errorf("%s %w named %s", dir, ErrForeign, p.Name)
	}
	return manifest.Author.Name != author, nil
}

// compare returns the files that must be written, and the paths of those that
// replace an existing file.
func compare(dir string, files []File) (outdated []File, replaced []string, err error) {
	for _, f := range files {
		exists, same, err := f.compare(dir)
		if err != nil {
			return nil, nil, err
		}
		if same {
			continue
		}
		outdated = append(outdated, f)
		if exists {
			replaced = append(replaced, f.Path)
		}
	}
	return outdated, replaced, nil
}

// compare reports whether the file exists, and whether it has the same content and
// is executable as it should be.
func (f File) compare(dir string) (exists, same bool, err error) {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return true, false, err
	}
	if f.Keep {
		return true, true, nil
	}
	data, err := safefile.ReadFile(path, int64(len(f.Data)), 0)
	if errors.Is(err, safefile.ErrTooLarge) {
		return true, false, nil
	}
	executable := (info.Mode()&0o111 != 0) == (f.Mode&0o111 != 0)
	return true, executable && bytes.Equal(data, f.Data), err
}

func (f File) write(dir string) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	if _, err := safefile.Mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	return safefile.Write(path, f.Data, renameio.WithStaticPermissions(f.Mode))
}
