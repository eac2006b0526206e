package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/jsonx"
)

// ParseRegistry parses the content of an installed_plugins.json in either form: an
// object of version 2 with arrays of entries by key (measured with 2.1.197, fact 27), or
// an array of entries that each have a name, as the requirements describe it. Errors are
// of type [*FileError], with path, and wrap ErrBadFile. Unlike [ReadRegistry] the
// result resolves no symbolic links and has no marketplaces.
func ParseRegistry(path string, data []byte) (*Registry, error) {
	r := &Registry{path: path}
	if err := r.parse(data); err != nil {
		return nil, &FileError{path, err}
	}
	return r, nil
}

func (r *Registry) parse(data []byte) error {
	if err := jsonx.Check(data, jsonx.Tolerant); err != nil {
		return err
	}
	text := jsontext.Value(bytes.TrimLeft(data, " \t\r\n"))
	root := jsonx.Part{Value: text, Offset: len(data) - len(text)}
	if text.Kind() == '[' {
		r.addList(data, root)
		return nil
	}
	var version, byKey jsonx.Part
	for p, err := range jsonx.Parts(text) {
		switch p.Offset += root.Offset; {
		case err != nil:
			return mistakeAt(data, root.Offset, "%s", jsonx.Got(text.Kind(), "an object"))
		case p.Name == "version":
			version = p
		case p.Name == "plugins":
			byKey = p
		}
	}
	var number float64
	if json.Unmarshal(version.Value, &number) != nil || number != 2 {
		return mistakeAt(data, max(version.Offset, root.Offset), `"version" has to be 2`)
	}
	if byKey.Value.Kind() != '{' {
		return mistakeAt(data, max(byKey.Offset, root.Offset), `"plugins" has to be an object`)
	}
	for list := range jsonx.Parts(byKey.Value) {
		list.Offset += byKey.Offset
		r.addList(data, list)
	}
	slices.SortStableFunc(r.all, func(a, b Installation) int { return cmp.Compare(a.Key, b.Key) })
	return nil
}

// addList adds the entries of a key, or of an array.
func (r *Registry) addList(data []byte, list jsonx.Part) {
	if list.Value.Kind() != '[' {
		r.problem(data, list.Offset, list.Name, jsonx.Got(list.Value.Kind(), "an array"))
		return
	}
	for p := range jsonx.Parts(list.Value) {
		in, err := installationOf(list.Name, p.Value)
		if err != nil {
			r.problem(data, list.Offset+p.Offset, cmp.Or(list.Name, "an entry"), "skipped: "+err.Error())
			continue
		}
		r.all = append(r.all, in)
	}
}

func (r *Registry) problem(data []byte, offset int, what, why string) {
	r.problems = append(r.problems, &FileError{r.path, mistakeAt(data, offset, "%s: %s", what, why)})
}

// installationOf returns an entry of the registry. key is empty for an entry of an array, which names it.
func installationOf(key string, v jsontext.Value) (in Installation, err error) {
	var e struct {
		Name        string `json:"name"`
		Scope       string `json:"scope"`
		ProjectPath string `json:"projectPath"`
		InstallPath string `json:"installPath"`
		LastUpdated any    `json:"lastUpdated"`
	}
	if err := json.Unmarshal(v, &e, jsonx.Tolerant); err != nil {
		if syntax, ok := errors.AsType[*jsonx.SyntaxError](jsonx.Explain(v, err)); ok {
			err = syntax.Err
		}
		return in, err
	}
	in = Installation{Key: cmp.Or(key, e.Name), Scope: e.Scope, InstallPath: e.InstallPath}
	named := false
	in.Plugin, in.Marketplace, named = strings.Cut(in.Key, "@")
	if !in.everywhere() {
		in.ProjectPath = e.ProjectPath
	}
	updated, _ := e.LastUpdated.(string)
	in.LastUpdated, _ = time.Parse(time.RFC3339, updated) // it only orders installations of one scope
	switch {
	case !named || in.Plugin == "":
		return in, fmt.Errorf("the name %q does not have the form plugin@marketplace", in.Key)
	case !slices.Contains(scopes, in.Scope):
		return in, fmt.Errorf(`"scope" is %q, want one of %s`, in.Scope, strings.Join(scopes, ", "))
	case !filepath.IsAbs(in.InstallPath):
		return in, fmt.Errorf(`"installPath" is %q, want an absolute path`, in.InstallPath)
	case !in.everywhere() && !filepath.IsAbs(in.ProjectPath):
		return in, fmt.Errorf(`"projectPath" is %q, want an absolute path`, in.ProjectPath)
	}
	return in, nil
}
