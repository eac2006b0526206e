//go:build unix

package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// registration is a hook in a file of the client or of another agent.
type registration struct{ event, matcher, command, onFailure string }

func registrationsIn(t *testing.T, path string) (all []registration) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Hooks map[string][]struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Command   string `json:"command"`
				OnFailure string `json:"onFailure"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	for event, groups := range file.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				all = append(all, registration{event, g.Matcher, h.Command, h.OnFailure})
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// TestABrokenProgram: each registered line, run by the shell as the client does. Where the program cannot start, a step of a list
// with a workflow is refused and the turn's end tells; a session without one notices nothing. Where it starts and fails, the
// entry of the steps alone makes that a refusal, so what mends the program is never kept from running.
func TestABrokenProgram(t *testing.T) {
	worlds.Long(t)
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	home, project, bin, plugin := at("home"), at("project"), at("bin"), at("plugin")
	for _, dir := range []string{home, project, filepath.Join(home, ".claude/tasks/.begun.fsmtx")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	program.Link(t, bin)
	run := func(line, session string) (out, errors string, code int) {
		o, err := realclient.Exec{Program: "/bin/sh", Args: []string{"-c", line}, Dir: project, Stdin: "{}", Limit: time.Minute,
			Env: []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT=" + plugin,
				"CLAUDE_CODE_SESSION_ID=" + session, callers.Environ("person")}}.Run(t.Context())
		require.NoError(t, err)
		return o.Stdout, o.Stderr, o.Code
	}
	for _, line := range []string{"fsmtx install", "fsmtx install --project", "fsmtx plugin " + plugin,
		"fsmtx install --agent codex,copilot,gemini,qwen"} {
		out, errors, code := run(line, "")
		require.Zero(t, code, out+errors)
	}
	forms := map[string]string{"path": "project/.claude/settings.local.json", "name": "project/.claude/settings.json",
		"plugin": "plugin/hooks/hooks.json", "codex": "home/.codex/hooks.json", "gemini": "home/.gemini/settings.json"}
	entries := map[string][]registration{}
	for form, path := range forms {
		entries[form] = registrationsIn(t, at(path))
	}
	whole, err := os.ReadFile(filepath.Join(bin, "fsmtx"))
	require.NoError(t, err)
	for kind, broken := range map[string]struct {
		content string
		mode    os.FileMode
		starts  bool
	}{
		"missing":         {"", 0, false},
		"not executable":  {"#!/bin/sh\n", 0o644, false},
		"empty":           {"", 0o755, false},
		"cut to its head": {string(whole[:20]), 0o755, false},
		"cut in half":     {string(whole[:len(whole)/2]), 0o755, true},
		"exit 1":          {"#!/bin/sh\nexit 1\n", 0o755, true},
		"killed":          {"#!/bin/sh\nkill -9 $$\n", 0o755, true},
	} {
		for _, path := range []string{filepath.Join(bin, "fsmtx"), filepath.Join(plugin, "bin/fsmtx")} {
			require.NoError(t, os.RemoveAll(path))
			if broken.mode != 0 {
				require.NoError(t, os.WriteFile(path, []byte(broken.content), broken.mode))
			}
		}
		for form, all := range entries {
			for _, h := range all {
				for _, session := range []string{"begun", "other"} {
					name := fmt.Sprintf("%s, %s, %s %s, %s", kind, form, h.event, h.matcher, session)
					out, errors, code := run(h.command, session)
					closed := h.onFailure == "block"
					assert.Equal(t, strings.Contains(h.matcher, "TaskUpdate|mcp__"), closed, name)
					switch {
					case form == "codex" || form == "gemini":
						assert.Equal(t, 0, code, name)
						assert.True(t, out == "" || h.event == "SessionStart", name) // which tells where the program is
					case session == "other" && (h.event == "UserPromptSubmit" || strings.Contains(h.matcher, "Write")):
						assert.Equal(t, 0, code, name) // not started
						assert.Empty(t, out, name)
					case broken.starts:
						assert.NotEqual(t, 0, code, name)
						assert.NotEqual(t, 2, code, name)
					case closed && session == "begun":
						assert.Equal(t, 2, code, name)
						assert.Contains(t, errors, "no step is let through", name)
					case h.event == "SessionStart":
						assert.Equal(t, 0, code, name)
						assert.Contains(t, out, `"systemMessage": "`, name)
					default:
						assert.Contains(t, []int{0, 126}, code, name) // 126 if exec fails, which refuses nothing
						assert.Equal(t, h.event == "Stop" && session == "begun", strings.Contains(out, `{"systemMessage": "fsmtx cannot be run`), name)
					}
				}
			}
		}
	}
}
