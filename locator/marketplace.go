package locator

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Root is the directory the client reads an installed plugin from.
type Root struct {
	Dir  string
	Live bool   // Dir is the source tree of a directory marketplace, not the cached copy
	Note string // why the source tree of a directory marketplace is not used, else ""
}

// Root returns where the client reads the plugin: in the source tree if its
// marketplace is a directory, at InstallPath otherwise and if the source tree
// cannot be worked out. It reads known_marketplaces.json once.
func (r *Registry) Root(in Installation) Root {
	if r.marketplaces == nil {
		return Root{Dir: in.InstallPath}
	}
	dir, err := r.marketplaces().source(in)
	switch {
	case err != nil:
		return Root{Dir: in.InstallPath, Note: err.Error()}
	case dir == "":
		return Root{Dir: in.InstallPath}
	}
	return Root{Dir: dir, Live: true}
}

// marketplaces is what known_marketplaces.json says.
type marketplaces struct {
	fs    FS
	known object
	err   error
}

func readMarketplaces(fsys FS, configDir string) *marketplaces {
	known, err := readObject(fsys, filepath.Join(configDir, "plugins", "known_marketplaces.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return &marketplaces{fsys, known, err}
}

// source returns the plugin's folder in its directory marketplace, "" if it is
// from no such one.
func (m *marketplaces) source(in Installation) (string, error) {
	if m.err != nil {
		return "", m.err
	}
	tree, err := directoryMarketplace(m.known[in.Marketplace])
	if tree == "" || err != nil {
		return "", err
	}
	path := filepath.Join(tree, ".claude-plugin", "marketplace.json")
	manifest, err := readObject(m.fs, path)
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
// directory, "" of any other.
func directoryMarketplace(v jsontext.Value) (string, error) {
	if v.Kind() != '{' {
		return "", nil
	}
	o, err := parseObject(v)
	if err != nil || o["source"].Kind() != '{' {
		return "", err
	}
	source, err := parseObject(o["source"])
	if err != nil {
		return "", err
	}
	if kind, _ := source.text("source"); kind != "directory" {
		return "", nil
	}
	path, err := source.required("path")
	if err != nil {
		return "", fmt.Errorf("directory marketplace: %w", err)
	}
	return path, absolute("path", path)
}

// sourceOf returns the plugin's source in a marketplace's manifest, a relative
// path that stays inside.
func sourceOf(manifest object, plugin string) (string, error) {
	var plugins []jsontext.Value
	if list := manifest["plugins"]; list.Kind() != '[' || json.Unmarshal(list, &plugins, tolerant) != nil {
		return "", fmt.Errorf(`%w: "plugins" is not an array`, ErrMalformed)
	}
	for _, v := range plugins {
		if v.Kind() != '{' {
			continue
		}
		o, _ := parseObject(v)
		if name, _ := o.text("name"); name != plugin {
			continue
		}
		source, err := o.required("source")
		if err == nil && !filepath.IsLocal(source) {
			err = fmt.Errorf("source %s leads out of the marketplace", quote(source))
		}
		return source, err
	}
	return "", fmt.Errorf("no plugin is called %s", quote(plugin))
}
