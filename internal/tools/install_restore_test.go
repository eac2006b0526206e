package tools_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// inConfig runs fsmtx with a configuration directory of the client.
func inConfig(t require.TestingT, config string, args ...string) {
	out, errs, code := inProcess(map[string]string{"CLAUDE_CONFIG_DIR": config, "HOME": filepath.Dir(config)}, "", args...)
	require.Zero(t, code, "fsmtx %q: %s%s", args, out, errs)
}

// inMemory returns a directory in memory, where syncing is fast. It returns "", the default
// of os.MkdirTemp, if there is none.
func inMemory() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// below returns every path below root with its mode and content.
func below(t require.TestingT, root string) (all []string) {
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			line += fmt.Sprintf(" %q", data)
		}
		all = append(all, line)
		return nil
	}))
	return all
}

// textsOfSettings are settings that the client accepts (fact 97).
var textsOfSettings = []string{
	"", "{}", "{ }", "{\n}", "{\n  \n}",
	"{\"model\":\"x\"}", "{\n  \"model\": \"x\"\n}", "{\n\t\"model\": \"x\" ,\n\t\"a\": [ ]\n\t}",
	`{"hooks":{}}`, "{\n  \"hooks\": {}\n}", "{\n  \"hooks\": {\n  },\n  \"model\": \"x\"\n}", "{\n  \"model\": \"x\",\n  \"hooks\": { }\n}",
	`{"hooks":{"Stop":[],"PreToolUse":[ ]}}`, "{\n  \"hooks\": {\n    \"Stop\": [\n    ]\n  }\n}",
	`{"hooks":{"PostToolUse":[{"matcher":"Skill","hooks":[]}]}}`,
	"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", " +
		"\"command\": \"say done\"}\n        ]\n      }\n    ]\n  }\n}",
	`{"env":{}}`, "{\n  \"env\": {}\n}", "{\n  \"env\": {\n  }\n}", `{"env":{"A":"b"}}`, "{\n  \"env\": {\n    \"A\": \"b\"\n  }\n}",
	"{\n  \"hooks\": {},\n  \"env\": {}\n}", "{\n  \"env\": {},\n  \"hooks\": {}\n}",
	`{"env":{"CLAUDE_CODE_ENABLE_TODO_TOOLS":"1"}}`, "{\n  \"env\": {\n    \"CLAUDE_CODE_ENABLE_TODO_TOOLS\": \"0\"\n  }\n}",
	`{"mcpServers":{}}`, "{\n  \"mcpServers\": {\n  }\n}",
}

// After any number of installs with any flags, --remove restores the original files to the last byte,
// and leaves no other file.
func TestRemoveRestoresTheOriginalFiles(t *testing.T) {
	choices := [][]string{{}, {"--no-steps"}, {"--stop", "hold"}, {"--checks", "off"}, {"--task-tools"}, {"--with", "planning"}, {"--mcp"},
		{"--", "--scope=skill"}, {"--", "--lock-timeout=60s", "--announce"}}
	server := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(server, "fsmtx-tools"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", server+":"+os.Getenv("PATH"))
	rapid.Check(t, func(t *rapid.T) {
		root, err := os.MkdirTemp(inMemory(), "restore")
		require.NoError(t, err)
		defer os.RemoveAll(root)
		config := filepath.Join(root, rapid.SampledFrom([]string{"c", "a/c", "a/b/c"}).Draw(t, "config"))
		for _, name := range []string{"settings.json", ".claude.json"} {
			if rapid.Bool().Draw(t, name+"?") {
				require.NoError(t, os.MkdirAll(config, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(config, name), []byte(drawText(t)), 0o640))
			}
		}
		texts := map[string][]byte{}
		for _, name := range []string{"settings.json", ".claude.json"} {
			texts[name], _ = os.ReadFile(filepath.Join(config, name))
		}
		for range rapid.IntRange(1, 3).Draw(t, "installs") {
			inConfig(t, config, append([]string{"install", "--user"}, rapid.SampledFrom(choices).Draw(t, "flags")...)...)
		}
		inConfig(t, config, "install", "--user", "--remove")
		for name, before := range texts {
			after, _ := os.ReadFile(filepath.Join(config, name))
			require.Equal(t, string(before), string(after))
		}
		entries, err := os.ReadDir(config)
		require.NoError(t, err)
		for _, e := range entries {
			require.Contains(t, texts, e.Name())
		}
	})
}

// drawText draws settings with the white space and byte order marks that editors add.
func drawText(t *rapid.T) string {
	text := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") +
		rapid.SampledFrom([]string{"", "", "\n", " "}).Draw(t, "before") +
		rapid.SampledFrom(textsOfSettings).Draw(t, "text") +
		strings.Repeat("\n", rapid.IntRange(0, 4).Draw(t, "newlines"))
	if rapid.Bool().Draw(t, "CRLF") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}
