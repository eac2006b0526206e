package plugins

import (
	"cmp"
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
// base name of dir (measured with 2.1.329, fact 61). If the manifest cannot be used,
// Name returns the base name together with a [*FileError].
func Name(fsys FS, dir string) (string, error) {
	base, path := filepath.Base(dir), filepath.Join(dir, ManifestPath)
	manifest, err := readFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return base, nil
	}
	if err != nil {
		return base, err
	}
	name, err := manifest.text("name")
	if err != nil {
		return base, &FileError{path, err}
	}
	return cmp.Or(name, base), nil
}
