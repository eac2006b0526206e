package hooks

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// Source is the hooks of one settings file, extension or plugin.
type Source struct {
	Scope dialect.Scope
	Name  string         // for people: a path or an extension's name
	Hooks jsontext.Value // event name → groups, as written
	Root  string         // the plugin's directory; empty for other sources
	Data  string         // the plugin's data directory; created when a hook runs

	// Skill is the name of the skill whose frontmatter has the hooks; empty for other
	// sources. The hooks run only while the skill is active.
	Skill string
	// Inactive is set if the skill has not been called in the session.
	Inactive bool
	// Options are the values that the user chose for the plugin's options.
	Options map[string]string

	// Mistakes are those in the file, outside of Hooks, for which the agent drops it.
	Mistakes []string
	// Lenient keeps the hooks of a source that the agent drops because of a mistake.
	Lenient bool
	// Settings is set for a file of settings, which the agent drops with its hooks.
	Settings bool

	// Disabled lists names and commands of hooks that do not run.
	Disabled []string
}

// Problem is a mistake in a configuration.
type Problem struct {
	Source  string           `json:"source,omitzero"`
	Pointer jsontext.Pointer `json:"pointer"` // RFC 6901, below the member hooks
	Message string           `json:"message"`
	Hook    string           `json:"hook,omitzero"`  // the hook's name or command
	Dropped bool             `json:"dropped"`        // what the pointer points to does not run
	Fatal   bool             `json:"fatal,omitzero"` // the agent drops the whole source
}

// lost says what the agent drops with the source, which has this number of valid hooks.
func (s Source) lost(d dialect.Dialect, valid int) string {
	if s.Skill != "" {
		return fmt.Sprintf("%s drops all hooks of the skill because of a mistake in one of them, including the valid ones (%d)",
			d.Title, valid)
	}
	text := fmt.Sprintf("%s drops this whole file because of a mistake in it: its valid hooks (%d)", d.Title, valid)
	if s.Settings {
		text += " and every other setting, such as permissions"
	}
	return text
}

func (p Problem) String() string {
	where := string(p.Pointer)
	if p.Source != "" {
		where = p.Source + "#" + where
	}
	return fmt.Sprintf("%s: %s", where, p.Message)
}
