package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheStatusLineOnWindows is one that the shell runs which is there: to PowerShell a quoted path is a text.
func TestTheStatusLineOnWindows(t *testing.T) {
	const program = `C:\my bin\fsmtx.exe`
	t.Setenv("PATH", "")
	for _, name := range []string{"CLAUDE_CODE_GIT_BASH_PATH", "ProgramFiles", "ProgramW6432", "LocalAppData"} {
		t.Setenv(name, "")
	}
	data, err := AddStatusLine(nil, program)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"command": "& 'C:/my bin/fsmtx.exe' statusline --also"`)
	report, err := InspectStatusLine(data, program)
	require.NoError(t, err)
	assert.Equal(t, Installed, report.State)
	assert.Equal(t, `C:/my bin/fsmtx.exe`, ReadStatusLine(data).Program)
}
