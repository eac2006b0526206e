package settings_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/settings"
)

// TestOnWindowsHooksHaveNoShell: the program is started with its arguments, for the tool PowerShell too, and is found again.
func TestOnWindowsHooksHaveNoShell(t *testing.T) {
	const program = `C:\Program Files\fsmtx\fsmtx.exe`
	hooks := settings.Hooks(program, []string{"--stop=hold"}, settings.Duty{Only: settings.OnlyOf([]string{"Bash(git push *)"})})
	data, err := settings.Add([]byte("{\r\n  \"model\": \"x\"\r\n}\r\n"), hooks)
	require.NoError(t, err)
	var file struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Command, If, OnFailure string
				Args                   []string
			}
		}
	}
	require.NoError(t, json.Unmarshal(data, &file, json.MatchCaseInsensitiveNames(true)))
	matchers := map[string]bool{}
	blocks := 0
	for event, groups := range file.Hooks {
		for _, g := range groups {
			matchers[event+" "+g.Matcher] = true
			for _, h := range g.Hooks {
				assert.Equal(t, program, h.Command)
				assert.Equal(t, []string{"hook", "--agent=claude", "--stop=hold"}, h.Args)
				assert.Empty(t, h.If)
				if h.OnFailure == "block" {
					blocks++
				}
			}
		}
	}
	assert.True(t, matchers["PreToolUse Bash|Monitor|PowerShell"], "%v", matchers)
	assert.True(t, matchers["PostToolUse Bash|PowerShell"], "%v", matchers)
	assert.Equal(t, 1, blocks)
	report, err := settings.Inspect(data, hooks)
	require.NoError(t, err)
	assert.Equal(t, settings.Installed, report.State, "%v", report.Why)
	only, err := settings.FindOnly(data)
	require.NoError(t, err)
	assert.True(t, only.Shell)
	again, err := settings.Add([]byte(strings.ReplaceAll(string(data), "--stop=hold", "--stop=off")), hooks)
	require.NoError(t, err)
	assert.Equal(t, strings.Count(string(data), "fsmtx.exe"), strings.Count(string(again), "fsmtx.exe"), "its own hooks are known again")
	without, err := settings.Remove(data, hooks)
	require.NoError(t, err)
	assert.NotContains(t, string(without), "fsmtx.exe")
	assert.Contains(t, string(without), "\"model\": \"x\"\r\n", "line ends are kept")
}

// TestOnWindowsCodexRunsALineOfPowerShell: beside the line of sh, by which the hook is found again; a quoted path alone would be a text
// to PowerShell.
func TestOnWindowsCodexRunsALineOfPowerShell(t *testing.T) {
	for program, want := range map[string]string{
		`C:\Users\me\go\bin\fsmtx.exe`:        `C:\Users\me\go\bin\fsmtx.exe hook --agent=codex --stop=hold`,
		`C:\Program Files\d'Arc\fsmtx.exe`:    `& 'C:\Program Files\d''Arc\fsmtx.exe' hook --agent=codex --stop=hold`,
		`\\server\share\Zoë (x86)\fsmtx.exe`:  `& '\\server\share\Zoë (x86)\fsmtx.exe' hook --agent=codex --stop=hold`,
		`C:\Users\RUNNER~1\AppData\fsmtx.exe`: `& 'C:\Users\RUNNER~1\AppData\fsmtx.exe' hook --agent=codex --stop=hold`,
	} {
		hooks := []settings.Hook{{Event: "Stop", Command: program, Args: []string{"hook", "--agent=codex"}, Flags: []string{"--stop=hold"},
			Timeout: 15, PowerShell: true}}
		data, err := settings.Add(nil, hooks)
		require.NoError(t, err)
		line, err := json.Marshal(want)
		require.NoError(t, err)
		assert.Contains(t, string(data), `"commandWindows": `+string(line))
		assert.NotContains(t, string(data), `"args"`)
		report, err := settings.Inspect(data, hooks)
		require.NoError(t, err)
		assert.Equal(t, settings.Installed, report.State, "%v", report.Why)
		kept, err := settings.Keep(data, hooks)
		require.NoError(t, err)
		assert.Equal(t, hooks, kept)
		report, err = settings.Inspect([]byte(strings.ReplaceAll(string(data), "commandWindows", "other")), hooks)
		require.NoError(t, err)
		assert.Equal(t, []string{"Stop: has no commandWindows, want " + strconv.Quote(want)}, report.Why)
		without, err := settings.Remove(data, hooks)
		require.NoError(t, err)
		assert.Nil(t, without, "nothing remains of the file that it made")
	}
}

// TestOnWindowsTheStatusLineIsForBothShells: without a guard, and with slashes, Git's Bash and PowerShell run it; it is found again.
func TestOnWindowsTheStatusLineIsForBothShells(t *testing.T) {
	const program = `C:\Users\me\bin\fsmtx.exe`
	data, err := settings.AddStatusLine([]byte("{}\n"), program)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"command": "C:/Users/me/bin/fsmtx.exe statusline --also"`)
	report, err := settings.InspectStatusLine(data, program)
	require.NoError(t, err)
	assert.Equal(t, settings.Installed, report.State)
	report, err = settings.InspectStatusLine(data, `C:\other\fsmtx.exe`)
	require.NoError(t, err)
	assert.Equal(t, settings.Outdated, report.State)
	data, err = settings.RemoveStatusLine(data)
	require.NoError(t, err)
	assert.Equal(t, "{}\n", string(data))
}
