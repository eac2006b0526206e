package plugins

import (
	"errors"
	"io/fs"
	"path/filepath"
)

const (
	// ManifestPath is the place of a plugin's manifest in its directory.
	ManifestPath = ".claude-plugin/plugin.json"
	// MarketplacePath is the place of a marketplace's manifest in its directory.
	MarketplacePath = ".claude-plugin/marketplace.json"
)

// Name returns the name of the plugin in dir: the one in its manifest, or else the
// directory's own (measured with 2.1.329, fact 61). The directory's name is returned
// beside an error too, a [*FileError] that says why the manifest cannot be used.
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
