package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/settings"
)

func TestInspectNamesEachDifference(t *testing.T) {
	const line = `"test ! -x /opt/bin/fsmtx || exec /opt/bin/fsmtx recover --hook"`
	for name, c := range map[string]struct {
		old, new string
		why      []string
	}{
		"as written":         {"", "", nil},
		"other flags":        {`--announce"`, `--scope=skill"`, []string{`PostToolUse: has flags "--scope=skill", want "--announce"`, `UserPromptExpansion: has flags "--scope=skill", want "--announce"`, `PreToolUse: has flags "--scope=skill", want "--announce"`, `Stop: has flags "--scope=skill", want "--announce"`}},
		"other path":         {line, `"test ! -x /old/fsmtx || exec /old/fsmtx recover --hook"`, []string{"SessionStart: runs /old/fsmtx, want /opt/bin/fsmtx"}},
		"no path":            {line, `"! command -v fsmtx >/dev/null || exec fsmtx recover --hook"`, []string{"SessionStart: runs fsmtx, want /opt/bin/fsmtx"}},
		"other timeout":      {`--hook", "timeout": 10`, `--hook", "timeout": 60`, []string{"SessionStart: has timeout 60 s, want 10 s"}},
		"no timeout":         {`--hook", "timeout": 10`, `--hook"`, []string{"SessionStart: has no timeout, want 10 s"}},
		"same number":        {`--hook", "timeout": 10`, `--hook", "timeout": 1.0e1`, nil},
		"other matcher":      {`"Skill"`, `"Skill|Bash"`, []string{`PostToolUse: has matcher "Skill|Bash", want "Skill"`}},
		"a matcher":          {`{"hooks": [{"type": "command", "command": ` + line, `{"matcher": "startup", "hooks": [{"type": "command", "command": ` + line, []string{`SessionStart: has matcher "startup", want none`}},
		"as earlier":         {line, `"/opt/bin/fsmtx", "args": ["recover", "--hook"]`, []string{`SessionStart: has "args", which other agents ignore`}},
		"by its name":        {line, `"fsmtx", "args": ["recover", "--hook"]`, []string{`SessionStart: has "args", which other agents ignore`}},
		"a shell":            {line, `"/opt/bin/fsmtx recover --hook"`, []string{"SessionStart: does not allow for a missing program"}},
		"a quoting shell":    {line, `"'/my opt/fsmtx' recover \"--hook\""`, []string{"SessionStart: does not allow for a missing program"}},
		"a variable's path":  {line, `"\"$HOME/bin/fsmtx\" recover --hook"`, []string{"SessionStart: does not allow for a missing program"}},
		"quoted differently": {line, `"test ! -x '/opt/bin/fsmtx' || exec /opt/bin/fsmtx recover  '--hook'"`, nil},
		"not ours":           {`recover --hook`, `recover`, []string{"SessionStart: is missing"}},
		"a script of ours":   {line, `"fsmtx recover --hook ; true"`, []string{"SessionStart: is missing"}},
		"another guard":      {line, `"test -x /opt/bin/fsmtx || exec /opt/bin/fsmtx recover --hook"`, []string{"SessionStart: is missing"}},
		"other event":        {`"SessionStart"`, `"SessionEnd"`, []string{"SessionStart: is missing"}},
		"more keys":          {`"timeout": 10`, `"timeout": 10, "statusMessage": "tasks"`, nil},
	} {
		with := string(add(t, []byte(`{"a":1}`), ours))
		require.Contains(t, with, c.old, name)
		changed := strings.ReplaceAll(with, c.old, c.new)
		report, err := settings.Inspect([]byte(changed), ours)
		require.NoError(t, err)
		assert.Equal(t, c.why, report.Why, name)
		assert.Equal(t, len(c.why) > 0, report.State == settings.Outdated, name)
		assert.Equal(t, len(c.why) == 0, string(add(t, []byte(changed), ours)) == changed, name)
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
		assert.Equal(t, settings.TimeLimit(5*time.Second), h.Timeout)
	}
}

func TestInspectReportsADuplicateHook(t *testing.T) {
	entry := `{"type": "command", "command": "/opt/bin/fsmtx", "args": ["recover", "--hook"], "timeout": 10}`
	twice := fmt.Sprintf(`{"hooks": {"SessionStart": [{"hooks": [%s, %s]}]}}`, entry, entry)
	report, err := settings.Inspect([]byte(twice), recovery)
	require.NoError(t, err)
	assert.Equal(t, []string{"SessionStart: appears 2 times"}, report.Why)
	assert.Equal(t, 1, strings.Count(string(add(t, []byte(twice), recovery)), "recover"))
}

func TestInspectNamesEveryFlag(t *testing.T) {
	with := add(t, nil, settings.Hooks("/opt/bin/fsmtx", []string{"--a", "--b"}))
	report, err := settings.Inspect(with, settings.Hooks("/opt/bin/fsmtx", []string{"--c", "--d"}))
	require.NoError(t, err)
	assert.Contains(t, report.Why, `PostToolUse: has flags "--a --b", want "--c --d"`)
}

func TestKeepReturnsTheInstalledFlags(t *testing.T) {
	with := add(t, []byte(`{"a":1}`), settings.Hooks("/old/fsmtx", []string{"--scope=skill", "--announce"}))
	kept, err := settings.Keep(with, ours)
	require.NoError(t, err)
	assert.Equal(t, settings.Hooks("/opt/bin/fsmtx", []string{"--scope=skill", "--announce"})[:2], kept[:2])
	assert.Equal(t, settings.Outdated, state(t, with, kept), "the path differs")
	assert.Equal(t, settings.Installed, state(t, add(t, with, kept), kept))

	none := add(t, []byte(`{"a":1}`), settings.Hooks("/old/fsmtx", []string{}))
	kept, err = settings.Keep(none, ours)
	require.NoError(t, err)
	assert.Empty(t, kept[0].Flags, "having no flags is a choice too")

	kept, err = settings.Keep(nil, ours)
	require.NoError(t, err)
	assert.Equal(t, ours, kept)

	kept, err = settings.Keep(none, settings.Steps("/opt/bin/fsmtx", []string{"--stop=nudge"}, settings.Only{}))
	require.NoError(t, err)
	for _, h := range kept {
		assert.Equal(t, []string{"--stop=nudge"}, h.Flags, "no hook of this subcommand is in the settings")
	}
}

// TestKeepTakesTheFlagsOfTheLastHook: hooks of one subcommand may differ in the settings.
func TestKeepTakesTheFlagsOfTheLastHook(t *testing.T) {
	with := add(t, []byte(`{"a":1}`), slices.Concat(
		settings.Hooks("/old/fsmtx", []string{"--scope=skill"})[:1], settings.Hooks("/old/fsmtx", []string{"--announce"})[1:2]))
	kept, err := settings.Keep(with, ours)
	require.NoError(t, err)
	assert.Equal(t, []string{"--scope=skill"}, kept[0].Flags)
	assert.Equal(t, []string{"--announce"}, kept[1].Flags)
	assert.Equal(t, []string{"--announce"}, kept[2].Flags, "it is missing in the settings")
}

func TestHooksOfARenamedProgramAreRecognised(t *testing.T) {
	hooks := settings.Hooks("/opt/fsmtx-2.0-linux", settings.DefaultFlags())
	with := add(t, []byte(`{}`), hooks)
	assert.Equal(t, settings.Installed, state(t, with, hooks))
	assert.Equal(t, settings.Absent, state(t, with, ours))
	assert.Equal(t, `{}`, string(remove(t, with, hooks)))
}

func TestShellCommandThatDoesMoreIsNotOurs(t *testing.T) {
	for line, ours := range map[string]bool{
		"fsmtx hydrate":                       true,
		"  /a/fsmtx\\thydrate --scope=skill ": true,
		"'/a b/fsmtx' hydrate":                true,
		`/a\\ b/fsmtx hydrate`:                true,
		"fsmtx hydrate || true":               false,
		"fsmtx hydrate ; true":                false,
		"fsmtx hydrate & ":                    false,
		"fsmtx hydrate > log":                 false,
		"fsmtx hydrate < event":               false,
		"fsmtx hydrate ( true":                false,
		"fsmtx hydrate ) true":                false,
		"fsmtx hydrate # mine":                false,
		"fsmtx hydrate --scope $(scope)":      false,
		"fsmtx hydrate --scope `scope`":       false,
		"fsmtx hydrate --scope=$SCOPE":        false,
		"fsmtx hydrate *":                     false,
		"fsmtx hydrate 'open":                 false,
		"FOO=1 fsmtx hydrate":                 false,
		"cd /src && fsmtx hydrate":            false,
		"/a b/fsmtx hydrate":                  false,
		"":                                    false,
	} {
		data := fmt.Sprintf(`{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "%s"}]}]}}`, line)
		report, err := settings.Inspect([]byte(data), settings.Hooks("/a/fsmtx", nil))
		require.NoError(t, err)
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
	byLink := add(t, before, settings.Hooks(link, nil))
	hooks := settings.Hooks(program, nil)
	report, err := settings.Inspect(byLink, hooks)
	require.NoError(t, err)
	assert.Equal(t, settings.Outdated, report.State)
	both := add(t, byLink, hooks)
	assert.NotContains(t, string(both), link)
	t.Setenv("PATH", dir)
	require.NoError(t, os.Symlink(program, filepath.Join(dir, settings.Program)))
	byName := add(t, byLink, settings.Hooks(settings.Program, nil))
	assert.NotContains(t, string(byName), dir, "the program by its name on PATH")
	assert.Equal(t, string(add(t, before, settings.Hooks(settings.Program, nil))), string(byName))
	after, err := settings.Remove(both, hooks)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestCausesNameEachReasonOnce(t *testing.T) {
	assert.Equal(t, []string{"runs a, want b (Stop and 2 more)", "SessionStart: is missing", "not fsmtx"},
		settings.Causes([]string{"Stop: runs a, want b", "PreToolUse of Bash: runs a, want b", "SessionStart: is missing", "PostToolUse: runs a, want b", "not fsmtx"}))
	assert.Empty(t, settings.Causes(nil))
}
