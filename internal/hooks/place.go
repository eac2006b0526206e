package hooks

import (
	"cmp"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// Where holds the directories in which settings files are.
type Where struct {
	Home    string
	Project string
	// WorkTree is the root of the main work tree of the project's repository, empty outside
	// a repository.
	WorkTree string
	Managed  []string            // Claude Code's files of an organisation, the lowest precedence first
	Getenv   func(string) string // as os.Getenv
}

// config returns the agent's configuration directory.
func (w Where) config(d dialect.Dialect) string {
	if name := d.Settings.ConfigVariable; name != "" && w.Getenv(name) != "" {
		return w.Getenv(name)
	}
	return filepath.Join(w.Home, d.Settings.ConfigDir)
}

// paths returns the paths of a settings file, the highest precedence first.
func (w Where) paths(d dialect.Dialect, f dialect.File) []string {
	if f.In != dialect.Managed {
		return []string{w.path(d, f)}
	}
	managed := slices.Clone(w.Managed)
	slices.Reverse(managed)
	return managed
}

// path returns the path of a settings file, empty if there is no such file here.
func (w Where) path(d dialect.Dialect, f dialect.File) string {
	path := f.Path
	if f.Darwin != "" && runtime.GOOS == "darwin" {
		path = f.Darwin
	}
	switch f.In {
	case dialect.InProject:
		return filepath.Join(w.Project, path)
	case dialect.InWorkTree:
		if w.WorkTree == "" || filepath.Clean(w.WorkTree) == filepath.Clean(w.Project) {
			return ""
		}
		return filepath.Join(w.WorkTree, path)
	case dialect.InConfig:
		return filepath.Join(w.config(d), path)
	}
	if f.Variable != "" {
		return cmp.Or(w.Getenv(f.Variable), path)
	}
	return path
}

// extensionDirs returns the directories that contain one directory for each extension.
func (w Where) extensionDirs(d dialect.Dialect) []string {
	var dirs []string
	for _, name := range d.Settings.Extensions {
		dirs = append(dirs, filepath.Join(w.Project, name), filepath.Join(w.config(d), name))
	}
	return dirs
}
