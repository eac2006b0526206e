package plugins

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ParseRegistry parses the content of an installed_plugins.json in either form: an
// object of version 2 with arrays of entries by key (measured with 2.1.197, fact 27), or
// an array of entries that each have a name, as the requirements describe it. Errors are
// of type [*FileError], with path, and wrap ErrMalformed. Unlike [ReadRegistry] the
// result resolves no symbolic links and has no marketplaces.
func ParseRegistry(path string, data []byte) (*Registry, error) {
	r := &Registry{path: path, parsed: map[string]*parser{}, byPlugin: map[string][]string{}}
	root, err := parse(data)
	if err == nil {
		err = r.add(root)
	}
	if err != nil {
		return nil, &FileError{path, err}
	}
	return r, nil
}

func (r *Registry) add(root value) error {
	if entries, err := root.items(); err == nil {
		r.array = &parser{path: r.path}
		for i, entry := range entries {
			r.array.addEntry(fmt.Sprintf("[%d]", i), "", entry)
		}
		return nil
	}
	o, err := root.object()
	if err != nil {
		return err
	}
	byKey, err := pluginsOf(o)
	if err != nil {
		return err
	}
	r.keys, r.lists = slices.Sorted(maps.Keys(byKey.members)), byKey.members
	for _, key := range r.keys {
		plugin, _, _ := strings.Cut(key, "@")
		r.byPlugin[plugin] = append(r.byPlugin[plugin], key)
	}
	return nil
}

// parser collects the entries of one key, or of an array.
type parser struct {
	path          string
	installations []Installation
	problems      []error
}

func pluginsOf(o object) (object, error) {
	if err := checkVersion(o); err != nil {
		return object{}, err
	}
	list, ok := o.members["plugins"]
	if !ok {
		return object{}, o.mistake(`"plugins" is missing`)
	}
	if list.Kind() != '{' {
		return object{}, list.mistake(`"plugins": %s`, jsonx.Got(list.Kind(), "an object"))
	}
	return list.object()
}

func checkVersion(o object) error {
	v, ok := o.members["version"]
	if !ok {
		return o.mistake(`"version" is missing`)
	}
	if v.Kind() != '0' {
		return v.mistake(`"version": %s`, jsonx.Got(v.Kind(), "the number 2"))
	}
	var version float64
	if err := json.Unmarshal(v.Value, &version); err != nil || version != 2 {
		return v.mistake(`"version" is %s, want 2`, v.Value)
	}
	return nil
}

func (p *parser) addKey(key string, list value) {
	where := fmt.Sprintf("plugins[%q]", key)
	entries, err := list.items()
	if err != nil {
		p.problem(where, err)
	}
	for i, entry := range entries {
		p.addEntry(fmt.Sprintf("%s[%d]", where, i), key, entry)
	}
}

// addEntry adds the entry, or a problem if the entry is unusable. key is empty for an
// entry of an array: there it is the member "name".
func (p *parser) addEntry(where, key string, entry value) {
	o, err := entry.object()
	if err == nil && key == "" {
		key, err = o.required("name")
	}
	in := Installation{Key: key}
	if err == nil {
		err = in.fill(o)
	}
	if err != nil {
		p.problem(where+" skipped", err)
		return
	}
	// The time only orders installations of one scope, so the entry is usable without it.
	if in.LastUpdated, err = lastUpdated(o); err != nil {
		p.problem(where+" used without its time", err)
	}
	p.installations = append(p.installations, in)
}

// problem adds a problem. In the text of a mistake, where is put between the position
// and the message.
func (p *parser) problem(where string, err error) {
	if m, ok := errors.AsType[*mistake](err); ok {
		err = &mistake{m.at, fmt.Errorf("%s: %w", where, m.err)}
	}
	p.problems = append(p.problems, &FileError{p.path, err})
}

func (in *Installation) fill(o object) (err error) {
	var named bool
	if in.Plugin, in.Marketplace, named = strings.Cut(in.Key, "@"); !named || in.Plugin == "" {
		return o.mistake("the name %q does not have the form plugin@marketplace", in.Key)
	}
	if in.Scope, err = o.required("scope"); err != nil {
		return err
	}
	if !slices.Contains(scopes, in.Scope) {
		return o.members["scope"].mistake(`"scope" is %q, want one of %s`, in.Scope, strings.Join(scopes, ", "))
	}
	if in.InstallPath, err = o.absolute("installPath"); err != nil {
		return err
	}
	return in.fillProject(o)
}

// fillProject sets ProjectPath, except for an installation that applies everywhere.
func (in *Installation) fillProject(o object) error {
	path, err := o.text("projectPath")
	if err != nil || in.everywhere() {
		return err
	}
	if path == "" {
		return o.mistake(`"projectPath" is missing, which scope %s needs`, in.Scope)
	}
	in.ProjectPath, err = o.absolute("projectPath")
	return err
}

// absolute is like required, but also fails if the path is not absolute.
func (o object) absolute(name string) (string, error) {
	path, err := o.required(name)
	if err == nil && !filepath.IsAbs(path) {
		err = o.members[name].mistake("%q is %q, want an absolute path", name, path)
	}
	return path, err
}

func lastUpdated(o object) (time.Time, error) {
	text, err := o.text("lastUpdated")
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, o.members["lastUpdated"].mistake(`"lastUpdated" is %q, want a time such as 2026-01-02T15:04:05Z`, text)
	}
	return t, nil
}
