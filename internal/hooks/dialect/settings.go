package dialect

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// Scope is where a hook comes from. Hooks of a lower scope run first.
type Scope int

// The scopes, in their order.
const (
	Project Scope = iota + 1
	User
	System
	Extensions
)

func (s Scope) String() string {
	switch s {
	case Project:
		return "project"
	case User:
		return "user"
	case System:
		return "system"
	case Extensions:
		return "extensions"
	}
	return "unknown"
}

// MarshalText returns the scope's name.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// File is a settings file of an agent.
type File struct {
	Scope    Scope
	In       Folder
	Path     string
	Darwin   string // the path on macOS, if it differs
	Variable string // an environment variable that names another file
}

// Folder is the directory that the path of a settings file starts from.
type Folder int

// The folders.
const (
	Absolute   Folder = iota // the path is absolute
	InProject                // the project
	InWorkTree               // the root of the main work tree of the project's repository; no file if that is the project
	InConfig                 // the agent's configuration directory
	Managed                  // the organisation's files, of which there may be several
)

// Path names a setting inside objects.
type Path []string

// parent returns the object that contains the setting, and its name there.
func (p Path) parent(settings jsonx.Object) (parent jsonx.Object, name string) {
	last := len(p) - 1
	for _, section := range p[:last] {
		settings = settings.Object(section)
	}
	return settings, p[last]
}

// Switch is a setting that turns all hooks on or off.
type Switch struct {
	settings  []Path // the first one that is set decides
	disables  bool   // the value true turns hooks off
	byDefault bool   // whether hooks are on if none is set
}

func (s Switch) enabled(settings jsonx.Object) bool {
	for _, path := range s.settings {
		if parent, name := path.parent(settings); parent.Has(name) {
			return parent.IsTrue(name) != s.disables
		}
	}
	return s.byDefault
}

// Switches is which hooks the settings turn on and off.
type Switches struct {
	Enabled            bool     // hooks run at all
	Disabled           []string // names or commands of hooks that do not run
	DisabledExtensions []string
	Env                []string // variables that hooks get, as NAME=VALUE
	Requests           Requests
}

// Switches merges the contents of settings files, given in order of precedence, and reads
// the switches.
func (d Dialect) Switches(files ...jsontext.Value) Switches {
	var merged jsonx.Object
	var requests Requests
	for _, file := range files {
		o, _ := jsonx.ParseObject(file)
		merged = withDefaults(merged, o)
		requests.URLs = with(requests.URLs, o, d.Settings.RequestURLs)
		requests.Env = with(requests.Env, o, d.Settings.RequestEnv)
	}
	s := Switches{Enabled: d.Settings.Switch.enabled(merged), DisabledExtensions: merged.Object("extensions").Strings("disabled"),
		Requests: requests}
	for _, path := range d.Settings.Disabled {
		parent, name := path.parent(merged)
		s.Disabled = append(s.Disabled, parent.Strings(name)...)
	}
	if d.Settings.Env != "" {
		for name, value := range merged.Object(d.Settings.Env).All() {
			if text, ok := VariableText(value); ok {
				s.Env = append(s.Env, name+"="+text)
			}
		}
	}
	return s
}

// VariableText returns the value of a variable as JavaScript writes a value of JSON as a text. It
// returns false for an object and an array.
func VariableText(value jsontext.Value) (text string, ok bool) {
	switch value.Kind() {
	case '"':
		return jsonx.String(value)
	case '0':
		value = value.Clone()
		err := value.Canonicalize() // which writes numbers as JavaScript does (RFC 8785)
		return string(value), err == nil
	case '{', '[':
		return "", false
	}
	return string(value), true
}

// withDefaults returns o completed by the members of defaults that o does not have, in
// nested objects too.
func withDefaults(o, defaults jsonx.Object) jsonx.Object {
	merged := defaults.Merged(o)
	for name, value := range defaults.All() {
		below, ok := jsonx.ParseObject(value)
		if above, both := jsonx.ParseObject(o.Get(name)); ok && both {
			merged = merged.WithObject(name, withDefaults(above, below))
		}
	}
	return merged
}
