package settings

import (
	"cmp"
	"path/filepath"
	"runtime"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// Where holds the directories in which settings files are.
type Where struct {
	Home    string
	Project string
	// WorkTree is the root of the main work tree of the project's repository, empty outside
	// a repository.
	WorkTree string
	Config   string              // Claude Code's configuration directory; default: ~/.claude
	Getenv   func(string) string // as os.Getenv
}

// path returns the path of a settings file, empty if there is no such file here.
func (w Where) path(f dialect.File) string {
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
	case dialect.InHome:
		return filepath.Join(w.Home, path)
	case dialect.InConfig:
		return filepath.Join(cmp.Or(w.Config, filepath.Join(w.Home, ".claude")), path)
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
		dirs = append(dirs, filepath.Join(w.Project, name), filepath.Join(w.Home, name))
	}
	return dirs
}
