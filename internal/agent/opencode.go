package agent

// OpenCode is opencode, measured with 1.18.33. It runs no commands as hooks, only plugins in JavaScript, so it gets
// the MCP server alone.
func OpenCode() *Agent {
	return &Agent{
		Name: "opencode", Title: "opencode",
		Server:     Files{User: ".config/opencode/opencode.json", Project: "opencode.json", Comments: true, Beside: "c"},
		ServerPath: []string{"mcp"},
		ServerList: true, ServerFields: map[string]any{"type": "local", "enabled": true},
		Home: Home{".config", "XDG_CONFIG_HOME"},
		Skills: Dirs{
			Project: []string{".opencode/skill", ".opencode/skills", ".agents/skills", ".claude/skills"},
			User: []string{".config/opencode/skill", ".config/opencode/skills", ".opencode/skill", ".opencode/skills", ".agents/skills",
				".claude/skills"},
			Deep: true, Inside: true, Hidden: true,
		},
		heading: heading{named: filled},
	}
}
