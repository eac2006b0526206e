package settings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
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
		c := exec.Command(sh, settings.Missing().Args...)
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
	hooks := append(settings.Hooks("fsmtx", nil), settings.Missing())
	with := add(t, before, hooks)
	assert.Equal(t, settings.Installed, state(t, with, hooks))
	assert.Equal(t, string(with), string(add(t, with, hooks)))
	assert.Equal(t, string(before), string(remove(t, with, hooks)))
}
