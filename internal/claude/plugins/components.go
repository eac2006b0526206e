package plugins

import (
	"cmp"
	"strings"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// A plugin.json and a marketplace's entry name skills and commands in the same way (read in
// the code of 2.1.329 and measured with it, fact 120).

// components is what a manifest or an entry says about skills and commands. A nil slice
// means that the member is absent, which differs from an empty list.
type components struct{ skills, commands []string } // paths

// entry is what a marketplace says about a plugin.
type entry struct {
	isRoot bool // its source is the marketplace's root
	components
}

func parseEntry(o object) *entry {
	e := &entry{components: o.components()}
	if source, err := o.text("source"); err == nil && source != "" {
		e.isRoot = strings.Trim(source, "./") == "" && !strings.Contains(source, "..")
	}
	return e
}

// manifest is a plugin.json. The zero manifest is of a plugin that has none.
type manifest struct {
	exists bool
	name   string
	components
}

// parseManifest returns a mistake for a manifest without a name, with which the client does not load the plugin.
func parseManifest(o object) (manifest, error) {
	name, err := o.required("name")
	return manifest{true, name, o.components()}, err
}

func (o object) components() components {
	return components{o.members["skills"].paths(), o.members["commands"].paths()}
}

// paths returns the paths in a string, an array of strings, or an object of commands that have a file.
func (v value) paths() []string {
	items := []value{v}
	switch v.Kind() {
	case '[':
		items, _ = v.items()
	case '{':
		items = nil
		byName, _ := v.object()
		for _, name := range byName.names {
			if c, err := byName.members[name].object(); err == nil {
				items = append(items, c.members["source"])
			}
		}
	case '"':
	default:
		return nil
	}
	paths := []string{}
	for _, item := range items {
		if path := textOf(item); path == "." || strings.HasPrefix(path, "./") {
			paths = append(paths, path)
		}
	}
	return paths
}

// textOf returns the text of a string, "" for any other value.
func textOf(v value) string {
	return jsonx.StringMember([]byte(`{"":`+cmp.Or(string(v.Value), "null")+`}`), "")
}
