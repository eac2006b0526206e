package plugins

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// If the marketplace is a directory, the client runs the plugin from the source tree in
// its current state. From any other marketplace it runs the copy at installPath
// (measured with 2.1.197, fact 28).

// Root is the directory that the client reads an installed plugin from.
type Root struct {
	Dir  string
	Live bool  // Dir is in the source tree of a directory marketplace, not the copy
	Err  error // why the source tree cannot be used, so that Dir is the copy; or nil
}

// Root returns the directory that the client reads the plugin from: the source tree if
// its marketplace is a directory, else InstallPath. A Registry reads
// known_marketplaces.json once.
func (r *Registry) Root(in Installation) Root {
	if r.fs == nil {
		return Root{Dir: in.InstallPath}
	}
	if r.marketplaces == nil {
		r.marketplaces = readMarketplaces(r.fs, r.configDir)
	}
	dir, err := r.marketplaces.source(in)
	if err != nil || dir == "" {
		return Root{Dir: in.InstallPath, Err: err}
	}
	return Root{Dir: dir, Live: true}
}

// marketplaces is the content of known_marketplaces.json.
type marketplaces struct {
	fs    FS
	path  string
	known object
	err   error
}

func readMarketplaces(fsys FS, configDir string) *marketplaces {
	m := &marketplaces{fs: fsys, path: filepath.Join(configDir, "plugins", "known_marketplaces.json")}
	m.known, m.err = readFile(fsys, m.path)
	if errors.Is(m.err, fs.ErrNotExist) {
		m.err = nil
	}
	return m
}

// source returns the plugin's directory in its directory marketplace, "" for any
// other marketplace.
func (m *marketplaces) source(in Installation) (string, error) {
	if m.err != nil {
		return "", m.err
	}
	tree, err := directoryMarketplace(m.known.members[in.Marketplace])
	if err != nil {
		return "", &FileError{m.path, err}
	}
	if tree == "" {
		return "", nil
	}
	path := filepath.Join(tree, MarketplacePath)
	manifest, err := readFile(m.fs, path)
	if err != nil {
		return "", err
	}
	relative, err := sourceOf(manifest, in.Plugin)
	if err != nil {
		return "", &FileError{path, err}
	}
	dir := filepath.Join(tree, relative)
	if !isDir(m.fs, dir) {
		return "", &FileError{dir, errors.New("the plugin's source is not a directory")}
	}
	return dir, nil
}

// directoryMarketplace returns the absolute path of a marketplace that is a
// directory, "" for any other.
func directoryMarketplace(v value) (string, error) {
	if v.Kind() != '{' {
		return "", nil
	}
	o, err := v.object()
	if err != nil || o.members["source"].Kind() != '{' {
		return "", err
	}
	source, err := o.members["source"].object()
	if err != nil {
		return "", err
	}
	if kind, _ := source.text("source"); kind != "directory" {
		return "", nil
	}
	return source.absolute("path")
}

// sourceOf returns the plugin's source in a marketplace's manifest: a relative
// path that stays inside.
func sourceOf(manifest object, plugin string) (string, error) {
	plugins, ok := manifest.members["plugins"]
	if !ok {
		return "", manifest.mistake(`"plugins" is missing`)
	}
	items, err := plugins.items()
	if err != nil {
		return "", plugins.mistake(`"plugins": %s`, jsonx.Got(plugins.Kind(), "an array"))
	}
	for _, item := range items {
		o, _ := item.object() // an item that is not an object has no name
		if name, _ := o.text("name"); name != plugin {
			continue
		}
		source, err := o.required("source")
		if err == nil && !filepath.IsLocal(source) {
			err = o.members["source"].mistake("the source %q of the plugin leads out of the marketplace", source)
		}
		return source, err
	}
	return "", plugins.mistake("there is no plugin %q", plugin)
}
