package locator

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Settings is which plugins the client's settings switch on and off. A nil one
// says nothing about any.
type Settings struct {
	files    []settingsFile // the most specific first
	problems []Problem
}

type settingsFile struct {
	path string
	on   map[string]bool // by key, plugin@marketplace
}

// ReadSettings reads enabledPlugins of the project's settings.local.json and
// settings.json and of the user's settings.json. A missing file says nothing,
// and one that cannot be used neither, but it is a problem. Empty directories
// are passed over.
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

// Of returns whether the most specific file that says something of the key
// switches it on, and that file; "" if none does.
func (s *Settings) Of(key string) (on bool, path string) {
	if s == nil {
		return false, ""
	}
	for _, f := range s.files {
		if on, said := f.on[key]; said {
			return on, f.path
		}
	}
	return false, ""
}

// Off reports whether the settings switch the key off, which is more than not
// switching it on.
func (s *Settings) Off(key string) bool {
	on, path := s.Of(key)
	return path != "" && !on
}

// Problems returns the files and members that could not be used.
func (s *Settings) Problems() []Problem { return slices.Clone(s.problems) }

func (s *Settings) read(fsys FS, path string) {
	o, err := readObject(fsys, path)
	if err == nil {
		err = s.add(path, o["enabledPlugins"])
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.problems = append(s.problems, Problem{path, cause(err).Error()})
	}
}

func (s *Settings) add(path string, enabled jsontext.Value) error {
	if len(enabled) == 0 || enabled.Kind() == 'n' {
		return nil
	}
	o, err := parseObject(enabled)
	if err != nil {
		return err
	}
	f := settingsFile{path, map[string]bool{}}
	for key, v := range o {
		switch v.Kind() {
		case 'f':
			f.on[key] = false
		case 't', '[', '{': // versions and options only make sense of what is on
			f.on[key] = true
		}
	}
	s.files = append(s.files, f)
	return nil
}

// cause returns err without the path that a FileError says before it.
func cause(err error) error {
	if f, ok := errors.AsType[*FileError](err); ok {
		return f.Cause
	}
	return err
}
