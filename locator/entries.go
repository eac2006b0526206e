package locator

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseRegistry reads the bytes of an installed_plugins.json in either format:
// an array of entries with a name, or an object of version 2 with entries
// under their keys. An error wraps ErrMalformed. The result resolves no links
// and knows no marketplaces; [ReadRegistry] does.
func ParseRegistry(data []byte) (*Registry, error) {
	r := &Registry{}
	if err := r.parse(data); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Registry) parse(data []byte) error {
	if jsontext.Value(data).Kind() == '[' {
		return r.addArray(data)
	}
	o, err := parseObject(data)
	if err != nil {
		return err
	}
	return r.addObject(o)
}

func (r *Registry) addArray(data []byte) error {
	var entries []jsontext.Value
	if err := json.Unmarshal(data, &entries, tolerant); err != nil {
		return malformed(data, err)
	}
	for i, entry := range entries {
		r.add(fmt.Sprintf("[%d]", i), "", entry)
	}
	return nil
}

func (r *Registry) addObject(o object) error {
	if err := versionTwo(o["version"]); err != nil {
		return err
	}
	plugins, ok := o["plugins"]
	if !ok {
		return fmt.Errorf(`%w: "plugins" is missing`, ErrMalformed)
	}
	if plugins.Kind() != '{' {
		return fmt.Errorf(`%w: "plugins" is %s, and an object is wanted`, ErrMalformed, kindName(plugins))
	}
	byKey, err := parseObject(plugins)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		r.addKey(key, byKey[key])
	}
	return nil
}

func versionTwo(v jsontext.Value) error {
	if len(v) == 0 {
		return fmt.Errorf(`%w: "version" is missing`, ErrMalformed)
	}
	var version float64
	if err := json.Unmarshal(v, &version); err != nil {
		return fmt.Errorf(`%w: "version" is %s, and the number 2 is wanted`, ErrMalformed, kindName(v))
	}
	if version != 2 {
		return fmt.Errorf(`%w: "version" is %s, and 2 is wanted`, ErrMalformed, v)
	}
	return nil
}

func (r *Registry) addKey(key string, list jsontext.Value) {
	where := fmt.Sprintf("plugins[%q]", key)
	var entries []jsontext.Value
	if list.Kind() != '[' || json.Unmarshal(list, &entries, tolerant) != nil {
		r.problem(where, kindName(list)+", and an array is wanted")
		return
	}
	for i, entry := range entries {
		r.add(fmt.Sprintf("%s[%d]", where, i), key, entry)
	}
}

// add takes an entry if it can be used and notes why not if it cannot. An
// entry of an array has its key inside.
func (r *Registry) add(where, key string, entry jsontext.Value) {
	if entry.Kind() != '{' {
		r.problem(where, kindName(entry)+", and an object is wanted")
		return
	}
	o, err := parseObject(entry)
	if err == nil && key == "" {
		key, err = o.required("name")
	}
	in := Installation{Key: key}
	if err == nil {
		err = in.fill(o)
	}
	if err != nil {
		r.problem(where, "skipped: "+err.Error())
		return
	}
	// Nothing is lost without the time but a tie, so it costs no entry.
	if in.LastUpdated, err = lastUpdated(o); err != nil {
		r.problem(where, "kept, without the time: "+err.Error())
	}
	r.installations = append(r.installations, in)
}

func (r *Registry) problem(where, reason string) {
	r.problems = append(r.problems, Problem{where, reason})
}

func (in *Installation) fill(o object) (err error) {
	var named bool
	if in.Plugin, in.Marketplace, named = strings.Cut(in.Key, "@"); !named || in.Plugin == "" {
		return fmt.Errorf("its name %s is not of the form plugin@marketplace", quote(in.Key))
	}
	if in.Scope, err = o.required("scope"); err != nil {
		return err
	}
	if !slices.Contains(scopes[:], in.Scope) {
		return fmt.Errorf(`"scope" is %s, and not one of %s`, quote(in.Scope), strings.Join(scopes[:], ", "))
	}
	if in.InstallPath, err = o.required("installPath"); err != nil {
		return err
	}
	return errors.Join(absolute("installPath", in.InstallPath), in.fillProject(o))
}

// fillProject leaves the project of a user-wide installation out: it says
// nothing about where that applies.
func (in *Installation) fillProject(o object) error {
	path, err := o.text("projectPath")
	if err != nil || in.Scope == ScopeUser {
		return err
	}
	if path == "" {
		return fmt.Errorf(`"projectPath" is missing, and scope %s needs it`, in.Scope)
	}
	in.ProjectPath = path
	return absolute("projectPath", path)
}

func absolute(name, path string) error {
	if filepath.IsAbs(path) {
		return nil
	}
	return fmt.Errorf("%q is %s, which is not an absolute path", name, quote(path))
}

func lastUpdated(o object) (time.Time, error) {
	text, err := o.text("lastUpdated")
	if err != nil || text == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf(`"lastUpdated" is %s, which is no time`, quote(text))
	}
	return t, nil
}
