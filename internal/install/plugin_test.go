package install

import (
	"os"
	"os/exec"
	"path/filepath"
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
	assert.ElementsMatch(t, []string{"README.md", "bin/fsmtx", "bin/VERSION"}, written)
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
// missing or not executable.
func TestTheSessionStartHookReportsAProgramThatDoesNotRun(t *testing.T) {
	p := small()
	p.Parts, p.Programs = []Part{Workflows(settings.Hooks(Command, nil, settings.Duty{}))}, nil
	for _, platform := range Platforms() {
		p.Programs = append(p.Programs, Program{Platform: platform, Fsmtx: []byte("#!/bin/sh\necho hooked\n")})
	}
	var lines []string
	for _, h := range p.hooks() {
		if h.Event == client.SessionStart {
			lines = append(lines, h.Line())
		}
	}
	require.Len(t, lines, 1, "the event starts one process")
	dir, tools := t.TempDir(), t.TempDir()
	must(p.Write(dir, false))
	hook := func(system string) string {
		require.NoError(t, os.WriteFile(filepath.Join(tools, "uname"), []byte("#!/bin/sh\necho "+system+"\n"), 0o755))
		c := exec.Command("/bin/sh", "-c", lines[0])
		c.Env = []string{"PATH=" + tools + ":/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT=" + dir}
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
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "bin/fsmtx")))
	reports(hook("Linux x86_64"))
}
