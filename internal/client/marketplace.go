package client

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	m := r.marketplace(in.Marketplace)
	dir, err := m.source(r.fs, in.Plugin)
	if err != nil || dir == "" {
		return Root{Dir: in.InstallPath, Err: err}
	}
	return Root{Dir: dir, Live: true}
}

// marketplaces is the content of known_marketplaces.json, and of the marketplaces that
// were asked for. Each file is read once.
type marketplaces struct {
	known map[string]jsontext.Value
	err   error
	read  map[string]*marketplace // by name
}

// marketplace is a marketplace with the entries of its manifest.
type marketplace struct {
	dir     string // of the marketplace, "" if it is unknown
	live    bool   // the client reads plugins from dir, not from their copies
	entries map[string]jsontext.Value
	err     error // why it cannot be used
}

// marketplace returns the marketplace of the name. Its err is set if it cannot be used.
func (r *Registry) marketplace(name string) *marketplace {
	path := filepath.Join(r.configDir, "plugins", "known_marketplaces.json")
	if r.marketplaces == nil {
		all := &marketplaces{read: map[string]*marketplace{}}
		if all.err = readJSON(r.fs, path, &all.known); errors.Is(all.err, fs.ErrNotExist) {
			all.err = nil
		}
		r.marketplaces = all
	}
	m, ok := r.marketplaces.read[name]
	if !ok {
		m = &marketplace{err: r.marketplaces.err}
		if m.err == nil {
			m.dir, m.live = whereMarketplace(r.marketplaces.known[name])
		}
		if m.dir != "" {
			m.err = m.readEntries(r.fs)
		}
		r.marketplaces.read[name] = m
	}
	return m
}

// whereMarketplace returns the absolute path of a marketplace, and whether it is a directory
// that the client reads plugins from. dir is "" if there is none.
func whereMarketplace(v jsontext.Value) (dir string, live bool) {
	source := jsonx.Member(v, "source")
	dir = jsonx.StringMember(v, "installLocation")
	if live = jsonx.StringMember(source, "source") == "directory"; live {
		dir = jsonx.StringMember(source, "path")
	}
	if !filepath.IsAbs(dir) {
		return "", false
	}
	return dir, live
}

// readEntries reads the manifest. Of two entries of one name the first counts (measured
// with 2.1.329, fact 122).
func (m *marketplace) readEntries(fsys FS) error {
	var manifest struct {
		Plugins []jsontext.Value `json:"plugins"`
	}
	m.entries = map[string]jsontext.Value{}
	err := readJSON(fsys, filepath.Join(m.dir, MarketplacePath), &manifest)
	for _, item := range manifest.Plugins {
		name := jsonx.StringMember(item, "name")
		if _, again := m.entries[name]; !again {
			m.entries[name] = item
		}
	}
	return err
}

// source returns the plugin's directory in a directory marketplace, "" for any other marketplace.
func (m *marketplace) source(fsys FS, plugin string) (string, error) {
	if m.err != nil && (m.live || m.dir == "") {
		return "", m.err
	}
	if !m.live {
		return "", nil
	}
	e := m.entry(plugin)
	if e == nil {
		return "", &FileError{filepath.Join(m.dir, MarketplacePath), fmt.Errorf("there is no plugin %q", plugin)}
	}
	dir := filepath.Join(m.dir, e.Source)
	if e.Source == "" || !filepath.IsLocal(e.Source) || !isDir(fsys, dir) {
		return "", &FileError{filepath.Join(m.dir, MarketplacePath), fmt.Errorf("the source of %q is not a directory in the marketplace", plugin)}
	}
	return dir, nil
}

// entry is what a marketplace says about a plugin.
type entry struct {
	Source string
	components
}

// isRoot reports whether the plugin's source is the marketplace's root.
func (e *entry) isRoot() bool {
	return e.Source != "" && strings.Trim(e.Source, "./") == "" && !strings.Contains(e.Source, "..")
}

// entry returns what the marketplace says about the plugin, nil if it has no entry.
func (m *marketplace) entry(plugin string) *entry {
	item, ok := m.entries[plugin]
	if !ok {
		return nil
	}
	return &entry{jsonx.StringMember(item, "source"), componentsOf(item)}
}

// components is what a manifest or an entry says about skills and commands (read in the code of 2.1.329 and
// measured with it, fact 120). A nil slice means that the member is absent, which differs from an empty list.
type components struct{ skills, commands []string } // paths

func componentsOf(object jsontext.Value) components {
	return components{paths(jsonx.Member(object, "skills")), paths(jsonx.Member(object, "commands"))}
}

// paths returns the paths in a string or an array of strings.
func paths(v jsontext.Value) (all []string) {
	var one string
	switch {
	case json.Unmarshal(v, &one, jsonx.Tolerant) == nil && v.Kind() == '"':
		all = []string{one}
	case json.Unmarshal(v, &all, jsonx.Tolerant) != nil || v.Kind() != '[':
		return nil
	}
	paths := []string{}
	for _, path := range all {
		if path == "." || strings.HasPrefix(path, "./") {
			paths = append(paths, path)
		}
	}
	return paths
}
