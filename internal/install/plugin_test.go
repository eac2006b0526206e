package install

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
)

func small() Plugin {
	return Plugin{Name: "fsmtx", Version: "1.2.3", Programs: []Program{{Platform: ThisPlatform(), Fsmtx: []byte("#!/bin/sh\n")}},
		Parts: []Part{Workflows(settings.Hooks(Command, []string{"--steps=off"}, settings.Duty{NoSteps: true}))}}
}

func TestInvalidNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", "A", "a b", "-a", "a-", "a--b", "../a", "a/b", "ä"} {
		p := small()
		p.Name = name
		_, err := p.files()
		assert.ErrorIs(t, err, errName, "%q", name)
	}
}

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

// TestAnUpgradeKeepsTheAuthorsChanges in the files that are the author's.
func TestAnUpgradeKeepsTheAuthorsChanges(t *testing.T) {
	dir := t.TempDir()
	p := small()
	p.Parts = append(p.Parts, Planning("fsmtx", ""))
	_, err := p.Write(dir, false)
	require.NoError(t, err)
	change(t, dir, ".claude-plugin/plugin.json", `"version": "1.2.3"`, `"version":"7.0.0"`)
	change(t, dir, ".claude-plugin/plugin.json", `"name": "fsmtx"
  },`, `"name": "Ada"},`)
	change(t, dir, ".claude-plugin/plugin.json", p.description(), "How we release")
	change(t, dir, ".claude-plugin/plugin.json", `"license"`, `"keywords": ["release"], "license"`)
	change(t, dir, ".claude-plugin/marketplace.json", "One plugin", "Ours")
	change(t, dir, "skills/release-checklist/SKILL.md", "#", "# Ours:")
	change(t, dir, "config/planning-config.yaml", "\n", "\n# ours\n")
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
	program, _ := ThisPlatform().paths(false)
	assert.ElementsMatch(t, []string{"README.md", program, "bin/VERSION"}, written)
	for _, path := range theirs {
		assert.Equal(t, before[path], content(t, dir, path), path)
	}
}

// TestTheVersionFollowsThePrograms, also of a plugin that was not written to its end.
func TestTheVersionFollowsThePrograms(t *testing.T) {
	for _, torn := range []bool{false, true} {
		dir := t.TempDir()
		must(small().Write(dir, false))
		if torn {
			require.NoError(t, os.Remove(filepath.Join(dir, "bin/VERSION")))
		}
		p := small()
		p.Version = "1.3.0"
		must(p.Write(dir, true))
		assert.Contains(t, content(t, dir, ".claude-plugin/plugin.json"), `"version": "1.3.0"`)
		assert.Equal(t, "1.3.0\n", content(t, dir, "bin/VERSION"))
	}
}

// TestTheSessionStartHookReportsAProgramThatDoesNotRun runs that hook of a plugin for all platforms where the program is
// missing or not executable; with a program for Windows it has no line of a shell.
func TestTheSessionStartHookReportsAProgramThatDoesNotRun(t *testing.T) {
	for _, platforms := range [][]Platform{Platforms(), Platforms()[:4]} {
		reportsAProgramThatDoesNotRun(t, platforms)
	}
}

func reportsAProgramThatDoesNotRun(t *testing.T, platforms []Platform) {
	p := small()
	p.Parts, p.Programs = []Part{Workflows(settings.Hooks(Command, nil, settings.Duty{}))}, nil
	for _, platform := range platforms {
		p.Programs = append(p.Programs, Program{Platform: platform, Fsmtx: []byte("#!/bin/sh\necho hooked\n")})
	}
	hooks := slices.DeleteFunc(p.hooks(), func(h settings.Hook) bool { return h.Event != client.SessionStart })
	require.Len(t, hooks, 1, "the event starts one process")
	dir, tools := t.TempDir(), t.TempDir()
	must(p.Write(dir, false))
	hook := func(system string) string {
		require.NoError(t, os.WriteFile(filepath.Join(tools, "uname"), []byte("#!/bin/sh\necho "+system+"\n"), 0o755))
		c := exec.Command("/bin/sh", "-c", hooks[0].Line())
		if hooks[0].Exec {
			c = exec.Command(filepath.Join(dir, programPath), hooks[0].Args...)
		}
		c.Env = []string{"PATH=" + tools + ":/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT=" + dir}
		c.Stdin = strings.NewReader(`{"session_id":"abc-123","hook_event_name":"SessionStart"}`)
		return string(must(c.Output()))
	}
	reports := func(out string) {
		t.Helper()
		var reply client.Reply
		require.NoError(t, json.Unmarshal([]byte(out), &reply, json.RejectUnknownMembers(true)))
		assert.Contains(t, reply.SystemMessage, "does not run on this machine")
		assert.Equal(t, client.SessionStart, reply.Specific.HookEventName)
		assert.Contains(t, reply.Specific.AdditionalContext, "Tell the user once that the program of the plugin does not run here.")
	}

	assert.Equal(t, "hooked\n", hook("Darwin arm64"))
	reports(hook("FreeBSD amd64"))

	program := filepath.Join(dir, "bin/darwin-arm64/fsmtx")
	require.NoError(t, os.Chmod(program, 0o644))
	reports(hook("Darwin arm64"))
	require.NoError(t, os.WriteFile(program, []byte("\xcf\xfa\xed\xfe\x07"), 0o755))
	require.NoError(t, os.Chmod(program, 0o755))
	reports(hook("Darwin arm64"))
	if hooks[0].Exec {
		assert.Equal(t, "hooked\n", hook("MINGW64_NT-10.0-19045 x86_64"), "in the Bash of Git for Windows")
		return
	}
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bin/fsmtx")))
	reports(hook("Linux x86_64"))
}

// TestAPluginForWindows has one program in place of a script there, which needs no shell: the hooks have "args", and look at both shells.
func TestAPluginForWindows(t *testing.T) {
	release := t.TempDir()
	var buf bytes.Buffer
	packed := zip.NewWriter(&buf)
	for _, name := range []string{"fsmtx.exe", "fsmtx-tools.exe", "README.md"} {
		into := must(packed.Create("fsmtx_9.9.9_windows_amd64/" + name))
		must(into.Write([]byte("content of " + name)))
	}
	require.NoError(t, packed.Close())
	archive := filepath.Join(release, "fsmtx_9.9.9_windows_amd64.zip")
	require.NoError(t, os.WriteFile(archive, buf.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(release, "fsmtx_9.9.9_windows_arm64.zip"), nil, 0o644))
	sums := fmt.Sprintf("%x  %s\n", sha256.Sum256(buf.Bytes()), filepath.Base(archive))
	require.NoError(t, os.WriteFile(filepath.Join(release, "SHA256SUMS"), []byte(sums), 0o644))

	p := small()
	p.Parts, p.MCP = []Part{Workflows(settings.Hooks(Command, nil, settings.Duty{}))}, true
	var err error
	p.Programs, p.Version, err = Release(release, nil)
	require.NoError(t, err)
	dir := t.TempDir()
	must(p.Write(dir, false))

	assert.Equal(t, "content of fsmtx.exe", content(t, dir, "bin/fsmtx.exe"))
	assert.Equal(t, "content of fsmtx-tools.exe", content(t, dir, "bin/fsmtx-tools.exe"))
	if !ThisPlatform().isWindows() { // there it is a plugin for this platform alone
		assert.Equal(t, []Platform{"windows/amd64"}, must(ReadPlugin(dir)).Platforms)
	}
	hooks := content(t, dir, "hooks/hooks.json")
	assert.Equal(t, 15, strings.Count(hooks, `"command": "${CLAUDE_PLUGIN_ROOT}/bin/fsmtx",`))
	assert.Equal(t, 3, strings.Count(hooks, `"matcher": "Bash|PowerShell"`))
	assert.NotContains(t, hooks, `"if"`)
	assert.Empty(t, must(p.Write(dir, false)), "written again it is up to date")
	p.Programs = p.Programs[:0]
	if _, err = p.Write(dir, true); !ThisPlatform().isWindows() {
		assert.ErrorIs(t, err, errPlatforms)
	}

	require.NoError(t, os.WriteFile(archive, buf.Bytes()[:100], 0o644))
	_, _, err = Release(release, nil)
	assert.ErrorIs(t, err, errChecksum)
	sums = fmt.Sprintf("%x  %s\n", sha256.Sum256(buf.Bytes()[:100]), filepath.Base(archive))
	require.NoError(t, os.WriteFile(filepath.Join(release, "SHA256SUMS"), []byte(sums), 0o644))
	_, _, err = Release(release, nil)
	assert.ErrorIs(t, err, errArchive)
}
