package plugins

import (
	"slices"
	"strings"
	"unicode"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// A plugin.json and a marketplace's entry name skills and commands in the same way (read in
// the code of 2.1.329 and measured with it, fact 120). If the client rejects one value, it
// does not load the plugin, or does not use the entry.

// components is what a manifest or an entry says about skills and commands. A nil pointer
// means that the member is absent, which differs from an empty list.
type components struct {
	skills   *[]string // paths
	commands *commandList
	others   bool // it names agents, hooks, output styles or themes
}

// commandList is the value of "commands": paths, or commands by name.
type commandList struct {
	paths []string
	named []namedCommand
}

// namedCommand is a command that has its own name: that of a file, or with its text.
type namedCommand struct {
	name   string
	source string // a path, "" if the text is in the manifest
}

// entry is what a marketplace says about a plugin.
type entry struct {
	isRoot bool // its source is the marketplace's root
	strict bool
	components
}

// parseEntry returns a mistake for an entry that the client does not use.
func parseEntry(o object) (*entry, error) {
	e := &entry{strict: true}
	var err error
	if _, err = o.pluginName(); err != nil {
		return nil, err
	}
	if err := o.check(textMembers, "strict", "defaultEnabled"); err != nil {
		return nil, err
	}
	if v := o.members["strict"]; v.Kind() == 'f' {
		e.strict = false
	}
	if source, ok := o.members["source"]; ok && source.Kind() == '"' {
		text, _ := o.text("source")
		e.isRoot = strings.Trim(text, "./") == "" && !strings.Contains(text, "..")
	}
	e.components, err = o.components()
	return e, err
}

// textMembers are the members of an entry that have to be strings.
var textMembers = []string{"version", "description", "displayName", "homepage", "repository", "license", "category"}

// check returns a mistake if one of the members texts is not a string, or one of the switches
// is neither true nor false.
func (o object) check(texts []string, switches ...string) error {
	for _, name := range texts {
		if v, ok := o.members[name]; ok && v.Kind() != '"' {
			return v.mistake("%q: %s", name, jsonx.Got(v.Kind(), "a string"))
		}
	}
	for _, name := range switches {
		if v, ok := o.members[name]; ok && v.Kind() != 't' && v.Kind() != 'f' {
			return v.mistake("%q: %s", name, jsonx.Got(v.Kind(), "true or false"))
		}
	}
	return nil
}

// pluginName returns the member "name", and a mistake if it cannot be a plugin's.
func (o object) pluginName() (string, error) {
	name, err := o.required("name")
	if err == nil && (strings.Contains(name, " ") || strings.ContainsFunc(name, unicode.IsControl)) {
		err = o.members["name"].mistake("the name %q contains a space or a control character", name)
	}
	return name, err
}

func (o object) components() (c components, err error) {
	if v, ok := o.members["skills"]; ok {
		paths, err := v.paths("skills", func(path string) bool { return path == "." || strings.HasPrefix(path, "./") })
		if err != nil {
			return c, err
		}
		c.skills = &paths
	}
	if v, ok := o.members["commands"]; ok {
		if c.commands, err = v.commands(); err != nil {
			return c, err
		}
	}
	if v, ok := o.members["agents"]; ok {
		if _, err := v.paths("agents", func(path string) bool {
			return strings.HasPrefix(path, "./") && strings.HasSuffix(path, ".md")
		}); err != nil {
			return c, err
		}
	}
	if err := o.checkForms(); err != nil {
		return c, err
	}
	for _, name := range []string{"agents", "hooks", "outputStyles", "themes"} {
		_, ok := o.members[name]
		c.others = c.others || ok
	}
	return c, nil
}

// paths returns the paths in a string or an array of strings, each of which has to be valid.
func (v value) paths(name string, valid func(path string) bool) ([]string, error) {
	items := []value{v}
	if v.Kind() == '[' {
		var err error
		if items, err = v.items(); err != nil {
			return nil, err
		}
	}
	paths := []string{}
	for _, item := range items {
		path, err := object{members: map[string]value{name: item}}.text(name)
		if err != nil || item.absent() {
			return nil, item.mistake("%q: %s", name, jsonx.Got(item.Kind(), "a path or an array of paths"))
		}
		if !valid(path) {
			return nil, item.mistake("%q: the path %q does not begin with \"./\", or has the wrong extension", name, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func isRelative(path string) bool { return strings.HasPrefix(path, "./") }

func (v value) commands() (*commandList, error) {
	if v.Kind() != '{' {
		paths, err := v.paths("commands", isRelative)
		return &commandList{paths: paths}, err
	}
	byName, err := v.object()
	if err != nil {
		return nil, err
	}
	list := &commandList{}
	for _, name := range byName.names {
		o, err := byName.members[name].object()
		if err != nil {
			return nil, err
		}
		source, err := o.text("source")
		if err != nil {
			return nil, err
		}
		content, err := o.text("content")
		if err != nil {
			return nil, err
		}
		if (source == "") == (content == "") || source != "" && !isRelative(source) {
			return nil, o.mistake(`the command %q needs either a "source" that begins with "./", or a "content"`, name)
		}
		list.named = append(list.named, namedCommand{name, source})
	}
	return list, nil
}

// manifest is a plugin.json. The zero manifest is of a plugin that has none.
type manifest struct {
	exists bool
	name   string
	off    bool // the plugin is off unless settings enable it
	needs  []string
	components
}

// parseManifest returns a mistake for a manifest with which the client does not load the
// plugin. It ignores mistakes in members that are only shown.
func parseManifest(o object) (m manifest, err error) {
	m.exists = true
	if m.name, err = o.pluginName(); err != nil {
		return m, err
	}
	if err := o.check([]string{"version"}, "defaultEnabled"); err != nil {
		return m, err
	}
	m.off = o.members["defaultEnabled"].Kind() == 'f'
	if m.components, err = o.components(); err == nil {
		m.needs = o.dependencies()
	}
	return m, err
}

// all returns the paths of the list, those of named commands included.
func (l *commandList) all() []string {
	paths := slices.Clone(l.paths)
	for _, c := range l.named {
		if c.source != "" {
			paths = append(paths, c.source)
		}
	}
	return paths
}
