package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
)

func called(command string) []byte {
	return []byte(`{"hooks": {"Stop": [{}, {"hooks": [{"type": "command", "command": "true"}, ` + command + `]}]}}`)
}

// TestWhatAHookIsFor: a hook of ours hydrates, enforces, or does both.
func TestWhatAHookIsFor(t *testing.T) {
	for command, want := range map[string]struct{ ours, hydrates, enforces bool }{
		`{"command": "fsmtx hydrate"}`:                                                   {true, true, false},
		`{"command": "fsmtx hook --agent=claude"}`:                                       {true, true, true},
		`{"command": "! command -v fsmtx >/dev/null || exec fsmtx hook --agent=claude"}`: {true, true, true},
		`{"command": "fsmtx hook --agent=claude --steps=off"}`:                           {true, true, false},
		`{"command": "fsmtx hook --agent=codex"}`:                                        {true, false, false},
		`{"command": "fsmtx help --agent=claude step"}`:                                  {true, false, false},
		`{"command": "fsmtx"}`:                                                           {true, false, false},
		`{"command": "other hook --agent=claude"}`:                                       {false, false, false},
		`{"command": "fsmtx hook --agent claude; true"}`:                                 {true, true, true},
		`{"command": "fsmtx hook --steps=off"}`:                                          {true, true, false},
		`{"command": "fsmtx step skip"}`:                                                 {true, false, false},
		`{"command": "fsmtx hook --agent=claude; date"}`:                                 {false, false, false},
		`{"command": "fsmtx hook --agent=claude", "args": ["hook", "--agent=claude"]}`:   {false, false, false},
	} {
		calls := settings.Calls(called(command))
		require.Equal(t, want.ours, len(calls) == 1, command)
		for _, c := range calls {
			assert.Equal(t, want.hydrates, c.Hydrates(), "%s hydrates", command)
			assert.Equal(t, want.enforces, c.Enforces(), "%s enforces", command)
		}
	}
	assert.Equal(t, []settings.Call{{Command: "fsmtx", Args: []string{"a"}}, {Command: "/b/fsmtx", Args: []string{"b"}}},
		settings.Calls(called(`{"command": "fsmtx a"}, {"command": "/b/fsmtx b"}`)))
	assert.Equal(t, []settings.Call{{Command: "fsmtx", Args: []string{"a"}}},
		settings.Calls(append([]byte("\ufeff"), called(`{"command": "fsmtx a"}`)...)), "after a byte order mark")
	assert.Empty(t, settings.Calls(nil))
	assert.Empty(t, settings.Calls([]byte(`{"hooks": []}`)))
}

// TestJudgedJoinsTheFiles: what one of them judges is judged, whatever is wrong with another.
func TestJudgedJoinsTheFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	with := func(d settings.Duty) []byte { return add(t, nil, settings.Hooks("fsmtx", nil, d)) }
	web := file("web", with(settings.Duty{Only: settings.Only{Tools: []string{"WebFetch"}}}))
	shell := file("shell", with(settings.Duty{Only: settings.Only{Shell: true}}))
	none := file("none", add(t, nil, settings.Hooks("fsmtx", []string{"--steps=off"}, settings.Duty{NoSteps: true})))
	missing, broken := filepath.Join(dir, "missing"), file("broken", []byte("{"))

	for _, files := range [][]string{{web, shell, missing, broken, none}, {none, broken, missing, shell, web}} {
		have, enforced := settings.EnforcedTools(files)
		assert.Equal(t, settings.Only{Shell: true, Tools: []string{"WebFetch"}}, have)
		assert.True(t, enforced)
	}
	have, enforced := settings.EnforcedTools([]string{missing, none, broken})
	assert.Zero(t, have)
	assert.False(t, enforced)
}

// TestCalledTellsArgumentsFromAScript: with "args", even with none, the command is the program.
func TestCalledTellsArgumentsFromAScript(t *testing.T) {
	for _, c := range []struct {
		command   string
		args      []string
		program   string
		arguments []string
	}{
		{"fsmtx step -v", nil, "fsmtx", []string{"step", "-v"}},
		{"fsmtx", []string{}, "fsmtx", []string{}},
		{"fsmtx step", []string{"-v"}, "fsmtx step", []string{"-v"}},
		{"fsmtx step; date", nil, "", nil},
		{`"$CLAUDE_PLUGIN_ROOT/bin/fsmtx" step`, nil, "${CLAUDE_PLUGIN_ROOT}/bin/fsmtx", []string{"step"}},
	} {
		program, arguments := settings.Called(c.command, c.args)
		assert.Equal(t, c.program, program, c.command)
		assert.Equal(t, c.arguments, arguments, c.command)
	}
}

func replaceOnce(t *testing.T, text, old, new string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "%q in %s", old, text)
	return strings.Replace(text, old, new, 1)
}

// TestRulesBecomeTools: a rule for a server, or with a star, covers all that it means.
func TestRulesBecomeTools(t *testing.T) {
	for rule, want := range map[string]settings.Only{
		"WebFetch":             {Tools: []string{"WebFetch"}},
		"mcp__github":          {Tools: []string{"mcp__github__.*"}},
		"mcp__github__push":    {Tools: []string{"mcp__github__push"}},
		"mcp__github__*":       {Tools: []string{"mcp__github__.*"}},
		"mcp__*":               {Tools: []string{"mcp__.*"}},
		"Bash(git push *)":     {Shell: true},
		"Monitor":              {Shell: true},
		"Edit(/src/**)":        {},
		"WebFetch(domain:a.b)": {Tools: []string{"WebFetch"}},
	} {
		assert.Equal(t, want, settings.OnlyOf([]string{rule}), rule)
	}
	star := settings.Only{Tools: []string{"mcp__.*"}}
	for tool, missing := range map[string]bool{"mcp__a__b": false, "mcp__a__.*": false, "WebFetch": true} {
		assert.Equal(t, missing, len(settings.Only{Tools: []string{tool}}.Missing(star)) == 1, tool)
	}
	assert.Equal(t, []string{"Bash"}, settings.Only{Shell: true}.Missing(star))
}

// TestNothingIsFoundInNoSettings, nor in those that cannot be read.
func TestNothingIsFoundInNoSettings(t *testing.T) {
	for _, data := range []string{"", "\n", "{}", `{"hooks": {}}`} {
		assert.Zero(t, must(settings.FindOnly([]byte(data))))
		assert.Equal(t, ours, must(settings.Keep([]byte(data), ours)), "%q: the flags are the caller's", data)
	}
	_, err := settings.FindOnly([]byte("{"))
	require.ErrorIs(t, err, settings.ErrNotJSON)
}

// TestIsServed: only tools of a server of MCP are those of "fsmtx mcp".
func TestIsServed(t *testing.T) {
	for tool, want := range map[string]bool{
		"mcp__fsmtx__step_start": true, "mcp__plugin_x_fsmtx__workflow_begin": true, "mcp__fsmtx__step_skip": true,
		"mcp__fsmtx__step_starts": false, "mcp__fsmtx__step": false, "other__step_start": false, "step_start": false,
	} {
		assert.Equal(t, want, settings.IsServed(tool), tool)
	}
}

// TestALineThatOnlyLooksLikeOursIsTheUsers: a status line is this program's only if it is nothing else.
func TestALineThatOnlyLooksLikeOursIsTheUsers(t *testing.T) {
	with := must(settings.AddStatusLine(nil, "/opt/bin/fsmtx"))
	for _, other := range []string{
		replaceOnce(t, string(with), "test ! -x ", "true; test ! -x "),
		replaceOnce(t, string(with), "test ! -x /opt/bin/fsmtx", "test ! -x /other/fsmtx"),
	} {
		assert.Equal(t, other, string(must(settings.RemoveStatusLine([]byte(other)))))
		assert.Empty(t, settings.ReadStatusLine([]byte(other)).Program)
	}
}
