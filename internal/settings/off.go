package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/client"
)

// Place is where hooks are registered.
type Place int

// The places. The client treats a plugin that an organisation's settings enable like these
// settings: only DisableAll of the organisation itself switches its hooks off.
const (
	User Place = iota
	Project
	Local
	Plugin
	ManagedPlugin
)

// Off is a switch that keeps the client from running hooks.
type Off struct {
	File   string // the settings file, "" if the switch is in none
	Line   int    // in File, from 1; 0 if the whole file is the cause
	What   string // `"disableAllHooks" is true`
	Remedy string // what to do

	spares []Place // the places whose hooks run all the same
}

// String returns the place of the switch and what it is.
func (o Off) String() string {
	switch {
	case o.File == "":
		return o.What
	case o.Line == 0:
		return o.File + ": " + o.What
	}
	return fmt.Sprintf("%s:%d: %s", o.File, o.Line, o.What)
}

// Effective is what decides, in the files that are in effect, whether the client runs hooks.
type Effective struct {
	managed []file // of the organisation, the lowest precedence first
	flag    []file // of the option --settings: at most one
	others  []file // the user's and the project's, the highest precedence first
	env     func(name string) (string, bool)
	client  client.Switches // of the session that this program runs in, if it does
}

// Off returns the switches that keep the client from running the hooks that are
// registered in the place, the most far-reaching first. It is a pure function of s.
func (s Effective) Off(place Place) []Off {
	return offBy(place, s.broken, s.modes, s.managedOff, s.managedOnly, s.pluginsOnly, s.off, s.leftOut, s.untrusted)
}

// OffInFiles is Off for the switches in settings files alone, whatever session this program runs in.
func (s Effective) OffInFiles(place Place) []Off {
	s.flag, s.client = nil, client.Switches{}
	return offBy(place, s.managedOff, s.managedOnly, s.pluginsOnly, s.off)
}

func offBy(place Place, switches ...func() []Off) []Off {
	var all []Off
	for _, find := range switches {
		for _, o := range find() {
			if !slices.Contains(o.spares, place) {
				all = append(all, o)
			}
		}
	}
	return all
}

// broken returns the files of the organisation with which the client does not start.
func (s Effective) broken() (all []Off) {
	for _, f := range s.managed {
		if f.broken != "" {
			all = append(all, Off{File: f.path, What: "this file of your organisation " + f.broken + ", so the client does not start",
				Remedy: "ask your administrator to correct it"})
		}
	}
	return all
}

// modes returns the modes of the client that leave hooks out, by their variables and
// options. The user's and the organisation's settings may set the variables of two of them,
// and take precedence over the environment.
func (s Effective) modes() (all []Off) {
	for _, m := range []struct {
		variable, option string
		given, settable  bool
	}{
		{"CLAUDE_CODE_SIMPLE", "--bare", s.client.Bare, true},
		{"CLAUDE_CODE_SAFE_MODE", "--safe-mode", s.client.SafeMode, true},
		{"CLAUDE_CODE_RESTRICTED", "--restricted", s.client.Restricted, false},
	} {
		if m.given {
			all = append(all, Off{What: "this session was started with " + m.option, Remedy: "start it without this option",
				spares: []Place{ManagedPlugin}})
		} else if o, ok := s.variable(m.variable, m.settable); ok {
			all = append(all, o)
		}
	}
	return all
}

func (s Effective) variable(name string, settable bool) (Off, bool) {
	if settable {
		set := false
		ofProject := func(f file) bool { return f.place == Project || f.place == Local } // it may not set these
		for _, f := range slices.Concat(s.managed, s.flag, slices.DeleteFunc(slices.Clone(s.others), ofProject)) {
			value, line := f.env(name)
			set = set || value != ""
			if client.IsTrue(value) {
				return Off{File: f.path, Line: line, What: fmt.Sprintf("it sets %s to %s", name, value),
					Remedy: "remove the variable from the file", spares: []Place{ManagedPlugin}}, true
			}
		}
		if set {
			return Off{}, false
		}
	}
	value, _ := s.env(name)
	return Off{What: fmt.Sprintf("%s is %s in the environment", name, strings.TrimSpace(value)), Remedy: "unset " + name,
		spares: []Place{ManagedPlugin}}, client.IsTrue(value)
}

const administrator = "only your administrator can change this file"

// managedOff returns the organisation's disableAllHooks, which has no exception.
func (s Effective) managedOff() []Off {
	f, on, _ := lastDisabling(s.managed)
	if !on {
		return nil
	}
	return []Off{f.off(disableAll, `"disableAllHooks" is true`, administrator)}
}

// managedOnly returns the organisation's allowManagedHooksOnly. A value of the wrong type
// counts as true, unless it is the text "false".
func (s Effective) managedOnly() []Off {
	return s.lastManaged("allowManagedHooksOnly", `"allowManagedHooksOnly" allows only the organisation's own hooks`, []Place{ManagedPlugin},
		func(v jsontext.Value, _ bool) bool { return string(v) != "false" && string(v) != `"false"` })
}

func (s Effective) pluginsOnly() []Off { return s.onlyOfPlugins("hooks") }

// SkillsOff returns what keeps the client from loading the skills and commands of the user and the project (measured
// with 2.1.329, fact 189).
func (s Effective) SkillsOff() []Off { return s.onlyOfPlugins("skills") }

// onlyOfPlugins returns the organisation's strictPluginOnlyCustomization if only plugins may have what it
// names. It is true or a list of these. The lists of several files are joined.
func (s Effective) onlyOfPlugins(what string) []Off {
	return s.lastManaged("strictPluginOnlyCustomization", `"strictPluginOnlyCustomization" allows only `+what+` of plugins`,
		[]Place{Plugin, ManagedPlugin},
		func(v jsontext.Value, before bool) bool {
			if v.Kind() == '[' {
				return before || slices.ContainsFunc(items(v), func(item jsontext.Value) bool { return string(item) == `"`+what+`"` })
			}
			return string(v) != "false"
		})
}

// lastManaged returns the switch name of the organisation's files, if it is on after the
// last of them. on decides by a value that is not null, and by the state before it.
func (s Effective) lastManaged(name, what string, spares []Place, on func(v jsontext.Value, before bool) bool) []Off {
	var by file
	isOn := false
	for _, f := range s.managed {
		v, _ := f.member(name)
		if len(v) == 0 || v.Kind() == 'n' {
			continue
		}
		now := on(v, isOn)
		if now && !isOn {
			by = f
		}
		isOn = now
	}
	if !isOn {
		return nil
	}
	o := by.off(name, what, administrator)
	o.spares = spares
	return []Off{o}
}

const disableAll = "disableAllHooks"

// off returns disableAllHooks of the file with the highest precedence that sets it. The
// organisation's own hooks run all the same.
func (s Effective) off() []Off {
	if _, _, set := lastDisabling(s.managed); set {
		return nil // true is managedOff; false overrules the other files
	}
	files := slices.Concat(s.flag, slices.DeleteFunc(slices.Clone(s.others), s.isLeftOut))
	slices.Reverse(files)
	f, on, _ := lastDisabling(files)
	if !on {
		return nil
	}
	remedy := "remove it from the file"
	isFlag := slices.ContainsFunc(s.flag, func(x file) bool { return x.path == f.path })
	if !isFlag && filepath.Base(f.path) != filepath.Base(client.LocalSettings) {
		remedy += "; or set it to false in a file that takes precedence, such as " + client.LocalSettings
	}
	o := f.off(disableAll, `"disableAllHooks" is true`, remedy)
	o.spares = []Place{ManagedPlugin}
	return []Off{o}
}

// leftOut returns the option --setting-sources for the places that it leaves out.
func (s Effective) leftOut() []Off {
	if s.client.Sources == nil {
		return nil
	}
	o := Off{What: "this session was started with --setting-sources " + strings.Join(s.client.Sources, ","),
		Remedy: "add the hooks to one of these sources, or start it without this option",
		spares: []Place{Plugin, ManagedPlugin}}
	for place, name := range sources() {
		if slices.Contains(s.client.Sources, name) {
			o.spares = append(o.spares, place)
		}
	}
	return []Off{o}
}

// sources returns the names of places in --setting-sources.
func sources() map[Place]string {
	return map[Place]string{User: "user", Project: "project", Local: "local"}
}

func (s Effective) isLeftOut(f file) bool {
	return s.client.Sources != nil && !slices.Contains(s.client.Sources, sources()[f.place])
}

// untrusted returns the variable that keeps the client in -p from running the hooks of
// a project.
func (s Effective) untrusted() []Off {
	const name = "CLAUDE_CODE_IGNORE_PERSISTED_TRUST"
	value, _ := s.env(name)
	if !client.IsTrue(value) {
		return nil
	}
	return []Off{{What: fmt.Sprintf("%s is %s in the environment, so the client runs no hooks of a project in -p", name, value),
		Remedy: "unset " + name,
		spares: []Place{User, Plugin, ManagedPlugin}}}
}
