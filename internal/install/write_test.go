package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
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
	data, err := os.ReadFile(filepath.Join(dir, path))
	require.NoError(t, err)
	return string(data)
}

func next() Plugin {
	p := small()
	p.Version = "1.3.0"
	return p
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

func TestTheVersionFollowsThePrograms(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	_, err = next().Write(dir, true)
	require.NoError(t, err)
	assert.Contains(t, content(t, dir, ".claude-plugin/plugin.json"), `"version": "1.3.0"`)
	assert.Equal(t, "1.3.0\n", content(t, dir, "bin/VERSION"))
}

// TestAnOldPluginGetsAVersion: earlier versions of this program wrote the version 0.0.0.
func TestAnOldPluginGetsAVersion(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, "bin/VERSION")))
	change(t, dir, ".claude-plugin/plugin.json", "1.2.3", "0.0.0")
	_, err = next().Write(dir, true)
	require.NoError(t, err)
	assert.Contains(t, content(t, dir, ".claude-plugin/plugin.json"), `"version": "1.3.0"`)
}

func TestARemovedSampleIsNotWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "skills")))
	_, err = next().Write(dir, true)
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(dir, "skills"))
}

func TestHooksOfRemovedPartsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	p := small()
	p.Parts = []Part{Workflows(settings.Hooks(Command, []string{}, settings.Duty{})), SkillFiles()}
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	require.Contains(t, content(t, dir, "hooks/hooks.json"), "TaskCompleted")
	now, err := ReadPlugin(dir)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, true}, pair(now.Enforces()))
	_, err = small().Write(dir, true)
	require.NoError(t, err)
	assert.NotContains(t, content(t, dir, "hooks/hooks.json"), "TaskCompleted")
	assert.NotContains(t, content(t, dir, "hooks/hooks.json"), `fsmtx guard `)
	assert.Contains(t, content(t, dir, "hooks/hooks.json"), `fsmtx hook `)
	now, err = ReadPlugin(dir)
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true}, pair(now.Enforces()))
}

func pair(a, b bool) []bool { return []bool{a, b} }

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
	now, err := ReadPlugin(dir)
	require.NoError(t, err)
	assert.True(t, now.ServesMCP())
}

// TestAMalformedHooksFileIsReported with the place of the mistake, and nothing is written.
func TestAMalformedHooksFileIsReported(t *testing.T) {
	dir := t.TempDir()
	_, err := small().Write(dir, false)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks/hooks.json"), []byte("{\n  broken\n"), 0o644))
	_, err = next().Write(dir, true)
	require.ErrorContains(t, err, filepath.Join(dir, "hooks/hooks.json")+":2:3: ")
	assert.Equal(t, "1.2.3\n", content(t, dir, "bin/VERSION"))
}
