//go:build agents

package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/hooks"
	"github.com/fsmtx/fsmtx/internal/hooks/dialect"
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

// TestVariablesOfHooks: the person's hooks and those of a plugin have the variables of the dialect's table, and run in the
// directory in which the agent was started.
func TestVariablesOfHooks(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		d, err := dialect.Named(a.Program)
		if err != nil {
			t.Skip("skipped: the hook runtime has no dialect for " + a.Program)
		}
		w := a.New(t)
		record := func(place string) string {
			return hooksOn(t, a.Events, map[string]any{"type": "command",
				"command": fmt.Sprintf(`(env; pwd; echo "extensionPath=${extensionPath}"; echo "workspacePath=${workspacePath}") > %s; cat > /dev/null`,
					filepath.Join(w.Home, place))})
		}
		w.WriteHooks(record("of-person"))
		w.Write(w.PluginFile("hooks/hooks.json"), `{"hooks": `+record("of-plugin")+`}`)
		_, ok := w.AddPlugin("x", "my-skill", map[string]string{"SKILL.md": "---\nname: my-skill\ndescription: d\n---\n"})
		require.True(t, ok)
		w.Write("project/sub/file", "")
		w.Project = w.Path("project/sub")
		w.Prompt(Script{Main: []Turn{Do(a.Bash("b", "cd .. && pwd")), Say("bye")}}, "go")
		for place, h := range map[string]hooks.Hook{"of-person": {}, "of-plugin": {Root: "x"}} {
			text, err := os.ReadFile(filepath.Join(w.Home, place))
			require.NoError(t, err)
			assert.Contains(t, string(text), "\n"+w.Project+"\n", place)
			for _, v := range d.Hooks.Variables {
				_, after, _ := strings.Cut("\n"+string(text), "\n"+v.Name+"=")
				value, _, _ := strings.Cut(after, "\n")
				assert.Equal(t, h.Sets(d, v.Name), value != "", "%s: %s", place, v.Name)
			}
			for line := range strings.Lines(string(text)) {
				if name, _, _ := strings.Cut(line, "="); strings.HasSuffix(name, "_ROOT") || strings.HasSuffix(name, "_DIR") {
					assert.True(t, h.Sets(d, name) || name == "CODEX_MANAGED_PACKAGE_ROOT", "%s: %s", place, name)
				}
			}
		}
	})
}
