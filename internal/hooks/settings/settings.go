// Package settings finds the hooks that an agent would run: in its settings
// files of project, user and system scope, in its extensions and its plugins.
//
// It reads and never writes, and it does not decide what a hook is: that is
// package hooks.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/fsmtx/fsmtx/internal/hooks"
)

// ErrFile means that a file is no JSON object; it wraps where and why.
var ErrFile = errors.New("not a JSON object")

// Plugin is an installed plugin that is switched on.
type Plugin struct {
	Name string
	Root string // its directory, with hooks/hooks.json in it
	Data string
}

// Finder looks for hooks.
type Finder struct {
	Dialect hooks.Dialect
	Where   hooks.Where

	// Plugins returns the plugins; asked only where the dialect has any.
	Plugins func() ([]Plugin, error)
}

// Found is what there is.
type Found struct {
	Enabled bool
	Sources []hooks.Source
	Files   []string // that exist, in the order they were read
	Trouble []error  // files that could not be used; the others count
}

// Find reads every place where the agent looks.
func (f Finder) Find() Found {
	var found Found
	var texts []jsontext.Value
	for _, place := range f.Dialect.Files(f.Where) {
		if text := f.read(&found, place.Path); text != nil {
			texts = append(texts, text)
			found.Sources = append(found.Sources, hooks.Source{Scope: place.Scope, Name: place.Path, Hooks: member(text, "hooks")})
		}
	}
	switches := f.Dialect.Switches(texts...)
	found.Enabled = switches.Enabled
	f.extensions(&found, switches)
	f.pluginSources(&found)
	found.disable(switches.Disabled)
	return found
}

// Given reads the files that the user names and no others. A file called
// hooks.json is an extension's or a plugin's and has no switches; where none of
// them has any, hooks are on.
func (f Finder) Given(paths []string) (Found, error) {
	var found Found
	var texts []jsontext.Value
	for _, path := range slices.Backward(paths) {
		text := f.read(&found, path)
		if text == nil && len(found.Trouble) == 0 {
			return Found{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		if !isHooksFile(path) {
			texts = append(texts, text)
		}
	}
	if len(found.Trouble) > 0 {
		return Found{}, errors.Join(found.Trouble...)
	}
	slices.Reverse(found.Files)
	for _, path := range paths {
		source, err := f.source(path)
		if err != nil {
			return Found{}, err
		}
		found.Sources = append(found.Sources, source)
	}
	switches := f.Dialect.Switches(texts...)
	found.Enabled = switches.Enabled || len(texts) == 0
	found.disable(switches.Disabled)
	return found, nil
}

// Source reads one file as a source, whatever it is called.
func (f Finder) Source(path string) (hooks.Source, error) { return f.source(path) }

func (f Finder) source(path string) (hooks.Source, error) {
	text, err := f.load(path)
	if err != nil {
		return hooks.Source{}, err
	}
	source := hooks.Source{Scope: hooks.Project, Name: path, Hooks: member(text, "hooks")}
	if isHooksFile(path) {
		source.Scope = hooks.Extensions
		source.Strict = f.Dialect.HasPlugins()
		source.Root = pluginRoot(path)
	}
	return source, nil
}

func isHooksFile(path string) bool { return filepath.Base(path) == "hooks.json" }

// pluginRoot is the directory above hooks/hooks.json.
func pluginRoot(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if filepath.Base(dir) == "hooks" {
		return filepath.Dir(dir)
	}
	return dir
}

func (f Finder) extensions(found *Found, switches hooks.Switches) {
	for _, dir := range f.Dialect.ExtensionDirs(f.Where) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there are none
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name(), "hooks", "hooks.json")
			if slices.Contains(switches.DisabledExtensions, e.Name()) {
				continue
			}
			if text := f.read(found, path); text != nil {
				found.Sources = append(found.Sources, hooks.Source{
					Scope: hooks.Extensions, Name: path, Hooks: member(text, "hooks"), Root: filepath.Join(dir, e.Name()),
				})
			}
		}
	}
}

func (f Finder) pluginSources(found *Found) {
	if !f.Dialect.HasPlugins() || f.Plugins == nil {
		return
	}
	plugins, err := f.Plugins()
	if err != nil {
		found.Trouble = append(found.Trouble, err)
	}
	for _, p := range plugins {
		path := filepath.Join(p.Root, "hooks", "hooks.json")
		if text := f.read(found, path); text != nil {
			found.Sources = append(found.Sources, hooks.Source{
				Scope: hooks.Extensions, Name: path, Hooks: member(text, "hooks"), Root: p.Root, Data: p.Data, Strict: true,
			})
		}
	}
}

func (found *Found) disable(names []string) {
	for i := range found.Sources {
		found.Sources[i].Disabled = names
	}
}

// read returns a file's content as JSON, nil if there is none to use.
func (f Finder) read(found *Found, path string) jsontext.Value {
	text, err := f.load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		found.Trouble = append(found.Trouble, err)
		return nil
	}
	found.Files = append(found.Files, path)
	return text
}

func (f Finder) load(path string) (jsontext.Value, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if f.Dialect.AllowsComments() {
		if standard, err := hujson.Standardize(slices.Clone(data)); err == nil {
			data = standard
		}
	}
	var o map[string]jsontext.Value
	if err := json.Unmarshal(data, &o, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrFile, err)
	}
	return data, nil
}

func member(text jsontext.Value, name string) jsontext.Value {
	var o map[string]jsontext.Value
	if err := json.Unmarshal(text, &o, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil
	}
	return o[name]
}
