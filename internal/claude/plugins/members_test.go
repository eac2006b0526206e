package plugins_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMembers: what client 2.1.329 loads, measured with each of these members (fact 159).
func TestMembers(t *testing.T) {
	for _, member := range []string{
		`"hooks": {}`, `"hooks": []`, `"hooks": {"NoSuch": []}`, `"hooks": {"PostToolUse": "x"}`,
		`"hooks": {"PostToolUse": [{"hooks": [{"type": "command"}]}]}`,
		`"hooks": ["./a.json", {"Stop": []}]`, `"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}`,
		`"mcpServers": []`, `"mcpServers": "./x.mcpb"`,
		`"mcpServers": "https://x/y.mcpb"`, `"mcpServers": {"x": {"type": "http", "url": "https://x"}}`,
		`"mcpServers": {"x": {"command": "c"}}`, `"lspServers": {}`,
		`"outputStyles": "./x"`, `"channels": []`, `"monitors": []`, `"settings": {}`,
		`"userConfig": {"x": {"type": "string", "title": "t", "description": "d"}}`,
		`"metadata": 5`, `"engines": 5`, `"network": 5`, `"experimental": 5`, `"binaries": 5`, `"keywords": "x"`, `"homepage": "x"`,
		`"displayName": 5`, `"license": 5`,
		`"repository": {"url": "x"}`, `"author": "me"`, `"agents": []`, `"unknown": 5`,
	} {
		_, err := load(t, `{"name": "p", `+member+`}`, `"source": "./p"`)
		assert.NoError(t, err, member)
	}
	for _, member := range []string{
		`"hooks": 5`, `"hooks": "hooks.json"`, `"hooks": "./hooks.txt"`, `"hooks": {"PreToolUse": "x"}`,
		`"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}`,
		`"mcpServers": 5`, `"mcpServers": "mcp.json"`, `"mcpServers": {"x": {}}`, `"mcpServers": {"x": {"command": 5}}`,
		`"mcpServers": {"x": {"type": "http"}}`,
		`"lspServers": 5`, `"outputStyles": "x"`, `"themes": "x"`, `"workflows": 5`, `"channels": {}`, `"monitors": {}`, `"settings": []`,
		`"types": "x"`,
		`"userConfig": {"x": {"type": "string"}}`, `"dependencies": {"x": "1"}`, `"dependencies": ["x y"]`, `"experimental": {"themes": 5}`,
	} {
		_, err := load(t, `{"name": "p", `+member+`}`, `"source": "./p"`)
		require.Error(t, err, member)
		assert.Contains(t, err.Error(), "want ", member)
	}
}
