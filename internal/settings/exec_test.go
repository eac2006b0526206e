package settings_test

import (
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
