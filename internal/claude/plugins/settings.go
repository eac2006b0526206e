package plugins

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
)

// Plugins are enabled by enabledPlugins in the settings (measured with 2.1.197,
// fact 31), of which the client reads those of the start directory (measured with
// 2.1.329, fact 52).

// Settings says which plugins the client's settings enable and disable. A nil one
// mentions none.
type Settings struct {
	files    []settingsFile // in order of precedence
	problems []error

	rankOnce sync.Once
	ranks    map[string]int // of the keys that are enabled
}

type settingsFile struct {
	path    string
	enabled map[string]bool // by key, plugin@marketplace
	order   []string        // the keys
}

// ReadSettings reads enabledPlugins in the project's settings.local.json and
// settings.json and in the user's settings.json. A missing file is the same as an
// empty one; any other that cannot be used is a problem. An empty directory is not
// read.
func ReadSettings(fsys FS, configDir, projectDir string) *Settings {
	s := &Settings{}
	if projectDir != "" {
		s.read(fsys, filepath.Join(projectDir, ".claude", "settings.local.json"))
		s.read(fsys, filepath.Join(projectDir, ".claude", "settings.json"))
	}
	if configDir != "" {
		s.read(fsys, filepath.Join(configDir, "settings.json"))
	}
	return s
}

// Lookup returns whether the settings enable the key, and the file that decides it:
// the first in order of precedence that mentions the key, "" if none does.
func (s *Settings) Lookup(key string) (enabled bool, path string) {
	if s == nil {
		return false, ""
	}
	for _, f := range s.files {
		if enabled, ok := f.enabled[key]; ok {
			return enabled, f.path
		}
	}
	return false, ""
}

// Rank returns the place of the key among those that the settings enable, the user's
// file before the project's, as if the client merged them. A key that they do not
// enable comes after all others.
func (s *Settings) Rank(key string) int {
	if s == nil {
		return 0
	}
	s.rankOnce.Do(s.rank)
	if rank, ok := s.ranks[key]; ok {
		return rank
	}
	return len(s.ranks)
}

// rank fills ranks. Installations are sorted by them, so looking for a key among all
// others at each comparison would take the square of their number.
func (s *Settings) rank() {
	s.ranks = map[string]int{}
	for _, f := range slices.Backward(s.files) {
		for _, key := range f.order {
			enabled, _ := s.Lookup(key)
			if _, known := s.ranks[key]; enabled && !known {
				s.ranks[key] = len(s.ranks)
			}
		}
	}
}

// Disabled reports whether the settings disable the key. A key they do not mention
// is neither enabled nor disabled.
func (s *Settings) Disabled(key string) bool {
	enabled, path := s.Lookup(key)
	return path != "" && !enabled
}

// Problems returns why files could not be used. Each is a [*FileError].
func (s *Settings) Problems() []error { return slices.Clone(s.problems) }

func (s *Settings) read(fsys FS, path string) {
	file, err := readFile(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = s.add(path, file.members["enabledPlugins"])
	}
	if err != nil {
		s.problems = append(s.problems, fileError(path, err))
	}
}

func (s *Settings) add(path string, list value) error {
	if list.absent() {
		return nil
	}
	o, err := list.object()
	if err != nil {
		return err
	}
	f := settingsFile{path, map[string]bool{}, o.names}
	for _, key := range o.names {
		switch o.members[key].Kind() {
		case 'f':
			f.enabled[key] = false
		case 't', '[', '{': // a list of versions or options enables the plugin too
			f.enabled[key] = true
		}
	}
	s.files = append(s.files, f)
	return nil
}
