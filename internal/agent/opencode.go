package agent

import (
	"path/filepath"
	"slices"
)

// OpenCode is opencode. It runs no commands as hooks, only plugins in JavaScript, so it gets
// the MCP server alone.
func OpenCode() *Agent {
	return &Agent{
		Name: "opencode", Title: "opencode", Version: "1.18.33",
		Server: Files{User: ".config/opencode/opencode.json", Project: "opencode.json", Comments: true}, ServerPath: []string{"mcp"},
		ServerList: true, ServerFields: map[string]any{"type": "local", "enabled": true},
		Home: Home{".config", "XDG_CONFIG_HOME"},
		Skills: Dirs{
			Project: []string{".opencode/skill", ".opencode/skills", ".agents/skills", ".claude/skills"},
			User: []string{".config/opencode/skill", ".config/opencode/skills", ".opencode/skill", ".opencode/skills", ".agents/skills",
				".claude/skills"},
			Deep: true, Inside: true, Hidden: true,
		},
		heading: heading{named: filled, strict: true, marked: true, unclosed: true, repair: repairedByOpenCode}, plugins: pathsOfOpenCode,
		serverOff: serverOffInOpenCode,
	}
}

// pathsOfOpenCode returns the directories of "skills.paths" in the settings of the person and of the project.
// The last file that has it counts, and a relative path begins in cwd (measured with 1.18.33; files that
// OPENCODE_CONFIG and OPENCODE_CONFIG_DIR name are not read). Its plugins, which are JavaScript, bring no folders of skills.
func pathsOfOpenCode(at func(string) string, cwd string) (all []plugin) {
	home, up := at(""), upwards(cwd, at(""))
	files := []string{filepath.Join(at(".config/opencode"), "config.json")}
	add := func(dir string) {
		files = append(files, filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc"))
	}
	add(at(".config/opencode"))
	for _, dir := range slices.Backward(up) {
		add(dir)
	}
	for _, dir := range append(up, home) {
		add(filepath.Join(dir, ".opencode"))
	}
	var settings struct {
		Skills struct {
			Paths []string `json:"paths"`
		} `json:"skills"`
	}
	for _, file := range files {
		readCommented(file, &settings)
	}
	for _, dir := range settings.Skills.Paths {
		all = append(all, plugin{"", "", []string{named(dir, home, cwd)}})
	}
	return all
}
