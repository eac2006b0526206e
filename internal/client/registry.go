package client

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmtx/fsmtx/internal/safefile"
)

// A key of the registry may have several entries, of different scopes and projects,
// and several marketplaces may have a plugin of one name (measured with 2.1.197, fact
// 27).

// Scopes of an installation, in order of precedence.
const (
	ScopeManaged = "managed" // everyone, by an organisation's settings (fact 115, client 2.1.329)
	ScopeLocal   = "local"   // one user in one project
	ScopeProject = "project" // everyone in one project
	ScopeUser    = "user"    // one user everywhere
)

var scopes = []string{ScopeManaged, ScopeLocal, ScopeProject, ScopeUser}

// Installation is a usable entry of the registry.
type Installation struct {
	Key         string // as in the registry: "plugin@marketplace"
	Plugin      string // the key up to its first @
	Marketplace string // the key after its first @; in the array form it may be a version
	Scope       string // one of the constants
	ProjectPath string // absolute; empty in scopes that apply everywhere
	InstallPath string // absolute path of the client's copy
	LastUpdated time.Time
}

// Registry is the content of installed_plugins.json.
type Registry struct {
	path         string
	all          []Installation
	problems     []error
	fs           FS        // nil if the registry was parsed from bytes
	links        *resolver // of fs
	configDir    string
	marketplaces *marketplaces // read on first use
}

// RegistryPath returns the path of the registry in the configuration directory.
func RegistryPath(configDir string) string {
	return filepath.Join(configDir, "plugins", "installed_plugins.json")
}

// DataDir returns the plugin's data directory, CLAUDE_PLUGIN_DATA of its hooks (measured
// with 2.1.197, fact 25). Its name is the key, with "-" as in the names of skills.
func DataDir(configDir, key string) string {
	return filepath.Join(configDir, "plugins", "data", plain(key, '-'))
}

// ReadRegistry reads the registry of the configuration directory. Its errors are
// of type [*FileError]. They wrap fs.ErrNotExist if the file is missing or configDir is
// empty, ErrBadFile if the file has no known form, or the error of reading it. With an
// error the registry has no entries, but WithSources and Enabled still return the plugins of
// directory marketplaces, which the client loads (measured with 2.1.329, fact 123).
func ReadRegistry(fsys FS, configDir string) (*Registry, error) {
	path := RegistryPath(configDir)
	if configDir == "" {
		return &Registry{path: path}, &FileError{path, fs.ErrNotExist}
	}
	var r *Registry
	data, err := safefile.ReadFileIn(fsys, path, maxFile)
	if err != nil {
		err = fileError(path, err)
	} else {
		r, err = ParseRegistry(path, data)
	}
	if r == nil {
		r = &Registry{path: path}
	}
	r.fs, r.links, r.configDir = fsys, newResolver(fsys), configDir
	return r, err
}

// Installations returns the usable entries: of an array in its order, of an object
// sorted by key.
func (r *Registry) Installations() []Installation { return slices.Clone(r.all) }

// Of returns the usable entries of the plugin, in the order of Installations.
func (r *Registry) Of(plugin string) (of []Installation) {
	for _, in := range r.all {
		if in.Plugin == plugin {
			of = append(of, in)
		}
	}
	return of
}

// Problems returns the reasons why entries were skipped. Each is a [*FileError].
func (r *Registry) Problems() []error { return slices.Clone(r.problems) }

// Applies reports whether the installation applies in one of the directories: whether
// its project is the directory or contains it, with symbolic links resolved. An
// installation of user or managed scope applies everywhere. A relative directory is in no project.
func (r *Registry) Applies(in Installation, dirs ...string) bool {
	return in.everywhere() || slices.ContainsFunc(dirs, func(dir string) bool {
		return filepath.IsAbs(dir) && (dir == in.ProjectPath || contains(r.resolve(in.ProjectPath), r.resolve(dir)))
	})
}

func (in Installation) everywhere() bool { return in.Scope == ScopeUser || in.Scope == ScopeManaged }

// Applying returns the installations that apply in one of the directories, in order
// of precedence: by scope, then the one updated last, then the nearest project.
func (r *Registry) Applying(dirs ...string) []Installation {
	applying := slices.DeleteFunc(r.Installations(), func(in Installation) bool { return !r.Applies(in, dirs...) })
	slices.SortStableFunc(applying, Compare)
	return applying
}

// Takes reports whether the client takes the installation for one of the directories, if it loads
// the plugin: if it applies there, or if the settings enable the plugin, and one is in the git repository of its project
// (measured with 2.1.329, fact 185).
func (r *Registry) Takes(settings *Settings, in Installation, dirs ...string) bool {
	enabled, _ := settings.Lookup(in.Key)
	return r.Applies(in, dirs...) || enabled && r.fs != nil && slices.ContainsFunc(dirs, func(dir string) bool {
		return filepath.IsAbs(dir) && r.isOfProject(in, r.resolve(dir))
	})
}

// isOfProject reports whether the installation's project is in the repository of git of dir.
func (r *Registry) isOfProject(in Installation, dir string) bool {
	_, main := WorkTree(r.fs, dir)
	_, others := WorkTree(r.fs, in.ProjectPath)
	return main != "" && main == others
}

// Enabled returns the plugins that the client loads in the directories: of each key that the
// settings do not disable the first installation by Compare.
func (r *Registry) Enabled(settings *Settings, dirs ...string) []Installation {
	all := r.withSources(settings, r.Installations(), func(string) bool { return true })
	loaded := slices.DeleteFunc(all, func(in Installation) bool { return settings.Disabled(in.Key) || !r.Takes(settings, in, dirs...) })
	slices.SortFunc(loaded, func(a, b Installation) int { return cmp.Or(Compare(a, b), cmp.Compare(a.Key, b.Key)) })
	seen := map[string]bool{}
	return slices.DeleteFunc(loaded, func(in Installation) bool {
		again := seen[in.Key]
		seen[in.Key] = true
		return again
	})
}

// WithSources is Of, and adds what the client loads of the plugin without an entry.
func (r *Registry) WithSources(settings *Settings, plugin string) []Installation {
	return r.withSources(settings, r.Of(plugin), func(name string) bool { return name == plugin })
}

// withSources adds the plugins that the settings enable and that a directory marketplace has:
// the client loads them without an entry in the registry (measured with 2.1.329, fact 123).
func (r *Registry) withSources(settings *Settings, all []Installation, wanted func(plugin string) bool) []Installation {
	if r.fs == nil {
		return all
	}
	for _, key := range settings.enabled() {
		plugin, marketplace, named := strings.Cut(key, "@")
		if !named || !wanted(plugin) || r.has(key) {
			continue
		}
		in := Installation{Key: key, Plugin: plugin, Marketplace: marketplace, Scope: ScopeUser}
		if root := r.Root(in); root.Live {
			in.InstallPath = root.Dir
			all = append(all, in)
		}
	}
	return all
}

// has reports whether the registry has usable entries of the key.
func (r *Registry) has(key string) bool {
	return slices.ContainsFunc(r.all, func(in Installation) bool { return in.Key == key })
}

// Compare orders installations that all apply by precedence. Of two projects that
// contain the same directory the one with the longer path is nearer. Compare does not
// order marketplaces.
func Compare(a, b Installation) int {
	return cmp.Or(
		cmp.Compare(slices.Index(scopes, a.Scope), slices.Index(scopes, b.Scope)),
		b.LastUpdated.Compare(a.LastUpdated),
		cmp.Compare(len(b.ProjectPath), len(a.ProjectPath)),
	)
}

// resolve resolves the symbolic links of a directory.
func (r *Registry) resolve(dir string) string {
	if r.links == nil {
		return filepath.Clean(dir)
	}
	return r.links.resolve(dir)
}

// contains reports whether dir is parent or below it.
func contains(parent, dir string) bool {
	inner, err := filepath.Rel(parent, dir)
	return err == nil && filepath.IsLocal(inner)
}
