package plugins

import (
	"path/filepath"
	"slices"
	"strings"
)

// atTop are the names that make a directory of --plugin-dir one plugin (read in the code of
// 2.1.329).
var atTop = []string{
	".claude-plugin", "commands", "agents", "skills", "hooks", "output-styles", "themes", "workflows", "monitors",
	".mcp.json", ".lsp.json", SkillFile,
}

// Expand returns the directories of the plugins that a --plugin-dir stands for: itself, or
// each folder in it that has a manifest (measured with 2.1.329, fact 124).
func Expand(fsys FS, dir string) []string {
	has := func(parts ...string) bool {
		_, err := fsys.Stat(filepath.Join(append([]string{dir}, parts...)...))
		return err == nil
	}
	if has(ManifestPath) {
		return []string{dir}
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return []string{dir}
	}
	isMarketplace := has(MarketplacePath)
	var below []string
	for _, entry := range entries {
		name := entry.Name()
		isPlain := isMarketplace && name == ".claude-plugin" || !slices.Contains(atTop, name)
		switch manifest := has(name, ManifestPath); {
		case !isPlain && !manifest:
			return []string{dir}
		case manifest && !strings.HasPrefix(name, "."):
			below = append(below, filepath.Join(dir, name))
		}
	}
	return below
}
