package settings_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// TestMissingReportsThatTheProgramIsNotOnPath runs the hook as the client does, with an
// empty PATH and then with a program of that name.
func TestMissingReportsThatTheProgramIsNotOnPath(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	dir := t.TempDir()
	run := func() string {
		c := exec.Command(sh, "-c", atStartOf("fsmtx"))
		c.Env = []string{"PATH=" + dir}
		out, err := c.Output()
		require.NoError(t, err)
		return string(out)
	}

	var reply client.Reply
	require.NoError(t, json.Unmarshal([]byte(run()), &reply, json.RejectUnknownMembers(true)))
	assert.Contains(t, reply.SystemMessage, "fsmtx is not on your PATH")
	assert.Equal(t, client.SessionStart, reply.Specific.HookEventName)
	assert.Contains(t, reply.Specific.AdditionalContext, "Tell the user once that fsmtx is missing.")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "fsmtx"), []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run())
}

// TestMissingReportsThatTheProgramIsNotAtItsPath: the path may have any characters, and the
// shell reads nothing but the script. Its standard input is the event.
func TestMissingReportsThatTheProgramIsNotAtItsPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "$(touch pwned) 'x'")
	program := filepath.Join(dir, "fsmtx")
	run := func() string {
		c := exec.Command("/bin/sh", "-c", atStartOf(program))
		c.Dir = t.TempDir()
		c.Stdin = strings.NewReader("touch pwned\n")
		out, err := c.Output()
		require.NoError(t, err)
		left, err := os.ReadDir(c.Dir)
		require.NoError(t, err)
		require.Empty(t, left)
		return string(out)
	}
	var reply client.Reply
	require.NoError(t, json.Unmarshal([]byte(run()), &reply, json.RejectUnknownMembers(true)))
	assert.Contains(t, reply.SystemMessage, "is not where the hooks expect it")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run())
}

// atStartOf returns the line of the hook of SessionStart.
func atStartOf(program string) string {
	hooks := settings.Hooks(program, nil, settings.Duty{})
	return hooks[slices.IndexFunc(hooks, func(h settings.Hook) bool { return h.Event == client.SessionStart })].Line()
}
