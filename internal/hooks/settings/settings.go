// Package settings finds and reads the hooks that an agent would run: in its settings
// files of project, user and system scope, in its extensions and its plugins.
//
// It never writes. What a hook is and whether it is valid is left to package hooks.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxFile bounds a settings file.
const maxFile = 64 << 20

// Plugin is an installed and enabled plugin.
type Plugin struct {
	Name string
	Root string // its directory, which contains hooks/hooks.json
	Data string // where it keeps data
}

// Finder finds hooks.
type Finder struct {
	Dialect dialect.Dialect
	Where   Where

	// Plugins returns the plugins. It is called only if the dialect has any.
	Plugins func() ([]Plugin, error)
}

// Found is the hooks that were found.
type Found struct {
	Enabled bool
	Sources []hooks.Source
	Files   []string // the files that exist, in order of precedence
	Trouble []error  // files that were skipped because they could not be used
}

// Find reads every file that the agent reads.
func (f Finder) Find() Found {
	var found Found
	var texts []jsontext.Value
	for _, file := range f.Dialect.Settings.Files {
		path := f.Where.path(file)
		if text := f.read(&found, path); text != nil {
			texts = append(texts, text)
			found.Sources = append(found.Sources, hooks.Source{Scope: file.Scope, Name: path, Hooks: member(text, "hooks")})
		}
	}
	switches := f.Dialect.Switches(texts...)
	found.Enabled = switches.Enabled
	f.extensions(&found, switches)
	f.plugins(&found)
	found.disable(switches.Disabled)
	return found
}

// Given reads the files that the user names and no others. A file named hooks.json
// belongs to an extension or a plugin and has no switches; if no other file is given,
// hooks are on. A file that cannot be used is an error.
func (f Finder) Given(paths []string) (Found, error) {
	var found Found
	var texts []jsontext.Value
	var failures []error
	for _, path := range paths {
		text, err := f.load(path)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		found.Files = append(found.Files, path)
		found.Sources = append(found.Sources, SourceOf(f.Dialect, path, text))
		if !isHooksFile(path) {
			texts = append(texts, text)
		}
	}
	if len(failures) > 0 {
		return Found{}, errors.Join(failures...)
	}
	slices.Reverse(texts) // the last file on the command line has precedence
	switches := f.Dialect.Switches(texts...)
	found.Enabled = switches.Enabled || len(texts) == 0
	found.disable(switches.Disabled)
	return found, nil
}

// SourceOf returns the hooks in the content of a file, which Parse returned.
func SourceOf(d dialect.Dialect, path string, text jsontext.Value) hooks.Source {
	source := hooks.Source{Scope: dialect.Project, Name: path, Hooks: member(text, "hooks")}
	if isHooksFile(path) {
		source.Scope = dialect.Extensions
		source.Strict = d.Settings.Plugins
		source.Root = pluginRoot(path)
	}
	return source
}

func isHooksFile(path string) bool { return filepath.Base(path) == "hooks.json" }

// pluginRoot returns the directory above hooks/hooks.json.
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

func (f Finder) extensions(found *Found, switches dialect.Switches) {
	for _, dir := range f.Where.extensionDirs(f.Dialect) {
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
					Scope: dialect.Extensions, Name: path, Hooks: member(text, "hooks"), Root: filepath.Join(dir, e.Name()),
				})
			}
		}
	}
}

func (f Finder) plugins(found *Found) {
	if !f.Dialect.Settings.Plugins || f.Plugins == nil {
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
				Scope: dialect.Extensions, Name: path, Hooks: member(text, "hooks"), Root: p.Root, Data: p.Data, Strict: true,
			})
		}
	}
}

func (found *Found) disable(names []string) {
	for i := range found.Sources {
		found.Sources[i].Disabled = names
	}
}

// read returns the content of a file, nil if it does not exist or cannot be used.
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

// load reads a file. Mistakes in it are reported as path:line:column: message.
func (f Finder) load(path string) (jsontext.Value, error) {
	data, err := safefile.ReadFile(path, maxFile, 0)
	if err != nil {
		return nil, err
	}
	text, err := Parse(f.Dialect, data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return text, nil
}
