package agent

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/semver"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// manifest is what the plugin.json of a plugin says, as far as skills need it.
type manifest struct {
	Name   string         `json:"name"`
	Skills jsontext.Value `json:"skills"` // a path, or an array of paths, instead of "skills"
}

// readManifest reads the first of the files that is there. ok is false if none of them is one.
func readManifest(root string, files ...string) (m manifest, ok bool) {
	for _, file := range files {
		if data, err := safefile.ReadFile(filepath.Join(root, file), maxConfig, 0); err == nil {
			return m, json.Unmarshal(data, &m, jsonx.Tolerant) == nil && m.Name != ""
		}
	}
	return m, false
}

// dirs returns the directories of a plugin's skills. Paths out of the plugin do not count.
func (m manifest) dirs(root string) (all []string) {
	var paths []string
	switch m.Skills.Kind() {
	case '"':
		paths = []string{jsonx.StringMember([]byte(`{"x":`+string(m.Skills)+`}`), "x")}
	case '[':
		_ = json.Unmarshal(m.Skills, &paths, jsonx.Tolerant)
	default:
		paths = []string{"skills"}
	}
	for _, path := range paths {
		if filepath.IsLocal(path) {
			all = append(all, filepath.Join(root, path))
		}
	}
	return all
}

// pluginsOfCodex reads the tables [plugins."NAME@MARKETPLACE"] of config.toml. Measured with
// 0.169.0: a plugin without a table, or with "enabled = false", is not loaded; of several versions
// in the cache "local" counts, else the highest.
func pluginsOfCodex(at func(string) string, _ string) (all []plugin) {
	config := configOfCodex(at)
	if config.at("features")["plugins"] == false {
		return nil
	}
	plugins := config.at("plugins")
	for _, id := range slices.Sorted(maps.Keys(plugins)) {
		name, market, ok := strings.Cut(id, "@")
		if !ok || !isName(name) || !isName(market) || plugins.at(id)["enabled"] == false {
			continue
		}
		root := newest(filepath.Join(at(".codex/plugins/cache"), market, name))
		m, ok := readManifest(root, ".codex-plugin/plugin.json", ".claude-plugin/plugin.json")
		if root != "" && ok {
			all = append(all, plugin{name + "@" + market, m.Name + ":", m.dirs(root)})
		}
	}
	return all
}

// configOfCodex returns the person's config.toml, nil if it cannot be read. Codex does not start
// then.
func configOfCodex(at func(string) string) tables { return readTOML(at(".codex/config.toml")) }

// isName reports whether a text can be the name of one directory.
func isName(text string) bool {
	return text != "" && text == filepath.Base(text) && filepath.IsLocal(text) && text != "."
}

// newest returns the directory below dir that has the version that counts, empty if there is none.
// Versions that are not numbers are compared as texts.
func newest(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var versions []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			versions = append(versions, e.Name())
		}
	}
	switch {
	case len(versions) == 0:
		return ""
	case slices.Contains(versions, "local"):
		return filepath.Join(dir, "local")
	}
	return filepath.Join(dir, slices.MaxFunc(versions, compareVersions))
}

func compareVersions(a, b string) int {
	if semver.IsValid("v"+a) && semver.IsValid("v"+b) {
		return cmp.Or(semver.Compare("v"+a, "v"+b), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}

// extensions returns what reads the extensions of an agent that comes from the Gemini CLI: folders
// in the directory extensions of dot, or elsewhere if the folder is a link to them. Measured with
// Gemini CLI 0.61.0 and Qwen Code 0.15.10: the skills have no prefix, and one of the person or the
// project with the same name takes precedence; the extensions of a project are not read.
func extensions(dot, name string) pluginsOf {
	return func(at func(string) string, cwd string) (all []plugin) {
		dir := at(filepath.Join(dot, "extensions"))
		folders, err := os.ReadDir(dir)
		if err != nil {
			return nil
		}
		switches := enablement(filepath.Join(dir, "extension-enablement.json"))
		for _, folder := range folders {
			root := linked(filepath.Join(dir, folder.Name()), "."+name+"-extension-install.json")
			m, ok := readManifest(root, name+"-extension.json")
			if ok && enabled(switches[m.Name].Overrides, cwd) {
				all = append(all, plugin{m.Name, "", []string{filepath.Join(root, "skills")}})
			}
		}
		return all
	}
}

// pluginsOfQwen returns the directories of "skills.directories" in the settings of the person and of the project, and
// the extensions. Measured with 0.24.4: the extension's name and a colon come before a skill's. In 0.15.10 they do
// not, so a skill has both names here.
func pluginsOfQwen(at func(string) string, cwd string) (all []plugin) {
	for _, file := range settingsOfQwen(at, cwd) {
		var settings struct {
			Skills struct {
				Directories []string `json:"directories"`
			} `json:"skills"`
		}
		readCommented(file, &settings)
		for _, dir := range settings.Skills.Directories {
			if dir = strings.TrimSpace(dir); dir != "" {
				all = append(all, plugin{"", "", []string{named(dir, at(""), cwd)}})
			}
		}
	}
	for _, p := range extensions(".qwen", "qwen")(at, cwd) {
		all = append(all, plugin{p.name, p.name + ":", p.dirs}, p)
	}
	return all
}

// settingsOfQwen returns the settings of the project and of the person.
func settingsOfQwen(at func(string) string, cwd string) []string {
	return []string{filepath.Join(cwd, ".qwen", "settings.json"), at(".qwen/settings.json")}
}

// named returns the path of a directory that settings name: "~/" is the person's home, and a relative path begins in cwd.
func named(dir, home, cwd string) string {
	if rest, below := strings.CutPrefix(dir, "~/"); below {
		return filepath.Join(home, rest)
	}
	return absolute(cwd, dir)
}

// linked returns the folder of an extension: the one that its install file leads to, if it is a
// link.
func linked(root, file string) string {
	var install struct {
		Source string `json:"source"`
		Type   string `json:"type"`
	}
	data, err := safefile.ReadFile(filepath.Join(root, file), maxConfig, 0)
	if err == nil && json.Unmarshal(data, &install, jsonx.Tolerant) == nil && install.Type == "link" && filepath.IsAbs(install.Source) {
		return install.Source
	}
	return root
}

// overrides say where an extension is enabled. The last one that matches a directory counts.
type overrides struct {
	Overrides []string `json:"overrides"` // "/dir/*", or "!/dir/*" where it is disabled
}

func enablement(file string) (all map[string]overrides) {
	if data, err := safefile.ReadFile(file, maxConfig, 0); err == nil {
		_ = json.Unmarshal(data, &all, jsonx.Tolerant)
	}
	return all
}

// enabled reports whether an extension is enabled in the directory cwd.
func enabled(rules []string, cwd string) bool {
	on, here := true, strings.TrimSuffix(cwd, "/")+"/"
	for _, rule := range rules {
		dir, off := strings.CutPrefix(rule, "!")
		dir, below := strings.CutSuffix(dir, "*")
		dir = strings.TrimSuffix(dir, "/") + "/"
		if here == dir || below && strings.HasPrefix(here, dir) {
			on = !off
		}
	}
	return on
}

// pluginsOfCopilot reads the plugins that were copied, of config.json, and those that are loaded
// from a marketplace's directory, of settings.json. Measured with 1.0.102: their skills have no
// prefix.
func pluginsOfCopilot(at func(string) string, _ string) (all []plugin) {
	var config struct {
		InstalledPlugins []struct {
			Name        string `json:"name"`
			Marketplace string `json:"marketplace"`
			CachePath   string `json:"cache_path"`
			Enabled     *bool  `json:"enabled"`
		} `json:"installedPlugins"`
	}
	var settings struct {
		EnabledPlugins map[string]bool        `json:"enabledPlugins"`
		Markets        map[string]marketplace `json:"extraKnownMarketplaces"`
	}
	readCommented(at(".copilot/config.json"), &config)
	readCommented(at(".copilot/settings.json"), &settings)
	add := func(id, root string) {
		if m, ok := readManifest(root, "plugin.json", ".plugin/plugin.json", ".github/plugin/plugin.json", ".claude-plugin/plugin.json"); ok {
			all = append(all, plugin{id, "", m.dirs(root)})
		}
	}
	for _, p := range config.InstalledPlugins {
		id := strings.TrimSuffix(p.Name+"@"+p.Marketplace, "@")
		on, said := settings.EnabledPlugins[id]
		if filepath.IsAbs(p.CachePath) && (p.Enabled == nil || *p.Enabled) && (on || !said) {
			add(id, p.CachePath)
		}
	}
	for id, on := range settings.EnabledPlugins {
		name, market, _ := strings.Cut(id, "@")
		if root := settings.Markets[market].plugin(name); on && root != "" {
			add(id, root)
		}
	}
	slices.SortStableFunc(all, func(a, b plugin) int { return strings.Compare(a.name, b.name) })
	return all
}

// marketplace is a directory with plugins.
type marketplace struct {
	Source struct {
		Source string `json:"source"`
		Path   string `json:"path"`
	} `json:"source"`
}

// plugin returns the directory of a plugin, empty if the marketplace has none of the name.
func (m marketplace) plugin(name string) string {
	if m.Source.Source != "directory" || !filepath.IsAbs(m.Source.Path) {
		return ""
	}
	var list struct {
		Plugins []struct {
			Name   string         `json:"name"`
			Source jsontext.Value `json:"source"`
		} `json:"plugins"`
	}
	for _, file := range []string{".github/plugin/marketplace.json", ".claude-plugin/marketplace.json"} {
		readCommented(filepath.Join(m.Source.Path, file), &list)
		for _, p := range list.Plugins {
			var path string
			if p.Name == name && json.Unmarshal(p.Source, &path) == nil && filepath.IsLocal(path) {
				return filepath.Join(m.Source.Path, path)
			}
		}
	}
	return ""
}

// readCommented reads a JSON file that may have comments. Of one that cannot be read into remains
// as it is.
func readCommented(file string, into any) {
	data, err := safefile.ReadFile(file, maxConfig, 0)
	if err != nil {
		return
	}
	if data, err = commented.Plain(data); err == nil {
		_ = json.Unmarshal(data, into, jsonx.Tolerant)
	}
}
