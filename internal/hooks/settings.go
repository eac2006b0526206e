package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// maxFile is the maximum size in bytes of a file with hooks.
const maxFile = 64 << 20

// Plugin is an installed and enabled plugin.
type Plugin struct {
	Name string
	Root string // its directory, which contains hooks/hooks.json
	Data string // its data directory
}

// Finder finds the hooks of one agent.
type Finder struct {
	Dialect dialect.Dialect
	Where   Where

	// Plugins returns the plugins. It is called only if the agent has plugins.
	Plugins func() ([]Plugin, error)

	// Off returns why the agent runs no hooks of a place, "" if it runs them. plugin is the name of the plugin
	// that has the hooks, "" for others. nil: the switch of the dialect holds for all hooks.
	Off func(scope dialect.Scope, plugin string) string

	// Active are the names of the skills that were called in the session.
	Active []string
}

// Found is the result of a search.
type Found struct {
	Enabled  bool
	Sources  []Source
	Files    []string // the files that exist, in order of precedence
	Unusable []string // the files that exist and could not be read or parsed
	Skills   []string // the names of the skills that have hooks
	Env      []string // variables that the settings set for hooks, as NAME=VALUE
	Requests dialect.Requests

	Trouble []error // the reasons for which files or hooks were skipped

	off  []string // the reasons for which sources with hooks were left out
	left []Source // these sources
}

// Find reads every file that the agent reads.
func (f Finder) Find() Found {
	var found Found
	var texts, trusted []jsontext.Value
	var sources []Source
	for _, file := range f.Dialect.Settings.Files {
		for _, path := range f.Where.paths(f.Dialect, file) {
			if path == "" {
				continue
			}
			if text := f.read(&found, path); text != nil {
				texts = append(texts, text)
				if file.Scope != dialect.Project {
					trusted = append(trusted, text)
				}
				source := Source{Scope: file.Scope, Name: path, Hooks: hooksOf(text), Settings: true}
				if file.In != dialect.Managed { // which is kept without the members that have mistakes (fact 114)
					source.Mistakes = slices.Concat(f.Dialect.Settings.Mistakes(text), mistakes(f.Dialect, text))
				}
				sources = append(sources, source)
			}
		}
	}
	switches := f.Dialect.Switches(f.withoutDropped(sources, texts)...)
	found.Enabled, found.Env, found.Requests = switches.Enabled, switches.Env, switches.Requests
	for _, source := range sources {
		f.add(&found, source, "")
	}
	f.extensions(&found, switches)
	f.plugins(&found, trusted)
	f.skills(&found)
	if features := f.Dialect.Settings.Features; features != nil {
		text, _ := safefile.ReadFile(f.Where.path(f.Dialect, *features), maxFile, 0) // without it they are on
		found.Enabled = found.Enabled && !turnsOff(string(text))
	}
	if f.Off != nil && !found.Enabled {
		found.Enabled = slices.ContainsFunc(found.Sources, func(s Source) bool { return s.Hooks != nil })
	}
	if found.Enabled {
		for _, why := range found.off {
			found.Trouble = append(found.Trouble, fmt.Errorf("%s: no others run", why))
		}
	} else {
		found.Sources = append(found.Sources, found.left...)
	}
	found.disable(switches.Disabled)
	return found
}

// add adds a source, unless the agent runs no hooks of its place.
func (f Finder) add(found *Found, source Source, plugin string) {
	if f.Off != nil {
		if why := f.Off(source.Scope, plugin); why != "" {
			if source.Hooks == nil {
				return
			}
			found.left = append(found.left, source)
			if !slices.Contains(found.off, why) {
				found.off = append(found.off, why)
			}
			return
		}
	}
	found.Sources = append(found.Sources, source)
}

// withoutDropped returns the contents of settings files without those that the agent drops
// because of a mistake in their hooks, because it then ignores their switches too.
func (f Finder) withoutDropped(sources []Source, texts []jsontext.Value) []jsontext.Value {
	var kept []jsontext.Value
	for i, s := range sources {
		if !dropsFile(f.Dialect, s) {
			kept = append(kept, texts[i])
		}
	}
	return kept
}

// turnsOff reports whether a TOML file turns hooks off.
func turnsOff(text string) bool {
	_, features, _ := strings.Cut("\n"+text, "\n[features]")
	if end := strings.Index(features, "\n["); end >= 0 {
		features = features[:end]
	}
	return regexp.MustCompile(`(?m)^\s*(?:codex_)?hooks\s*=\s*false\b`).MatchString(features) ||
		regexp.MustCompile(`(?m)^features\.(?:codex_)?hooks\s*=\s*false\b`).MatchString(text)
}

// Given reads only the files that the user names. A file named hooks.json belongs to an
// extension or a plugin and has no switches: if no settings file is given, hooks are on. An
// error is returned if one of the files cannot be read or parsed.
func (f Finder) Given(paths []string) (Found, error) {
	var found Found
	var texts []jsontext.Value
	var failures []error
	hasSettings := false
	for _, path := range paths {
		source, text, err := f.given(path)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		found.Files = append(found.Files, path)
		found.Sources = append(found.Sources, source)
		if !isSettingsFile(path) {
			continue
		}
		hasSettings = true
		if !dropsFile(f.Dialect, source) {
			texts = append(texts, text)
		}
	}
	if len(failures) > 0 {
		return Found{}, errors.Join(failures...)
	}
	slices.Reverse(texts) // the last file on the command line has precedence
	switches := f.Dialect.Switches(texts...)
	found.Enabled, found.Env, found.Requests = switches.Enabled || !hasSettings, switches.Env, switches.Requests
	found.disable(switches.Disabled)
	return found, nil
}

// given reads one file that the user names. text is the content of a JSON file.
func (f Finder) given(path string) (source Source, text jsontext.Value, err error) {
	if isSkillFile(path) {
		source, err = f.skill(path)
		return source, nil, err
	}
	if text, err = f.load(path); err != nil {
		return Source{}, nil, err
	}
	return sourceOf(f.Dialect, path, text), text, nil
}

// sourceOf returns the hooks in the content of a file, which parseFile returned.
func sourceOf(d dialect.Dialect, path string, text jsontext.Value) Source {
	source := Source{Name: path, Hooks: hooksOf(text)}
	if isHooksFile(path) {
		source.Scope, source.Root = dialect.Extensions, pluginRoot(path)
		if filepath.Base(source.Root) == d.Settings.ConfigDir {
			source.Root = "" // the agent's own file has that name, too
		}
		if !isManifest(path) {
			source.Mistakes = mistakes(d, text)
		}
	} else {
		source.Scope, source.Mistakes, source.Settings = dialect.Project, d.Settings.Mistakes(text), true
	}
	return source
}

// isSettingsFile reports whether a file may have switches.
func isSettingsFile(path string) bool { return !isSkillFile(path) && !isHooksFile(path) }

// isHooksFile reports whether a file is one of a plugin or an extension: hooks.json, the manifest, or
// any file in the directory hooks of a plugin, which the manifest may name.
func isHooksFile(path string) bool {
	if filepath.Base(path) == "hooks.json" || isManifest(path) {
		return true
	}
	root := pluginRoot(path)
	return filepath.Base(filepath.Dir(path)) == "hooks" && slices.ContainsFunc(manifestDirs(), func(dir string) bool {
		_, err := os.Stat(filepath.Join(root, dir, manifestName))
		return err == nil
	})
}

// isManifest reports whether a file is the manifest of a plugin, which may have hooks or name files
// with hooks.
func isManifest(path string) bool {
	abs, err := filepath.Abs(path)
	return err == nil && filepath.Base(abs) == manifestName && slices.Contains(manifestDirs(), filepath.Base(filepath.Dir(abs)))
}

const manifestName = "plugin.json"

func manifestDirs() []string { return []string{".claude-plugin", ".codex-plugin"} }

// pluginRoot returns the plugin's directory: that of the file, or its parent if that is named hooks or
// has the manifest.
func pluginRoot(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if name := filepath.Base(dir); name == "hooks" || slices.Contains(manifestDirs(), name) {
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
				found.Sources = append(found.Sources, Source{
					Scope: dialect.Extensions, Name: path, Hooks: hooksOf(text), Root: filepath.Join(dir, e.Name()),
				})
			}
		}
	}
}

// plugins adds the hooks of plugins. trusted are the settings outside the project: only these
// may set the options of plugins, because the project's author must not configure them.
func (f Finder) plugins(found *Found, trusted []jsontext.Value) {
	if !f.Dialect.Settings.Plugins || f.Plugins == nil {
		return
	}
	plugins, err := f.Plugins()
	if err != nil {
		found.Trouble = append(found.Trouble, err)
	}
	for _, p := range plugins {
		f.skillsIn(found, p.Root, p.Root, p.Name)
		options := f.options(trusted, p.Name)
		for _, file := range f.hooksOf(found, p) {
			if file.Hooks == nil {
				text := f.read(found, file.Name)
				if text == nil {
					continue
				}
				file.Hooks = hooksOf(text)
			}
			file.Scope, file.Root, file.Data = dialect.Extensions, p.Root, p.Data
			file.Options = options
			f.add(found, file, p.Name)
		}
	}
}

// hooksOf returns the sources of a plugin's hooks: hooks/hooks.json, and the files and objects
// in the member hooks of its plugin.json. Hooks of a source that is a file are nil.
func (f Finder) hooksOf(found *Found, p Plugin) []Source {
	all := []Source{{Name: filepath.Join(p.Root, "hooks", "hooks.json")}}
	manifest := filepath.Join(p.Root, ".claude-plugin", "plugin.json")
	text := f.read(found, manifest)
	if text == nil {
		return all
	}
	found.Files = found.Files[:len(found.Files)-1] // read added it, but it is not a settings file
	values := []jsontext.Value{hooksOf(text)}
	if items, isList := jsonx.Array(values[0]); isList {
		values = items
	}
	for _, value := range values {
		if path, isPath := jsonx.String(value); isPath {
			path = filepath.Join(p.Root, path)
			if !slices.ContainsFunc(all, func(s Source) bool { return s.Name == path }) {
				all = append(all, Source{Name: path})
			}
		} else if value.Kind() == '{' {
			all = append(all, Source{Name: manifest, Hooks: value})
		}
	}
	return all
}

func (found *Found) disable(names []string) {
	for i := range found.Sources {
		found.Sources[i].Disabled = names
	}
}

// read returns the content of a file and records the file in found. It returns nil if the file
// does not exist, or cannot be read or parsed.
func (f Finder) read(found *Found, path string) jsontext.Value {
	text, err := f.load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case err != nil:
		found.Trouble = append(found.Trouble, err)
		found.Unusable = append(found.Unusable, path)
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
	text, err := parseFile(f.Dialect, data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return text, nil
}
