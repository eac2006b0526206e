package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
)

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
		assert.Contains(t, reply.Specific.AdditionalContext, "Tell the user once that the plugin's program does not run here.")
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
