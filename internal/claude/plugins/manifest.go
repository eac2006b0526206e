package plugins

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// ManifestPath is the manifest's place in the directory of a plugin.
const ManifestPath = ".claude-plugin/plugin.json"

// Name returns the name of the plugin in dir, which --plugin-dir may have given to
// the client and no registry then knows (measured with 2.1.197, fact 29): the name
// in its manifest, or the directory's own if the manifest gives none. The directory's
// is returned beside an error too, a [*FileError] that says why the manifest cannot
// be used.
func Name(fsys FS, dir string) (string, error) {
	own, path := filepath.Base(dir), filepath.Join(dir, ManifestPath)
	manifest, err := readFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	if err != nil {
		return own, err
	}
	name, err := manifest.text("name")
	if err != nil {
		return own, &FileError{path, err}
	}
	if name == "" {
		return own, nil
	}
	return name, nil
}
