package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/frontmatter"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/programs"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// ConfigFile is the path of a plugin's configuration, relative to the plugin's root.
const ConfigFile = "config/planning-config.yaml"

// projectConfigFile is the path of a project's own configuration, relative to the
// project's root. Its values take precedence over the plugin's.
const projectConfigFile = ".claude/planning-config.yaml"

// Config is the configuration. The value of a key is the first valid one in the project's
// file and the plugin's, else the default. A value of the wrong type or out of range is
// ignored, and so is a whole file that is missing or broken: a mistake in a file must not
// switch a guard off.
type Config struct{ layers []layer }

// layer is one file of the configuration.
type layer struct {
	path string
	root frontmatter.Value
	err  error // why an existing file cannot be read; root is then empty
}

// Mistake is a file of the configuration that is not used because it cannot be read.
type Mistake struct {
	File string
	Line int // 0 if unknown
	Text string
}

func (m Mistake) String() string {
	if m.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Text)
	}
	return m.File + ": " + m.Text
}

// Mistakes returns the files that cannot be read.
func (c Config) Mistakes() (all []Mistake) {
	for _, l := range c.layers {
		if l.err != nil { // the file has no frontmatter around it
			why := strings.Replace(l.err.Error(), "frontmatter is", "it is", 1)
			all = append(all, Mistake{l.path, frontmatter.ErrorLine(l.err), "the file is not used: " + why})
		}
	}
	return all
}

// ReadConfig returns the configuration of a project and of the plugin that this
// program belongs to.
func ReadConfig(env func(string) string, project string) Config {
	var paths []string
	if project != "" {
		paths = append(paths, filepath.Join(project, projectConfigFile))
	}
	if root := pluginRoot(env); root != "" {
		paths = append(paths, filepath.Join(root, ConfigFile))
	}
	return readConfig(paths...)
}

func readConfig(paths ...string) (c Config) {
	for _, path := range paths {
		if v, err := frontmatter.ReadYAML(path); !errors.Is(err, fs.ErrNotExist) {
			c.layers = append(c.layers, layer{path, v, err})
		}
	}
	return c
}

// ConfigOf makes a configuration of parsed YAML, for tests.
func ConfigOf(v frontmatter.Value) Config { return Config{layers: []layer{{root: v}}} }

// pluginRoot returns the root of the plugin, "" without one: CLAUDE_PLUGIN_ROOT, else
// the directory above this program's if it is a plugin's bin.
func pluginRoot(env func(string) string) string {
	if root := env("CLAUDE_PLUGIN_ROOT"); root != "" {
		return root
	}
	self, err := programs.Path()
	if err != nil {
		return ""
	}
	return rootAbove(self)
}

func rootAbove(program string) string {
	if resolved, err := filepath.EvalSymlinks(program); err == nil {
		program = resolved
	}
	root := filepath.Dir(filepath.Dir(program))
	if _, err := os.Stat(filepath.Join(root, ConfigFile)); err != nil {
		return ""
	}
	return root
}

// PluginConfig returns the configuration of the plugin in a directory.
func PluginConfig(root string) Config { return readConfig(filepath.Join(root, ConfigFile)) }

// ProjectConfig returns the configuration of the project in a directory, without a
// plugin's.
func ProjectConfig(dir string) Config { return readConfig(filepath.Join(dir, projectConfigFile)) }

// maxManifest bounds the size of a manifest; real ones have less than a kilobyte.
const maxManifest = 1 << 20

// PluginName returns the name in the manifest of the plugin that this program belongs
// to, "" without one.
func PluginName(env func(string) string) string {
	data, err := safefile.ReadFile(filepath.Join(pluginRoot(env), client.ManifestPath), maxManifest, 0)
	if err != nil {
		return ""
	}
	return jsonx.StringMember(data, "name")
}

// find returns the value at the key (names joined by dots) from the first file in which
// it is valid, or else the fallback.
func find[T any](c Config, key string, fallback T, valid func(frontmatter.Value) (T, bool)) T {
	path := strings.Split(key, ".")
	for _, l := range c.layers {
		if found, ok := valid(l.root.At(path...)); ok {
			return found
		}
	}
	return fallback
}

// Int returns the whole number at key if it is at least least.
func (c Config) Int(key string, least, fallback int) int {
	return find(c, key, fallback, func(v frontmatter.Value) (int, bool) {
		n, ok := v.Int()
		return n, ok && n >= least
	})
}

// Share returns the number x at key if 0 < x ≤ 1.
func (c Config) Share(key string, fallback float64) float64 {
	return find(c, key, fallback, func(v frontmatter.Value) (float64, bool) {
		x, ok := v.Number()
		return x, ok && x > 0 && x <= 1
	})
}

// Bool returns the boolean at key.
func (c Config) Bool(key string, fallback bool) bool {
	return find(c, key, fallback, frontmatter.Value.Bool)
}

// Text returns the text at key, on one line and trimmed, if it is not empty and fits.
func (c Config) Text(key, fallback string, fits func(string) bool) string {
	return find(c, key, fallback, func(v frontmatter.Value) (string, bool) {
		text, ok := line(v)
		return text, ok && fits(text)
	})
}

// Texts returns the texts of the list at key. Items that are not texts are left out. An
// empty list is valid, a list of other items only is not.
func (c Config) Texts(key string, fallback []string) []string { return find(c, key, fallback, texts) }

// TextsOf returns the texts of the list at key if there are n of them.
func (c Config) TextsOf(key string, n int, fallback []string) []string {
	return find(c, key, fallback, func(v frontmatter.Value) ([]string, bool) {
		all, ok := texts(v)
		return all, ok && len(all) == n
	})
}

func texts(v frontmatter.Value) ([]string, bool) {
	items := v.Items()
	all := []string{}
	for _, item := range items {
		if text, ok := line(item); ok {
			all = append(all, text)
		}
	}
	return all, len(all) > 0 || items != nil && len(items) == 0
}

// Words returns the words at key: a list of texts, or one text with spaces between the
// words, which is faster to parse.
func (c Config) Words(key string, fallback []string) []string {
	return find(c, key, fallback, func(v frontmatter.Value) ([]string, bool) {
		if text, ok := v.Text(); ok {
			return strings.Fields(text), true
		}
		return texts(v)
	})
}

// Pairs returns the entries of the mapping at key in the order of the file. A list of
// names is read as a mapping with empty values.
func (c Config) Pairs(key string, fallback []Pair) []Pair {
	return find(c, key, fallback, func(v frontmatter.Value) ([]Pair, bool) {
		var pairs []Pair
		for _, m := range v.Members() {
			text, _ := line(m.Value)
			pairs = append(pairs, Pair{OneLine(m.Key), text})
		}
		for _, item := range v.Items() {
			if name, ok := line(item); ok {
				pairs = append(pairs, Pair{Name: name})
			}
		}
		return pairs, len(pairs) > 0
	})
}

// Pair is a name and its value, in the order of the file.
type Pair struct{ Name, Value string }

func line(v frontmatter.Value) (string, bool) {
	text, ok := v.Text()
	text = strings.TrimSpace(OneLine(text))
	return text, ok && text != ""
}

// masterSwitch turns all guards off.
const masterSwitch = "hooks_enforcement"

// switchedOff returns the name of the feature flag that switches the rule off, "" if none
// does.
func (c Config) switchedOff(r Rule) string {
	for _, flag := range []string{masterSwitch, r.Flag} {
		if !c.switchedOn(flag) {
			return flag
		}
	}
	return ""
}

func (c Config) switchedOn(flag string) bool {
	return c.Bool("feature_flags."+flag+".enabled", true)
}

// breakerThreshold is the number of consecutive failures that open the breaker.
func (c Config) breakerThreshold() int {
	return c.Int("feature_flags."+masterSwitch+".circuit_breaker_threshold", 1, 3)
}

// maxBlocks is the number of consecutive blocks after which an agent or turn may end.
func (c Config) maxBlocks() int {
	return c.Int("feature_flags."+masterSwitch+".max_consecutive_blocks", 0, 3)
}

// devModeFile is the path of the file that switches all guards off while it exists. It is
// "" if the configured path is relative and there is no plugin.
func (c Config) devModeFile(root string) string {
	name := c.Text("feature_flags."+masterSwitch+".dev_mode_file", "hooks/.dev-mode",
		func(s string) bool { return filepath.IsAbs(s) || filepath.IsLocal(s) })
	switch {
	case filepath.IsAbs(name):
		return name
	case root == "":
		return ""
	}
	return filepath.Join(root, name)
}

// sessionInPath is the placeholder for the session's id in log_location.
const sessionInPath = "{session_id}"

// logLocation is the path of the decision log, with a placeholder for the session's id.
// It is "" if the log is in the directory of session files.
func (c Config) logLocation() string {
	return c.Text("feature_flags."+masterSwitch+".log_location", "", func(s string) bool {
		return filepath.IsAbs(s) && strings.Contains(filepath.Base(s), sessionInPath)
	})
}
