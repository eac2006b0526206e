package agent

import (
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/jsonx/commented"
	"github.com/fsmtx/fsmtx/internal/safefile"
)

// pluginDirs returns the directories with an agent's plugins or extensions, whose skills are in folders somewhere below.
// Which of them are enabled does not count: the agent takes up no skill of another. at returns the absolute path of a
// file of the person, empty if it is not known.
type pluginDirs func(at func(file string) string) []string

// below returns one directory of the person.
func below(dir string) pluginDirs {
	return func(at func(string) string) []string { return []string{at(dir)} }
}

// pluginsOfCopilot are those that were copied, of config.json, and the marketplaces that are directories, of settings.json
// (measured with 1.0.102).
func pluginsOfCopilot(at func(string) string) (all []string) {
	var config struct {
		InstalledPlugins []struct {
			CachePath string `json:"cache_path"`
		} `json:"installedPlugins"`
	}
	var settings struct {
		Markets map[string]struct {
			Source struct {
				Path string `json:"path"`
			} `json:"source"`
		} `json:"extraKnownMarketplaces"`
	}
	readCommented(at(".copilot/config.json"), &config)
	readCommented(at(".copilot/settings.json"), &settings)
	for _, p := range config.InstalledPlugins {
		all = append(all, p.CachePath)
	}
	for _, m := range settings.Markets {
		all = append(all, m.Source.Path)
	}
	return all
}

// maxConfig limits the size of an agent's own files, in bytes.
const maxConfig = 8 << 20

// readCommented reads a JSON file that may have comments. Of one that cannot be read into remains
// as it is.
func readCommented(file string, into any) {
	data, err := safefile.ReadFile(file, maxConfig, 0)
	if err != nil || !filepath.IsAbs(file) {
		return
	}
	if data, err = commented.Plain(data); err == nil {
		_ = json.Unmarshal(data, into, jsonx.Tolerant)
	}
}
