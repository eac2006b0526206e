package settings_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/event"
	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

// TestMissingReportsThatTheProgramIsNotOnPath runs the hook as the client does, with an
// empty PATH and then with a program of that name.
func TestMissingReportsThatTheProgramIsNotOnPath(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	dir := t.TempDir()
	run := func() string {
		c := exec.Command(sh, "-c", settings.Missing("fsmtx").Script)
		c.Env = []string{"PATH=" + dir}
		out, err := c.Output()
		require.NoError(t, err)
		return string(out)
	}

	var reply event.Reply
	require.NoError(t, json.Unmarshal([]byte(run()), &reply, json.RejectUnknownMembers(true)))
	assert.Contains(t, reply.SystemMessage, "fsmtx is not on your PATH")
	assert.Equal(t, event.SessionStart, reply.Specific.HookEventName)
	assert.Contains(t, reply.Specific.AdditionalContext, "Tell the user once that fsmtx is missing.")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "fsmtx"), []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run())
}

// TestMissingIsInstalledAndRemoved: the hook is distinguished from the user's own shell
// hooks.
func TestMissingIsInstalledAndRemoved(t *testing.T) {
	before := []byte(`{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "sh", "args": ["-c", "echo hello"]}]}]}}`)
	hooks := append(settings.Hooks("fsmtx", nil, settings.Duty{}), settings.Missing("fsmtx"))
	with := add(t, before, hooks)
	assert.Equal(t, settings.Installed, state(t, with, hooks))
	assert.Equal(t, string(with), string(add(t, with, hooks)))
	assert.Equal(t, string(before), string(remove(t, with, hooks)))
}

// TestMissingReportsThatTheProgramIsNotAtItsPath: the path may have any characters, and the
// shell reads nothing but the script. Its standard input is the event.
func TestMissingReportsThatTheProgramIsNotAtItsPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "$(touch pwned) 'x'")
	program := filepath.Join(dir, "fsmtx")
	run := func() string {
		c := exec.Command("/bin/sh", "-c", settings.Missing(program).Script)
		c.Dir = t.TempDir()
		c.Stdin = strings.NewReader("touch pwned\n")
		out, err := c.Output()
		require.NoError(t, err)
		left, err := os.ReadDir(c.Dir)
		require.NoError(t, err)
		require.Empty(t, left)
		return string(out)
	}
	var reply event.Reply
	require.NoError(t, json.Unmarshal([]byte(run()), &reply, json.RejectUnknownMembers(true)))
	assert.Contains(t, reply.SystemMessage, "is not where the hooks expect it")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run())
}

// argued returns settings as earlier versions wrote them: with "command" and "args".
func argued(t *testing.T, data []byte, hooks []settings.Hook) []byte {
	for _, h := range hooks {
		old := map[string]any{"command": h.Command, "args": append(slices.Clone(h.Args), h.Flags...)}
		if h.Script != "" {
			old = map[string]any{"command": "sh", "args": []string{"-c", h.Script}}
		}
		was, err := json.Marshal(map[string]any{"command": h.Line()})
		require.NoError(t, err)
		is, err := json.Marshal(old, json.Deterministic(true))
		require.NoError(t, err)
		var line, pair jsontext.Value = was[1 : len(was)-1], is[1 : len(is)-1]
		spaced := bytes.Replace(line, []byte(`":"`), []byte(`": "`), 1)
		data = bytes.ReplaceAll(data, spaced, pair)
	}
	return data
}

// TestHooksWithArgsAreReplacedAndRemoved: installations of earlier versions are outdated,
// and the user's bytes come back.
func TestHooksWithArgsAreReplacedAndRemoved(t *testing.T) {
	for _, program := range []string{"/opt/bin/fsmtx", "fsmtx", "/a b/$(c)/fsmtx", "${CLAUDE_PLUGIN_ROOT}/bin/fsmtx"} {
		missing := []settings.Hook{settings.Missing(program), settings.Unusable()}
		hooks := append(settings.Hooks(program, []string{"--stop=hold"}, settings.Duty{}), missing...)
		for _, before := range []string{`{"a":1}`, `{"hooks":{"SessionStart":[]}}`} {
			with := add(t, []byte(before), hooks)
			had := append(earlier(program, []string{"--announce"}, []string{"--stop=hold"}), missing...)
			old := argued(t, add(t, []byte(before), had), had)
			report, err := settings.Inspect(old, hooks)
			require.NoError(t, err)
			assert.Equal(t, settings.Outdated, report.State)
			assert.Len(t, report.Why, 1)
			report, err = settings.Inspect(old, missing)
			require.NoError(t, err)
			assert.Equal(t, []string{`SessionStart: has "args", which other agents ignore`,
				`SessionStart: has "args", which other agents ignore`}, report.Why)
			kept, err := settings.Keep(old, settings.Hooks(program, []string{}, settings.Duty{}))
			require.NoError(t, err)
			assert.Equal(t, []string{"--stop=hold"}, active(kept)[0].Flags)
			assert.Equal(t, string(with), string(add(t, old, hooks)), "repaired")
			assert.Equal(t, before, string(remove(t, old, hooks)))
			assert.Equal(t, before, string(remove(t, with, hooks)))
		}
	}
}

// TestTheHookOfSessionStartReports: one hook, which replaces two of an earlier version.
func TestTheHookOfSessionStartReports(t *testing.T) {
	for _, before := range []string{`{"a":1}`, `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"echo"}]}]}}`} {
		for program, missing := range map[string]settings.Hook{"/opt/fsmtx": settings.Missing("/opt/fsmtx"), "fsmtx": settings.Missing("fsmtx"),
			"${CLAUDE_PLUGIN_ROOT}/bin/fsmtx": settings.Unusable()} {
			two := append(settings.Hooks(program, []string{"--stop=hold"}, settings.Duty{}), missing)
			one := settings.Reporting(two)
			old, now := add(t, []byte(before), two), add(t, []byte(before), one)
			assert.Equal(t, 1, bytes.Count(old, []byte(`"timeout"`))-bytes.Count(now, []byte(`"timeout"`)))
			report, err := settings.Inspect(old, one)
			require.NoError(t, err)
			assert.Equal(t, settings.Outdated, report.State)
			assert.Len(t, report.Why, 2)
			assert.Equal(t, string(now), string(add(t, old, one)), "repaired")
			assert.Equal(t, before, string(remove(t, old, one)))
			assert.Equal(t, before, string(remove(t, now, one)))
			kept, err := settings.Keep(now, settings.Hooks(program, []string{}, settings.Duty{}))
			require.NoError(t, err)
			assert.Equal(t, []string{"--stop=hold"}, active(kept)[0].Flags)
		}
	}
}
