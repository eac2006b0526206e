package install

import (
	"slices"

	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// HooksOff returns the switches that keep the client from running the hooks of this program when it starts in dir, as
// Examine reports them.
func HooksOff(s terminal.Streams, dir string) ([]Fault, error) {
	d := &doctor{Streams: s, cwd: dir}
	h, _, err := d.look()
	if err != nil {
		return nil, err
	}
	return d.off(h), nil
}

// Registered reports whether hooks of this program are where the client looks when it starts in dir, or may be.
func Registered(s terminal.Streams, dir string) (bool, error) {
	d := &doctor{Streams: s, cwd: dir}
	h, _, err := d.look()
	return h.isInstalled(), err
}

// off reports the switches that keep the client from running hooks. If none are registered
// yet, it reports those for the place in which install registers them. Files that the client ignores
// are reported where they are read.
func (d *doctor) off(h hooked) (found []Fault) {
	set, plugin := settings.Here(d.Getenv, d.cwd), h.plugin
	var places []settings.Place
	for _, p := range h.registered {
		places = append(places, p.kind)
	}
	if plugin.key != "" {
		places = append(places, set.PluginPlace(plugin.key))
	}
	if len(places) == 0 {
		places = []settings.Place{settings.Local}
	}
	for _, o := range set.OffIn(places...) {
		if slices.ContainsFunc(h.broken, func(p place) bool { return p.path == o.File }) {
			continue
		}
		found = append(found, Fault{Kind: "hooks", What: o.What + ", so the client runs no hook of fsmtx when it starts in " + d.cwd + "; " +
			o.Remedy, File: o.File, Line: o.Line})
	}
	return found
}

// disabledPlugin reports a plugin with hooks of fsmtx that applies here, but is disabled.
func (d *doctor) disabledPlugin() (found []Fault) {
	registry, set, err := d.registry()
	if err != nil {
		return nil
	}
	for _, in := range registry.Applying(d.cwd) {
		if _, path := set.Lookup(in.Key); set.Disabled(in.Key) && hasOurHooks(registry.Root(in).Dir) {
			return []Fault{{Kind: "hooks", What: "disables the plugin " + in.Key + ", which has the hooks of fsmtx", File: path,
				Command: "claude plugin enable " + in.Key}}
		}
	}
	return nil
}
