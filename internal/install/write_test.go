package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// change replaces a text in a file of the plugin.
func change(t *testing.T, dir, path, old, new string) {
	t.Helper()
	text := content(t, dir, path)
	require.Contains(t, text, old)
	require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(strings.Replace(text, old, new, 1)), 0o644))
}

func content(t *testing.T, dir, path string) string {
	t.Helper()
	return string(must(os.ReadFile(filepath.Join(dir, path))))
}

// TestAnUpgradeKeepsTheAuthorsChanges to a plugin whose author in plugin.json is still fsmtx.
func TestAnUpgradeKeepsTheAuthorsChanges(t *testing.T) {
	dir := t.TempDir()
	p := small()
	p.Parts = append(p.Parts, Planning("fsmtx", ""))
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	change(t, dir, ".claude-plugin/plugin.json", `"version": "1.2.3"`, `"version":"7.0.0"`)
	change(t, dir, ".claude-plugin/plugin.json", p.description(), "How we release")
	change(t, dir, ".claude-plugin/plugin.json", `"license"`, `"keywords": ["release"], "license"`)
	change(t, dir, ".claude-plugin/marketplace.json", "One plugin", "Ours")
	change(t, dir, "skills/release-checklist/SKILL.md", "#", "# Ours:")
	change(t, dir, "config/planning-config.yaml", "\n", "\n# ours\n")
	change(t, dir, "hooks/hooks.json", `"SessionStart": [`,
		`"Notification": [{"hooks": [{"type": "command", "command": "notify-send", "args": ["x"]}]}],`+"\n    \"SessionStart\": [")
	theirs := []string{".claude-plugin/plugin.json", ".claude-plugin/marketplace.json", "skills/release-checklist/SKILL.md",
		"config/planning-config.yaml"}
	before := map[string]string{}
	for _, path := range theirs {
		before[path] = content(t, dir, path)
	}

	p.Version = "1.3.0"
	p.Programs[0].Fsmtx = []byte("#!/bin/sh\n# 1.3.0\n")
	written, err := p.Write(dir, true)

	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"README.md", "bin/fsmtx", "bin/VERSION"}, written)
	for _, path := range theirs {
		assert.Equal(t, before[path], content(t, dir, path), path)
	}
	assert.Contains(t, content(t, dir, "hooks/hooks.json"), "notify-send")
}

// TestTheVersionFollowsThePrograms, also of a plugin whose version is that of before the first release.
func TestTheVersionFollowsThePrograms(t *testing.T) {
	for _, old := range []bool{false, true} {
		dir := t.TempDir()
		must(small().Write(dir, false))
		if old {
			require.NoError(t, os.Remove(filepath.Join(dir, "bin/VERSION")))
			change(t, dir, ".claude-plugin/plugin.json", "1.2.3", "0.0.0")
		}
		p := small()
		p.Version = "1.3.0"
		must(p.Write(dir, true))
		assert.Contains(t, content(t, dir, ".claude-plugin/plugin.json"), `"version": "1.3.0"`)
		assert.Equal(t, "1.3.0\n", content(t, dir, "bin/VERSION"))
	}
}

func TestOtherServersAreKept(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	const other = `{"mcpServers": {"other": {"command": "other"}}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(other), 0o644))
	p := small()
	p.MCP, p.Programs[0].Tools = true, []byte("#!/bin/sh\n")
	_, err = p.Write(dir, true)
	require.NoError(t, err)
	assert.Contains(t, content(t, dir, ".mcp.json"), `"other": {"command": "other"}`)
	assert.True(t, must(ReadPlugin(dir)).ServesMCP())
}
