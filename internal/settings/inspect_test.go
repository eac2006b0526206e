package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
)

func TestInspectNamesEachDifference(t *testing.T) {
	const line = `"test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx hook --agent=claude --nest=off"`
	used := ours[0]
	used.Flags = nil
	two := append([]settings.Hook{used}, atStop...)
	for name, c := range map[string]struct {
		old, new string
		why      []string
	}{
		"as written":  {"", "", nil},
		"other flags": {`--nest=off"`, `--scope=skill"`, []string{`SubagentStop: has flags "--scope=skill", want "--nest=off"`}},
		"other path": {line, `"test ! -x /old/fsmtx || exec /old/fsmtx hook --agent=claude --nest=off"`,
			[]string{"SubagentStop: runs /old/fsmtx, want /opt/bin/fsmtx"}},
		"no path": {line, `"! command -v fsmtx >/dev/null || exec fsmtx hook --agent=claude --nest=off"`,
			[]string{"SubagentStop: runs fsmtx, want /opt/bin/fsmtx"}},
		"other timeout": {`off", "timeout": 15`, `off", "timeout": 60`, []string{"SubagentStop: has timeout 60, want 15"}},
		"no timeout":    {`off", "timeout": 15`, `off"`, []string{"SubagentStop: has timeout none, want 15"}},
		"same number":   {`off", "timeout": 15`, `off", "timeout": 1.5e1`, nil},
		"other matcher": {`"Skill|TaskUpdate|AskUserQuestion"`, `"Skill|Bash"`,
			[]string{`PostToolUse: has matcher "Skill|Bash", want "Skill|TaskUpdate|AskUserQuestion"`}},
		"a matcher": {`{"hooks": [{"type": "command", "command": ` + line,
			`{"matcher": "startup", "hooks": [{"type": "command", "command": ` + line, []string{`SubagentStop: has matcher "startup", want none`}},
		"an if": {`off", "timeout": 15`, `off", "timeout": 15, "if": "Bash(git *)"`, []string{`SubagentStop: has if "Bash(git *)", want none`}},
		"a failure blocks": {`off", "timeout": 15`, `off", "timeout": 15, "onFailure": "block"`,
			[]string{`SubagentStop: has onFailure "block", want none`}},
		"in the background": {`off", "timeout": 15`, `off", "timeout": 15, "async": true`,
			[]string{`SubagentStop: has "async", so the client does not wait for its answer`}},
		"woken": {`off", "timeout": 15`, `off", "timeout": 15, "asyncRewake": true`,
			[]string{`SubagentStop: has "asyncRewake", so the client does not wait for its answer`}},
		"in the foreground": {`off", "timeout": 15`, `off", "timeout": 15, "async": false`, nil},
		"as earlier": {line, `"/opt/bin/fsmtx", "args": ["hook", "--agent=claude", "--nest=off"]`,
			[]string{`SubagentStop: has "args", which other agents ignore`}},
		"by its name": {line, `"fsmtx", "args": ["hook", "--agent=claude", "--nest=off"]`,
			[]string{"SubagentStop: runs fsmtx, want /opt/bin/fsmtx"}},
		"a shell": {line, `"/opt/bin/fsmtx hook --agent=claude --nest=off"`,
			[]string{"SubagentStop: does not allow for a missing program as it should"}},
		"a quoting shell": {line, `"'/my opt/fsmtx' hook \"--agent=claude\" --nest=off"`,
			[]string{"SubagentStop: runs /my opt/fsmtx, want /opt/bin/fsmtx"}},
		"a variable's path": {line, `"\"$HOME/bin/fsmtx\" hook --agent=claude --nest=off"`,
			[]string{"SubagentStop: runs $HOME/bin/fsmtx, want /opt/bin/fsmtx"}},
		"quoted differently": {line, `"test ! -x '/opt/bin/fsmtx' || exec /opt/bin/fsmtx hook  '--agent=claude' --nest=off"`,
			[]string{"SubagentStop: does not allow for a missing program as it should"}},
		"not ours":         {`hook --agent=claude --nest=off`, `hook --agent=codex`, []string{"SubagentStop: is missing"}},
		"a script of ours": {line, `"fsmtx hook --agent=claude --nest=off ; date"`, []string{"SubagentStop: is missing"}},
		"another guard": {line, `"test -x /opt/bin/fsmtx || exec /opt/bin/fsmtx hook --agent=claude --nest=off"`,
			[]string{"SubagentStop: does not allow for a missing program as it should"}},
		"by hand": {line, `"/opt/bin/fsmtx hook --agent claude --nest=off || true"`,
			[]string{"SubagentStop: does not allow for a missing program as it should"}},
		"for any agent": {line, `"/opt/bin/fsmtx hook --nest=off"`, []string{"SubagentStop: does not allow for a missing program as it should"}},
		"other event":   {`"SubagentStop"`, `"Stop"`, []string{"SubagentStop: is missing", "Stop: is registered, but should not be"}},
		"more keys":     {`"timeout": 15`, `"timeout": 15, "statusMessage": "tasks"`, nil},
	} {
		with := onOneLine(t, add(t, []byte(`{"a":1}`), two))
		require.Contains(t, with, c.old, name)
		changed := strings.ReplaceAll(with, c.old, c.new)
		report := must(settings.Inspect([]byte(changed), two))
		assert.Equal(t, c.why, report.Why, name)
		assert.Equal(t, len(c.why) > 0, report.State == settings.Outdated, name)
		assert.Equal(t, len(c.why) == 0, string(add(t, []byte(changed), two)) == changed, name)
	}
}

func TestTimeLimitIsLongerThanTheWait(t *testing.T) {
	for wait, want := range map[time.Duration]int{
		time.Millisecond:        6,
		5 * time.Second:         10,
		5*time.Second + 1:       11,
		60 * time.Second:        65,
		1500 * time.Millisecond: 7,
	} {
		assert.Equal(t, want, settings.TimeLimit(wait), "%v", wait)
	}
	for _, h := range ours {
		if h.Timeout != settings.StepTimeout {
			assert.Equal(t, settings.TimeLimit(5*time.Second)+5, h.Timeout)
		}
	}
}

func TestInspectReportsADuplicateHook(t *testing.T) {
	entry := `{"type": "command", "command": "/opt/bin/fsmtx", "args": ["hook", "--agent=claude", "--nest=off"], "timeout": 15}`
	twice := fmt.Sprintf(`{"hooks": {"SubagentStop": [{"hooks": [%s, %s]}]}}`, entry, entry)
	report := must(settings.Inspect([]byte(twice), atStop))
	assert.Equal(t, []string{`SubagentStop: has "args", which other agents ignore`, "SubagentStop: is registered, but should not be"},
		report.Why)
	assert.Equal(t, 1, strings.Count(string(add(t, []byte(twice), atStop)), "agent=claude"))
}

func TestInspectNamesEveryFlag(t *testing.T) {
	with := add(t, nil, settings.Hooks("/opt/bin/fsmtx", []string{"--a", "--b"}, settings.Duty{}))
	report := must(settings.Inspect(with, settings.Hooks("/opt/bin/fsmtx", []string{"--c", "--d"}, settings.Duty{})))
	assert.Contains(t, report.Why, `PostToolUse: has flags "--a --b", want "--c --d"`)
}

func TestKeepReturnsTheInstalledFlags(t *testing.T) {
	chosen := []string{"--scope=skill", "--stop=hold"}
	with := add(t, []byte(`{"a":1}`), settings.Hooks("/old/fsmtx", chosen, settings.Duty{}))
	kept := must(settings.Keep(with, ours))
	assert.Equal(t, settings.Hooks("/opt/bin/fsmtx", chosen, settings.Duty{}), kept)
	assert.Equal(t, settings.Outdated, state(t, with, kept), "the path differs")
	assert.Equal(t, settings.Installed, state(t, add(t, with, kept), kept))

	none := add(t, []byte(`{"a":1}`), settings.Hooks("/old/fsmtx", []string{}, settings.Duty{}))
	assert.Empty(t, must(settings.Keep(none, ours))[0].Flags, "having no flags is a choice too")

	assert.Equal(t, ours, must(settings.Keep(nil, ours)))
}

// TestKeepTakesTheFlagsOfAnotherHook: hooks of one subcommand may differ in the settings.
func TestKeepTakesTheFlagsOfAnotherHook(t *testing.T) {
	one := func(i int, flag string) settings.Hook {
		return settings.Hooks("/old/fsmtx", []string{flag}, settings.Duty{})[i]
	}
	with := add(t, []byte(`{"a":1}`), []settings.Hook{one(0, "--scope=skill"), one(1, "--nest=on")})
	kept := must(settings.Keep(with, ours))
	assert.Equal(t, []string{"--scope=skill"}, kept[0].Flags)
	assert.Equal(t, []string{"--nest=on"}, kept[1].Flags)
	assert.Equal(t, []string{"--scope=skill"}, kept[2].Flags, "it is missing in the settings")
}

func TestHooksOfARenamedProgramAreRecognised(t *testing.T) {
	hooks := settings.Hooks("/opt/fsmtx-2.0-linux", []string{}, settings.Duty{})
	with := add(t, []byte(`{}`), hooks)
	assert.Equal(t, settings.Installed, state(t, with, hooks))
	assert.Equal(t, settings.Absent, state(t, with, ours))
	assert.Equal(t, "{}", string(remove(t, with, hooks)))
}

func TestShellCommandThatRunsMoreIsNotOurs(t *testing.T) {
	for line, ours := range map[string]bool{
		"fsmtx hook --agent=claude":                         true,
		"  /a/fsmtx\\thook\\t--agent=claude --scope=skill ": true,
		"'/a b/fsmtx' hook --agent=claude":                  true,
		`/a\\ b/fsmtx hook --agent=claude`:                  true,
		"fsmtx hook --agent=claude || true":                 true,
		"fsmtx hook --agent=claude ; true":                  true,
		"fsmtx hook --agent=claude & ":                      true,
		"fsmtx hook --agent=claude > log":                   true,
		"fsmtx hook --agent=claude < event":                 true,
		"fsmtx hook --agent=claude ( true":                  false,
		"fsmtx hook --agent=claude ) true":                  false,
		"fsmtx hook --agent=claude # mine":                  true,
		"fsmtx hook --agent=claude --scope $(scope)":        false,
		"fsmtx hook --agent=claude --scope `scope`":         false,
		"fsmtx hook --agent=claude --scope=$SCOPE":          false,
		"fsmtx hook --agent=claude *":                       false,
		"fsmtx hook --agent=claude 'open":                   false,
		"FOO=1 fsmtx hook --agent=claude":                   false,
		"cd /src && fsmtx hook --agent=claude":              false,
		"/a b/fsmtx hook --agent=claude":                    false,
		"":                                                  false,
	} {
		data := fmt.Sprintf(`{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "%s"}]}]}}`, line)
		report := must(settings.Inspect([]byte(data), settings.Hooks("/a/fsmtx", nil, settings.Duty{})))
		assert.Equal(t, ours, report.State == settings.Outdated, "%q", line)
	}
}

// TestHooksWithALinkToTheProgramAreRecognised installs with one path of the program and
// then with another: the file has the hooks once.
func TestHooksWithALinkToTheProgramAreRecognised(t *testing.T) {
	dir := t.TempDir()
	program, link := filepath.Join(dir, "program"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	require.NoError(t, os.Symlink(program, link))
	before := []byte(`{"a":1}`)
	byLink := add(t, before, settings.Hooks(link, nil, settings.Duty{}))
	hooks := settings.Hooks(program, nil, settings.Duty{})
	assert.Equal(t, settings.Outdated, must(settings.Inspect(byLink, hooks)).State)
	both := add(t, byLink, hooks)
	assert.NotContains(t, string(both), link)
	t.Setenv("PATH", dir)
	require.NoError(t, os.Symlink(program, filepath.Join(dir, settings.Program)))
	byName := add(t, byLink, settings.Hooks(settings.Program, nil, settings.Duty{}))
	assert.NotContains(t, string(byName), dir, "the program by its name on PATH")
	assert.Equal(t, string(add(t, before, settings.Hooks(settings.Program, nil, settings.Duty{}))), string(byName))
	assert.JSONEq(t, string(before), string(must(settings.Remove(both, hooks))))
}

func TestCausesNameEachReasonOnce(t *testing.T) {
	assert.Equal(t, []string{"runs a, want b (Stop and 2 more)", "SessionStart: is missing", "not fsmtx"},
		settings.Causes([]string{"Stop: runs a, want b", "PreToolUse of Bash: runs a, want b", "SessionStart: is missing",
			"PostToolUse: runs a, want b", "not fsmtx"}))
	assert.Empty(t, settings.Causes(nil))
}
