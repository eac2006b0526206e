package locator

import (
	"path/filepath"
	"strings"
)

// maxLinks ends a cycle of symbolic links; Linux follows forty.
const maxLinks = 64

// resolve returns the absolute path with its symbolic links followed. Names
// that do not exist stay as they are, for a project may have been deleted
// since its plugin was installed. A nil filesystem leaves it at cleaning the
// path.
func resolve(fsys FS, path string) string {
	if fsys == nil {
		return filepath.Clean(path)
	}
	done, rest := string(filepath.Separator), components(path)
	for followed := 0; len(rest) > 0; {
		next := filepath.Join(done, rest[0])
		rest = rest[1:]
		target, err := fsys.Readlink(next)
		if err != nil || followed == maxLinks {
			done = next
			continue
		}
		followed++
		if filepath.IsAbs(target) {
			done = string(filepath.Separator)
		}
		rest = append(components(target), rest...)
	}
	return done
}

func components(path string) []string {
	return strings.Split(path, string(filepath.Separator))
}

// contains reports whether dir is parent or below it, by whole components.
// Both are clean.
func contains(parent, dir string) bool {
	if parent == dir {
		return true
	}
	if !strings.HasSuffix(parent, string(filepath.Separator)) {
		parent += string(filepath.Separator)
	}
	return strings.HasPrefix(dir, parent)
}

// place is a directory that the projects of installations are matched with. It
// is resolved once, and only if a project has to be.
type place struct {
	fs       FS
	dir      string
	resolved string
}

// in reports whether the place is the project or below it. A place that is not
// absolute is in none.
func (p *place) in(project string) bool {
	if !filepath.IsAbs(p.dir) {
		return false
	}
	if project == p.dir {
		return true
	}
	if p.resolved == "" {
		p.resolved = resolve(p.fs, p.dir)
	}
	return contains(resolve(p.fs, project), p.resolved)
}
