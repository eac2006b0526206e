package hooks

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Scope says where hooks come from. A lower one runs first.
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

// MarshalJSON writes the scope's name.
func (s Scope) MarshalJSON() ([]byte, error) { return quote(s.String()), nil }

// Source is the hooks of one settings file, extension or plugin.
type Source struct {
	Scope Scope
	Name  string         // for people: a path or an extension's name
	Hooks jsontext.Value // event name → groups, as it was written
	Root  string         // a plugin's directory, else empty
	Data  string         // where the plugin keeps data, else empty; made if a hook runs

	// Strict means that one mistake drops the whole source, as Claude Code
	// drops a plugin's hooks.json.
	Strict bool

	// Disabled are names or commands of hooks not to run.
	Disabled []string
}

// Problem is something wrong in a configuration.
type Problem struct {
	Source  string           `json:"source,omitzero"`
	Pointer jsontext.Pointer `json:"pointer"` // RFC 6901, from the value of hooks
	Message string           `json:"message"`
	Dropped bool             `json:"dropped"` // the thing pointed at will not run
	Fatal   bool             `json:"fatal,omitzero"`
}

func (p Problem) String() string {
	where := string(p.Pointer)
	if p.Source != "" {
		where = p.Source + "#" + where
	}
	return fmt.Sprintf("%s: %s", where, p.Message)
}
