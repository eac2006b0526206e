package client

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// Plugins are enabled by enabledPlugins in the settings (fact 31, client 2.1.197).

// Settings holds which plugins the client's settings enable and disable. A nil *Settings
// mentions no plugin.
type Settings struct {
	files    []settingsFile // in order of precedence
	problems []error
}

type settingsFile struct {
	path      string
	says      bool            // the file has enabledPlugins
	enabled   map[string]bool // by key, plugin@marketplace
	overrides map[string]override
}

// override is an entry of skillOverrides.
type override struct {
	value string
	line  int
}

// Values of skillOverrides (fact 163, client 2.1.329).
const (
	OverrideUserOnly = "user-invocable-only" // only a person can call the skill
	OverrideOff      = "off"                 // nobody can call the skill
)

// ReadSettings reads enabledPlugins in the settings files that the client reads when it
// starts in projectDir, see [SettingsFiles]. A missing file counts as empty; other
// errors are reported by Problems. If configDir or projectDir is "", its files are not
// read.
func ReadSettings(fsys FS, configDir, projectDir string) *Settings {
	return ReadSettingsIn(fsys, SettingsFiles(fsys, configDir, projectDir))
}

// ReadSettingsIn is ReadSettings for some of these files, the one with the highest precedence first.
func ReadSettingsIn(fsys FS, files []string) *Settings {
	s := &Settings{}
	for _, path := range files {
		data, err := safefile.ReadFileIn(fsys, path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
		f := settingsFile{path: path}
		if err == nil && len(bytes.TrimSpace(data)) > 0 { // the client accepts a blank file (fact 97)
			if err = jsonx.Check(data, jsonx.Tolerant); err == nil {
				f.fill(data)
			}
		}
		if err != nil {
			s.problems = append(s.problems, fileError(path, err))
			continue
		}
		s.files = append(s.files, f)
	}
	return s
}

// fill reads what a file says. A list of versions alone enables nothing.
func (f *settingsFile) fill(data []byte) {
	f.enabled, f.overrides = map[string]bool{}, map[string]override{}
	text := jsontext.Value(bytes.TrimLeft(data, " \t\r\n"))
	before := len(data) - len(text)
	for p := range jsonx.Parts(text) {
		if p.Value.Kind() != '{' {
			continue
		}
		for entry := range jsonx.Parts(p.Value) {
			switch kind := entry.Value.Kind(); {
			case p.Name == "enabledPlugins":
				if delete(f.enabled, entry.Name); kind == 't' || kind == 'f' {
					f.enabled[entry.Name] = kind == 't'
				}
			case p.Name == "skillOverrides":
				o := override{line: jsonx.PositionAt(data, before+p.Offset+entry.Offset).Line}
				_ = json.Unmarshal(entry.Value, &o.value, jsonx.Tolerant)
				f.overrides[entry.Name] = o
			}
		}
		f.says = f.says || p.Name == "enabledPlugins"
	}
}

// Lookup returns whether the settings enable the key, and the path of the file that
// decides it: the first in order of precedence that mentions the key. path is "" if none
// does.
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

// enabled returns the keys that the settings enable, sorted.
func (s *Settings) enabled() (keys []string) {
	if s == nil {
		return nil
	}
	for _, f := range s.files {
		for key := range f.enabled {
			if enabled, _ := s.Lookup(key); enabled {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Override returns what skillOverrides in the settings say of the skill, and the file and line that decide it: the
// first file in order of precedence that names the skill. name is the folder's or the command's; the client applies
// no override to a plugin's skill, and none by a name in a frontmatter (measured with 2.1.329, fact 163).
func (s *Settings) Override(name string) (value, path string, line int) {
	if s == nil {
		return "", "", 0
	}
	for _, f := range s.files {
		if o, ok := f.overrides[name]; ok {
			return o.value, f.path, o.line
		}
	}
	return "", "", 0
}

// Says reports whether the settings mention any plugin, or a file could not be used. If they do,
// the client loads only those that they enable (measured with 2.1.329, fact 123).
func (s *Settings) Says() bool {
	return s != nil && (len(s.problems) > 0 || slices.ContainsFunc(s.files, func(f settingsFile) bool { return f.says }))
}

// Disabled reports whether the settings disable the key. A key that they do not mention
// is neither enabled nor disabled.
func (s *Settings) Disabled(key string) bool {
	enabled, path := s.Lookup(key)
	return path != "" && !enabled
}

// Problems returns the reasons why files could not be used. Each is a [*FileError].
func (s *Settings) Problems() []error { return slices.Clone(s.problems) }
