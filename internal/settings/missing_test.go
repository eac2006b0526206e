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

// TestMissing runs the hook of SessionStart as the client does, without the program and then with it. Its path may have any characters,
// and the shell reads nothing but the script. Its standard input is the event.
func TestMissing(t *testing.T) {
	sh, dir := must(exec.LookPath("sh")), filepath.Join(t.TempDir(), "$(touch pwned) 'x'")
	at := filepath.Join(dir, "fsmtx")
	run := func(program string) string {
		c := exec.Command(sh, "-c", atStartOf(program))
		c.Dir, c.Env, c.Stdin = t.TempDir(), []string{"PATH=" + dir}, strings.NewReader("touch pwned\n")
		out := must(c.Output())
		require.Empty(t, must(os.ReadDir(c.Dir)))
		return string(out)
	}
	for program, says := range map[string][2]string{
		"fsmtx": {"fsmtx is not on your PATH", "Tell the user once that fsmtx is missing."}, at: {"is not where the hooks expect it", ""},
	} {
		var reply client.Reply
		require.NoError(t, json.Unmarshal([]byte(run(program)), &reply, json.RejectUnknownMembers(true)))
		assert.Contains(t, reply.SystemMessage, says[0])
		assert.Equal(t, client.SessionStart, reply.Specific.HookEventName)
		assert.Contains(t, reply.Specific.AdditionalContext, says[1])
	}
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(at, []byte("#!/bin/sh\n"), 0o755))
	assert.Empty(t, run("fsmtx")+run(at))
}

// atStartOf returns the line of the hook of SessionStart.
func atStartOf(program string) string {
	hooks := settings.Hooks(program, nil, settings.Duty{})
	return hooks[slices.IndexFunc(hooks, func(h settings.Hook) bool { return h.Event == client.SessionStart })].Line()
}
