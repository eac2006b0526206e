package command

import (
	"github.com/fsmtx/fsmtx/internal/claude"
	"github.com/fsmtx/fsmtx/internal/claude/switches"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// managedDir is where an organisation's settings are; another directory in tests.
var managedDir = claude.ManagedDir()

// readSwitches reads the settings that decide whether a client that starts in dir runs
// hooks.
func readSwitches(s terminal.Streams, dir string) switches.Settings {
	config, _ := claude.ConfigDir(s.Getenv)
	return switches.Read(locator.OS{}, managedDir, config, dir, s.Getenv)
}

// place returns where install puts the hooks.
func (f *installFlags) place() switches.Place {
	switch {
	case f.user:
		return switches.User
	case f.project:
		return switches.Project
	}
	return switches.Local
}

// off returns what keeps the client from running the hooks that install registers when it
// starts in the current directory.
func (f *installFlags) off(s terminal.Streams) []switches.Off {
	dir, err := directory("")
	if err != nil {
		return nil
	}
	return readSwitches(s, dir).Off(f.place())
}

// printOff prints what keeps the client from running the hooks, and reports whether there is
// such a switch.
func (f *installFlags) printOff(s terminal.Streams) bool {
	off := f.off(s)
	for _, o := range off {
		s.Errorf("the client does not run these hooks when it starts here: %s", o)
		s.Hintf("%s", o.Remedy)
	}
	return len(off) > 0
}

// switchedOff returns the switches that keep the client from running hooks in all of the
// places. One of the places is enough for the hooks to run.
func switchedOff(set switches.Settings, places ...switches.Place) (all []switches.Off) {
	for i, place := range places {
		off := set.Off(place)
		if len(off) == 0 {
			return nil
		}
		if i == 0 {
			all = off
		}
	}
	return all
}

// off reports the switches that keep the client from running hooks. If none are registered
// yet, it reports those for the place in which install registers them.
func (d *doctor) off(registered []place, plugin pluginHooks) (found []fault) {
	set := readSwitches(d.Streams, d.cwd)
	var places []switches.Place
	for _, p := range registered {
		places = append(places, p.kind)
	}
	if plugin.root != "" {
		places = append(places, set.PluginPlace(plugin.key))
	}
	if len(places) == 0 {
		places = []switches.Place{switches.Local}
	}
	for _, o := range switchedOff(set, places...) {
		found = append(found, fault{Kind: "hooks", What: o.What + ", so the client runs no hook of fsmtx when it starts in " + d.cwd + "; " + o.Remedy, File: o.File, Line: o.Line})
	}
	return found
}

// disabledPlugin reports a plugin with hooks of fsmtx that applies here, but is disabled.
func (d *doctor) disabledPlugin() (found []fault) {
	registry, set, err := d.registry()
	if err != nil {
		return nil
	}
	for _, in := range registry.Applying(d.cwd) {
		if _, path := set.Lookup(in.Key); set.Disabled(in.Key) && hasOurHooks(registry.Root(in).Dir) {
			return []fault{{Kind: "hooks", What: "disables the plugin " + in.Key + ", which has the hooks of fsmtx", File: path, Command: "claude plugin enable " + in.Key}}
		}
	}
	return nil
}
