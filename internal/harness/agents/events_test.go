//go:build agents

package agents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// hostile is a prompt that creates files if a shell reads any part of it.
const hostile = "please explain $(touch PWNED; echo) and `touch PWNED` to me; touch PWNED\ntouch PWNED\n' ; " +
	"touch PWNED ; \" ; touch PWNED #"

// TestOtherAgentsEventsAreForeign: every event of every agent.
// FSMTX_AGENTS_EVENTS names a file to which they are appended.
func TestOtherAgentsEventsAreForeign(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		w.Write("home/record.sh", `cat > "$(mktemp "$1/event.XXXXXX")"`)
		w.WriteHooks(hooksOn(t, a.Events, map[string]any{"type": "command", "command": "sh " + w.Path("home/record.sh") + " " + w.Home}))

		r := w.Prompt(Script{Main: []Turn{Do(a.Bash("b", "echo hello")), Say("bye")}}, hostile)

		require.Zero(t, r.Code)
		result, ok := r.Result("b")
		require.True(t, ok)
		assert.Contains(t, result.Text, "hello")
		files, err := filepath.Glob(filepath.Join(w.Home, "event.*"))
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			e, err := client.Parse(data)
			require.NoError(t, err)
			assert.True(t, e.Foreign(), "%s", data)
			seen[e.Name] = true
			keep(t, a, data)
		}
		for _, name := range a.Events {
			assert.True(t, seen[name] || a.Program == "qwen" && name == "SessionStart", "%v has no event %s", a, name)
		}
	})
}

// keep appends an event to the file of recorded ones.
func keep(t *testing.T, a *agents.Agent, data []byte) {
	to := os.Getenv("FSMTX_AGENTS_EVENTS")
	if to == "" {
		return
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	defer f.Close()
	line, err := json.Marshal(map[string]any{"agent": a.String(), "event": json.RawMessage(data)})
	require.NoError(t, err)
	_, err = f.Write(append(line, '\n'))
	require.NoError(t, err)
}

// hooksOn returns an object of hooks with one hook on each of the events.
func hooksOn(t *testing.T, events []string, hook map[string]any) string {
	hooks := map[string]any{}
	for _, name := range events {
		hooks[name] = []any{map[string]any{"hooks": []any{hook}}}
	}
	text, err := json.Marshal(hooks)
	require.NoError(t, err)
	return string(text)
}
