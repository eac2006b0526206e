package locator

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Scopes of an installation, the one that goes first first.
const (
	ScopeLocal   = "local"   // one user in one project
	ScopeProject = "project" // everyone in one project
	ScopeUser    = "user"    // one user everywhere
)

var scopes = [...]string{ScopeLocal, ScopeProject, ScopeUser}

// Installation is one entry of the registry that can be used.
type Installation struct {
	Key         string // as the registry has it: "plugin@marketplace"
	Plugin      string // the key up to its first @
	Marketplace string // the key after it; an array may hold a version there
	Scope       string // one of the constants
	ProjectPath string // absolute; set unless Scope is ScopeUser
	InstallPath string // absolute: where the client put its copy
	LastUpdated time.Time
}

// Problem is something on disk that is not as it should be and was passed
// over.
type Problem struct {
	Where  string // a file, or a place in the registry such as plugins["a@b"][0]
	Reason string
}

func (p Problem) String() string { return p.Where + ": " + p.Reason }

// Registry is what installed_plugins.json says. The zero value is an empty one.
type Registry struct {
	installations []Installation
	problems      []Problem
	fs            FS
	marketplaces  func() *marketplaces
}

// registryPath is the registry's place in the client's configuration.
func registryPath(configDir string) string {
	return filepath.Join(configDir, "plugins", "installed_plugins.json")
}

// ReadRegistry reads the registry of the configuration directory. It returns a
// [*FileError] if the file is missing, cannot be read or is malformed; its
// Cause says which. An empty directory holds none.
func ReadRegistry(fsys FS, configDir string) (*Registry, error) {
	path := registryPath(configDir)
	if configDir == "" {
		return nil, &FileError{path, fs.ErrNotExist}
	}
	data, err := ReadSpec(fsys, path, maxConfig)
	if err != nil {
		return nil, err
	}
	r, err := ParseRegistry(data)
	if err != nil {
		return nil, &FileError{path, err}
	}
	r.fs = fsys
	r.marketplaces = sync.OnceValue(func() *marketplaces { return readMarketplaces(fsys, configDir) })
	return r, nil
}

// Installations returns every entry that can be used, those of an array in its
// order, those of an object by key.
func (r *Registry) Installations() []Installation { return slices.Clone(r.installations) }

// Problems returns why entries were skipped or not wholly understood.
func (r *Registry) Problems() []Problem { return slices.Clone(r.problems) }

// Applying returns the installations that apply to any of the directories, the
// one that goes first first: by scope, then updated last, then of the nearest
// project. Those of user scope always apply. A directory that is not absolute
// is in no project.
func (r *Registry) Applying(dirs ...string) []Installation {
	places := r.places(dirs)
	var fit []Installation
	for _, in := range r.installations {
		if applies(in, places) {
			fit = append(fit, in)
		}
	}
	slices.SortStableFunc(fit, precedence)
	return fit
}

// Enabled returns the plugins the client loads in the directories: of every
// key the installation that goes first, unless the settings switch it off.
func (r *Registry) Enabled(settings *Settings, dirs ...string) []Installation {
	seen := map[string]bool{}
	return slices.DeleteFunc(r.Applying(dirs...), func(in Installation) bool {
		again := seen[in.Key]
		seen[in.Key] = true
		return again || settings.Off(in.Key)
	})
}

func (r *Registry) places(dirs []string) []*place {
	var places []*place
	for _, dir := range dirs {
		places = append(places, &place{fs: r.fs, dir: dir})
	}
	return places
}

func applies(in Installation, places []*place) bool {
	return in.Scope == ScopeUser || slices.ContainsFunc(places, func(p *place) bool { return p.in(in.ProjectPath) })
}

// precedence orders installations that all apply. Of two projects around one
// directory the longer path is the nearer one.
func precedence(a, b Installation) int {
	return cmp.Or(
		byScope(a, b),
		b.LastUpdated.Compare(a.LastUpdated),
		cmp.Compare(len(b.ProjectPath), len(a.ProjectPath)),
	)
}

func byScope(a, b Installation) int {
	return cmp.Compare(slices.Index(scopes[:], a.Scope), slices.Index(scopes[:], b.Scope))
}
