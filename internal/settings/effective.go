package settings

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// file is a settings file.
type file struct {
	path   string
	place  Place  // of the hooks in it; for a file of the user or the project
	broken string // why the client cannot use it, "" if it can

	data []byte // one JSON object, empty if the file is broken or missing
}

// newFile returns the settings file with this content. The client accepts one byte order
// mark and a blank file, but no comments and no trailing commas (fact 97).
func newFile(path string, place Place, content []byte) file {
	data := bytes.TrimPrefix(content, []byte("\ufeff"))
	f := file{path: path, place: place}
	if len(bytes.TrimSpace(data)) == 0 {
		return f
	}
	if err := jsonx.Check(data, jsonx.Tolerant); err != nil {
		f.broken = "is not JSON (" + err.Error() + ")"
	} else if kind := jsontext.Value(bytes.TrimSpace(data)).Kind(); kind != '{' {
		f.broken = "is not a JSON object"
	} else {
		f.data = data
	}
	return f
}

func read(fsys safefile.FS, path string, place Place) file {
	data, err := safefile.ReadFileIn(fsys, path, MaxBytes)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return file{path: path, place: place}
	}
	if err != nil {
		return file{path: path, place: place, broken: "cannot be read (" + err.Error() + ")"}
	}
	return newFile(path, place, data)
}

// readSettings reads the settings with which the client runs when it starts in dir: the
// organisation's in managed, the user's in config, those of the project, and the command
// line of the client that runs this program. getenv is os.LookupEnv or a stand-in for it.
func readSettings(fsys safefile.FS, managed, config, dir string, getenv func(string) (string, bool)) Effective {
	s := Effective{env: getenv}
	if client, err := client.ReadSwitches(getenv); err == nil {
		s.client = client
	}
	for _, path := range client.ManagedFiles(fsys.ReadDir, managed) {
		s.managed = append(s.managed, read(fsys, path, ManagedPlugin))
	}
	if text := s.client.Settings; strings.HasPrefix(strings.TrimSpace(text), "{") {
		s.flag = []file{newFile("--settings", ManagedPlugin, []byte(text))}
	} else if text != "" {
		if !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		s.flag = []file{read(fsys, text, ManagedPlugin)}
	}
	for _, path := range client.SettingsFiles(fsys, config, dir) {
		s.others = append(s.others, read(fsys, path, placeOf(config, path)))
	}
	return s
}

func placeOf(config, path string) Place {
	return map[string]Place{"user": User, "local": Local, "project": Project}[client.SourceOf(config, path)]
}

// member returns the last value of a member of the file's object and its line, nil if there
// is none.
func (f file) member(name string) (v jsontext.Value, line int) {
	for p, err := range jsonx.Parts(f.data) {
		if err != nil {
			return nil, 0
		}
		if p.Name == name {
			v, line = p.Value, jsonx.PositionAt(f.data, p.Offset).Line
		}
	}
	return v, line
}

// Variable returns the value of a variable that the organisation's settings or the user's set
// under "env", empty if they do not. Those of a project are left out: a repository brings them.
func (s Effective) Variable(name string) string {
	for _, f := range slices.Backward(s.managed) {
		if v, _ := f.env(name); v != "" {
			return v
		}
	}
	for _, f := range s.others {
		if v, _ := f.env(name); v != "" && f.place == User {
			return v
		}
	}
	return ""
}

// Sets returns the value of a variable that a file sets under "env", also a project's, and the file; empty if none does.
func (s Effective) Sets(name string) (value, path string) {
	for _, f := range slices.Concat(s.managed, s.flag, s.others) {
		if v, _ := f.env(name); v != "" {
			return v, f.path
		}
	}
	return "", ""
}

// env returns the value of a variable under "env", and its line.
func (f file) env(name string) (value string, line int) {
	env, at := f.member("env")
	if env.Kind() != '{' {
		return "", 0
	}
	v, line := file{data: env}.member(name)
	if v.Kind() == '"' {
		_ = json.Unmarshal(v, &value, jsonx.Tolerant)
	} else {
		value = string(v)
	}
	return value, at + line - 1
}

// off returns the member called name as a switch.
func (f file) off(name, what, remedy string) Off {
	_, line := f.member(name)
	return Off{File: f.path, Line: line, What: what, Remedy: remedy}
}

// lastDisabling returns the last of the files in which disableAll is true or false, and its value.
// The client ignores other values.
func lastDisabling(files []file) (by file, on, set bool) {
	for _, f := range files {
		if v, _ := f.member(disableAll); v.Kind() == 't' || v.Kind() == 'f' {
			by, on, set = f, v.Kind() == 't', true
		}
	}
	return by, on, set
}

func items(list jsontext.Value) (all []jsontext.Value) {
	_ = json.Unmarshal(list, &all, jsonx.Tolerant)
	return all
}

// PluginPlace returns ManagedPlugin if an organisation's settings enable the plugin, whose
// key is plugin@marketplace, and Plugin otherwise.
func (s Effective) PluginPlace(key string) Place {
	place := Plugin
	for _, f := range s.managed {
		enabled, _ := f.member("enabledPlugins")
		v, _ := file{data: enabled}.member(key)
		switch v.Kind() {
		case 't', '[', '{':
			place = ManagedPlugin
		case 'f':
			place = Plugin
		}
	}
	return place
}
