package hooks

import (
	"cmp"
	"path/filepath"
	"runtime"

	"github.com/go-json-experiment/json/jsontext"
)

// Where is what the places of settings depend on.
type Where struct {
	Home    string
	Project string
	Config  string              // the agent's own configuration directory, if it is moved
	Getenv  func(string) string // as os.Getenv
}

// Place is a settings file.
type Place struct {
	Scope Scope
	Path  string
}

// Files returns the settings files of the dialect, the one that counts most
// first.
func (d Dialect) Files(w Where) []Place { return d.files(w) }

// ExtensionDirs returns the directories that hold one directory for each
// extension, whose hooks are in hooks/hooks.json.
func (d Dialect) ExtensionDirs(w Where) []string { return d.extensions(w) }

// HasPlugins reports whether plugins bring hooks of their own.
func (d Dialect) HasPlugins() bool { return d.plugins }

// AllowsComments reports whether settings files may hold comments.
func (d Dialect) AllowsComments() bool { return d.comments }

// Switches are what settings say about all hooks.
type Switches struct {
	Enabled            bool
	Disabled           []string // names or commands of hooks not to run
	DisabledExtensions []string
}

// Switches merges settings, each the content of a file and the one that counts
// most first, and reads the switches.
func (d Dialect) Switches(settings ...jsontext.Value) Switches {
	var merged object
	for _, file := range settings {
		o, _ := parseObject(file)
		merged = underlaid(merged, o)
	}
	return Switches{d.enabled(merged), d.disabled(merged), stringsIn(merged.object("extensions"), "disabled")}
}

// underlaid returns o with the members of below that it lacks, objects inside
// likewise.
func underlaid(o, below object) object {
	merged := below.merged(o)
	for _, m := range below.members {
		under, ok := parseObject(m.value)
		if over, both := parseObject(o.get(m.name)); ok && both {
			merged = merged.withObject(m.name, underlaid(over, under))
		}
	}
	return merged
}

// settingsIn returns the places of an agent that follows Gemini CLI: .name in the
// project and at home, and a system file that a variable may move.
func settingsIn(name, etc, library, variable string) func(Where) []Place {
	return func(w Where) []Place {
		return []Place{
			{Project, filepath.Join(w.Project, name, "settings.json")},
			{User, filepath.Join(w.Home, name, "settings.json")},
			{System, cmp.Or(w.Getenv(variable), systemFile(etc, library))},
		}
	}
}

func systemFile(etc, library string) string {
	if runtime.GOOS == "darwin" {
		return filepath.Join("/Library/Application Support", library, "settings.json")
	}
	return filepath.Join("/etc", etc, "settings.json")
}

func extensionsIn(name string) func(Where) []string {
	return func(w Where) []string {
		return []string{filepath.Join(w.Project, name, "extensions"), filepath.Join(w.Home, name, "extensions")}
	}
}

// claudeFiles are the local and shared project settings, the user's, and what an
// organisation prescribes.
func claudeFiles(w Where) []Place {
	managed := "/etc/claude-code/managed-settings.json"
	if runtime.GOOS == "darwin" {
		managed = "/Library/Application Support/ClaudeCode/managed-settings.json"
	}
	return []Place{
		{System, managed},
		{Project, filepath.Join(w.Project, ".claude", "settings.local.json")},
		{Project, filepath.Join(w.Project, ".claude", "settings.json")},
		{User, filepath.Join(cmp.Or(w.Config, filepath.Join(w.Home, ".claude")), "settings.json")},
	}
}
