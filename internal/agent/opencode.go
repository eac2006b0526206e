package agent

import "path/filepath"

// OpenCode is opencode. It runs no commands as hooks, only plugins in JavaScript, so it gets
// the MCP server alone.
func OpenCode() *Agent {
	return &Agent{
		Name: "opencode", Title: "opencode", Version: "1.18.33",
		Server: Files{User: ".config/opencode/opencode.json", Project: "opencode.json", Comments: true}, ServerPath: []string{"mcp"},
		ServerList: true, ServerFields: map[string]any{"type": "local", "enabled": true},
		Home: Home{Dir: ".config/opencode"},
		Skills: Dirs{
			Project: []string{".opencode/skill", ".opencode/skills", ".agents/skills", ".claude/skills"},
			User: []string{".config/opencode/skill", ".config/opencode/skills", ".opencode/skill", ".opencode/skills", ".agents/skills",
				".claude/skills"},
			Deep: true, Inside: true, Hidden: true,
		},
		heading: heading{named: filled, marked: true, unclosed: true}, plugins: pathsOfOpenCode,
	}
}

// pathsOfOpenCode returns the directories that the person's settings name. Its plugins, which are
// JavaScript, bring no folders of skills.
func pathsOfOpenCode(at func(string) string, _ string) (all []plugin) {
	var settings struct {
		Skills struct {
			Paths []string `json:"paths"`
		} `json:"skills"`
	}
	readCommented(at(".config/opencode/opencode.json"), &settings)
	for _, dir := range settings.Skills.Paths {
		if filepath.IsAbs(dir) {
			all = append(all, plugin{"", "", []string{dir}})
		}
	}
	return all
}
