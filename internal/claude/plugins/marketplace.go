package plugins

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/pattern"
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
	dir, err := r.known().source(in)
	if err != nil || dir == "" {
		return Root{Dir: in.InstallPath, Err: err}
	}
	return Root{Dir: dir, Live: true}
}

func (r *Registry) known() *marketplaces {
	if r.marketplaces == nil {
		r.marketplaces = readMarketplaces(r.fs, r.configDir)
	}
	return r.marketplaces
}

// marketplaces is the content of known_marketplaces.json, and of the marketplaces that
// were asked for. Each file is read once.
type marketplaces struct {
	fs    FS
	path  string
	known object
	err   error
	read  map[string]*marketplace // by name
}

// marketplace is a marketplace with the entries of its manifest.
type marketplace struct {
	dir     string // of the marketplace, "" if it is unknown
	live    bool   // the client reads plugins from dir, not from their copies
	path    string // of the manifest
	list    value  // "plugins"
	root    string // metadata.pluginRoot
	entries map[string]value
	err     error // why it cannot be used
}

func readMarketplaces(fsys FS, configDir string) *marketplaces {
	m := &marketplaces{fs: fsys, path: filepath.Join(configDir, "plugins", "known_marketplaces.json"), read: map[string]*marketplace{}}
	m.known, m.err = readFile(fsys, m.path)
	if errors.Is(m.err, fs.ErrNotExist) {
		m.err = nil
	}
	return m
}

// of returns the marketplace of the name. Its err is set if it cannot be used.
func (m *marketplaces) of(name string) *marketplace {
	if known, ok := m.read[name]; ok {
		return known
	}
	found := m.find(name)
	m.read[name] = found
	return found
}

func (m *marketplaces) find(name string) *marketplace {
	if m.err != nil {
		return &marketplace{err: m.err}
	}
	dir, live, err := whereMarketplace(m.known.members[name])
	if err != nil {
		return &marketplace{err: &FileError{m.path, err}}
	}
	found := &marketplace{dir: dir, live: live, path: filepath.Join(dir, MarketplacePath)}
	if dir != "" {
		found.err = found.readEntries(m.fs)
	}
	return found
}

// source returns the plugin's directory in its directory marketplace, "" for any
// other marketplace.
func (m *marketplaces) source(in Installation) (string, error) {
	market := m.of(in.Marketplace)
	if market.err != nil && (market.live || market.dir == "") {
		return "", market.err
	}
	if !market.live {
		return "", nil
	}
	relative, err := market.sourceOf(in.Plugin)
	if err != nil {
		return "", &FileError{market.path, err}
	}
	dir := filepath.Join(market.dir, relative)
	if !isDir(m.fs, dir) {
		return "", &FileError{dir, errors.New("the plugin's source is not a directory")}
	}
	return dir, nil
}

// whereMarketplace returns the absolute path of a marketplace, and whether it is a directory
// that the client reads plugins from. dir is "" if there is none.
func whereMarketplace(v value) (dir string, live bool, err error) {
	if v.Kind() != '{' {
		return "", false, nil
	}
	o, err := v.object()
	if err != nil || o.members["source"].Kind() != '{' {
		return "", false, err
	}
	source, err := o.members["source"].object()
	if err != nil {
		return "", false, err
	}
	switch kind, _ := source.text("source"); kind {
	case "directory":
		dir, err = source.absolute("path")
		return dir, true, err
	case "file":
		file, err := source.absolute("path")
		return filepath.Dir(filepath.Dir(file)), true, err
	}
	dir, _ = o.absolute("installLocation")
	return dir, false, nil
}

// readEntries reads the manifest. Of two entries of one name the first counts (measured
// with 2.1.329, fact 122).
func (m *marketplace) readEntries(fsys FS) error {
	manifest, err := readFile(fsys, m.path)
	if err != nil {
		return err
	}
	list, ok := manifest.members["plugins"]
	if !ok {
		return &FileError{m.path, manifest.mistake(`"plugins" is missing`)}
	}
	items, err := list.items()
	if err != nil {
		return &FileError{m.path, list.mistake(`"plugins": %s`, jsonx.Got(list.Kind(), "an array"))}
	}
	m.list, m.entries = list, map[string]value{}
	for _, item := range items {
		name := nameOf(item)
		if _, again := m.entries[name]; !again {
			m.entries[name] = item
		}
	}
	if v := manifest.members["metadata"]; v.Kind() == '{' {
		metadata, _ := v.object()
		m.root, _ = metadata.text("pluginRoot")
	}
	return nil
}

// nameOf returns the name of an entry, "" if it has none. An item that is not an object has
// none.
func nameOf(item value) string {
	if item.Kind() != '{' {
		return ""
	}
	o, _ := item.object()
	name, _ := o.text("name")
	return name
}

// sourceOf returns the plugin's source in the marketplace: a relative path that stays
// inside.
func (m *marketplace) sourceOf(plugin string) (string, error) {
	item, ok := m.entries[plugin]
	if !ok {
		return "", m.list.mistake("there is no plugin %q", plugin)
	}
	o, err := item.object()
	if err != nil {
		return "", err
	}
	source, err := o.required("source")
	if err != nil {
		return "", err
	}
	if resolved := m.resolve(source); filepath.IsLocal(resolved) {
		return resolved, nil
	}
	return "", o.members["source"].mistake("the source %q of the plugin leads out of the marketplace", source)
}

// bareSource is a source without "./", which is below metadata.pluginRoot.
var bareSource = pattern.New(`^[A-Za-z0-9][-A-Za-z0-9._]*$`)

// resolve returns the path of a source below the marketplace's directory.
func (m *marketplace) resolve(source string) string {
	if bareSource.Regexp().MatchString(source) {
		return filepath.Join(m.root, source)
	}
	return source
}

// entry returns what the marketplace says about the plugin, nil if it has no entry.
func (m *marketplace) entry(plugin string) *entry {
	o, err := m.entries[plugin].object()
	if err != nil {
		return nil
	}
	return parseEntry(o)
}
