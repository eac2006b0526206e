package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
)

// Each mistake is found, and what is like it and right is not: the first content of a row has the findings, the others none.
func TestMistakes(t *testing.T) {
	hook := func(event, group, rest string) string {
		return `{"hooks": {"` + event + `": [{` + group + `"hooks": [{"type": "command", "command": "true"` + rest + `}]}]}}`
	}
	claude, llxprt := dialect.Claude(), dialect.LLxprt()
	for name, c := range map[string]struct {
		dialect dialect.Dialect
		path    string
		found   []string
		content []string // with the mistake, and without
	}{
		"milliseconds for seconds": {claude, "settings.json", []string{"1:71: warning: the timeout is 16m40s: " +
			"Claude Code counts in seconds, not milliseconds"},
			[]string{hook("Stop", "", `, "timeout": 1000`), hook("Stop", "", `, "timeout": 999`), hook("Stop", "", `, "timeout": 1200`)}},
		"an odd number of seconds": {claude, "settings.json", []string{"the timeout is 41m41s: Claude Code counts in seconds"},
			[]string{hook("Stop", "", `, "timeout": 2501`), hook("Stop", "", `, "timeout": 2520`)}},
		"seconds for milliseconds": {llxprt, "settings.json", []string{"the timeout is 999ms: LLxprt Code counts in milliseconds, not seconds"},
			[]string{hook("BeforeTool", "", `, "timeout": 999`), hook("BeforeTool", "", `, "timeout": 1000`)}},
		"a member twice": {claude, "settings.json", []string{`another "hooks" below replaces this one`, `known are`},
			[]string{"{\"hooks\": {},\n\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"comand\"}]}]}}", hook("Stop", "", "")}},
		"an event outside": {claude, "settings.json", []string{`the event Stop stands outside the member "hooks": its hooks never run`},
			[]string{strings.Replace(hook("Stop", "", ""), "{", `{"Stop": [{}], `, 1), strings.Replace(hook("Stop", "", ""), "{", `{"Stop": [], `,
				1)}},
		"a mistake that drops the file hides no other": {claude, "settings.json", []string{"1:1: error: ", "known are", "the timeout is"},
			[]string{strings.Replace(hook("Stop", "", `, "timeout": 1000`), `{"Stop"`, `{"PreToolUse": [{"hooks": [{"type": "comand"}]}], "Stop"`,
				1)}},
		"a variable that the shell would know": {claude, "settings.json", []string{"HOME"},
			[]string{hook("Stop", "", `, "args": ["${HOME}"]`), hook("Stop", "", `, "args": ["${CLAUDE_PROJECT_DIR}"]`)}},
		"a matcher of two hooks": {claude, "settings.json", []string{`the matcher "Bsh" matches no tool of Claude Code`},
			[]string{strings.Replace(hook("PreToolUse", `"matcher": "Bsh", `, ""), `[{"type"`, `[{"type": "command", "command": "test"}, {"type"`,
				1),
				hook("PreToolUse", `"matcher": "Bash", `, "")}},
	} {
		for i, content := range c.content {
			found := Checker{Dialect: c.dialect, Project: t.TempDir(), Getenv: os.Getenv}.Content(filepath.Join(t.TempDir(), c.path),
				[]byte(content))
			if i > 0 {
				assert.Empty(t, found, "%s: %s", name, content)
				continue
			}
			require.Len(t, found, len(c.found), "%s: %s", name, found)
			for j, want := range c.found {
				assert.Contains(t, found[j].String(), want, name)
			}
		}
	}
}

// The manifest of a plugin names files with hooks.
func TestFilesOfAManifest(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"plugin/hooks.json", "outside.json"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(`{"hooks": {}}`), 0o644))
	}
	for path, want := range map[string]string{
		"./hooks.json": "", "hooks.json": "has to begin with ./", "./hooks.txt": "end with .json", "./missing.json": "does not exist",
		"./../outside.json": "is outside the plugin",
	} {
		found := Checker{Dialect: dialect.Claude(), Getenv: os.Getenv}.Content(filepath.Join(root, "plugin/.claude-plugin/plugin.json"),
			[]byte(`{"name": "p", "hooks": "`+path+`"}`))
		if want == "" {
			assert.Empty(t, found)
			continue
		}
		require.Len(t, found, 1, path)
		assert.Contains(t, found[0].Message, want)
	}
}

// A file is that of the agent in whose directory or plugin it is; a person says whose any other file is.
func TestAgentOfAFile(t *testing.T) {
	for path, want := range map[string]string{".gemini/settings.json": "gemini", ".codex/hooks.json": "codex", "hooks/hooks.json": "codex",
		"skills/x/SKILL.md": "claude", "settings.json": "", ".github/hooks/x.json": "", "sub/settings.json": ""} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, ".codex-plugin"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".codex-plugin/plugin.json"), []byte("{}"), 0o644))
		d, err := AgentOf(filepath.Join(dir, path))
		assert.Equal(t, want, d.Name, path)
		assert.Equal(t, want != "", err == nil, path)
	}
}
