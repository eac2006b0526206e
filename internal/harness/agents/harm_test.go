//go:build agents

package agents_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/agents"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// fsmtx runs the program in the project as its user does in a terminal.
func fsmtx(t *testing.T, w *agents.World, program string, args ...string) realclient.Output {
	t.Helper()
	out, err := realclient.Exec{Program: program, Args: args, Dir: w.Project, Env: []string{"HOME=" + w.Home, "PATH=" + w.Env["PATH"],
		callers.Environ(caller.Person)}, Limit: agents.Limit}.Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, out.Code, "fsmtx %q\n%v", args, out)
	return out
}

// goesOn sends the hostile prompt. The agent runs its tool and ends its turn as without our
// hooks, no text was executed, and the model is told nothing of ours but what it may say.
func goesOn(t *testing.T, w *agents.World, args ...string) *agents.Run {
	t.Helper()
	r := w.Prompt(Script{Main: []Turn{Do(w.Bash("b", "echo hello")), Say("bye")}}, hostile, args...)
	require.Zero(t, r.Code)
	result, ok := r.Result("b")
	require.True(t, ok, "the tool ran")
	assert.Contains(t, result.Text, "hello")
	assert.NotContains(t, result.Text, "hook")
	assert.Len(t, r.Exchanges(Main), 2, "the turn ends at once")
	assert.Empty(t, pwned(t, w), "text of the prompt was executed")
	for _, x := range r.Exchanges(Main) {
		for _, ours := range []string{"Usage:", "fsmtx [command]", "workflow into the client's task list"} {
			assert.False(t, x.Request.Says(ours), "the model is told %q", ours)
		}
	}
	return r
}

// pwned returns the files that executed text has created.
func pwned(t *testing.T, w *agents.World) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(w.Path("."), func(path string, _ fs.DirEntry, err error) error {
		if filepath.Base(path) == "PWNED" {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// commandsOf returns the "command" of each hook in a file with hooks, and drops what these
// agents ignore.
func commandsOf(t *testing.T, path string) (commands []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Hooks map[string][]struct {
			Hooks []struct{ Command string }
		}
	}
	require.NoError(t, json.Unmarshal(data, &file))
	for _, groups := range file.Hooks {
		for _, group := range groups {
			for _, h := range group.Hooks {
				commands = append(commands, h.Command)
			}
		}
	}
	require.NotEmpty(t, commands)
	return commands
}

// marked adds a hook to SessionStart in a file with hooks, and returns a function that
// requires that the agent ran the hooks of the file since. The hook notes the directory of
// the plugin.
func marked(t *testing.T, w *agents.World, path string) (ran func() (root string)) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var file map[string]any
	require.NoError(t, json.Unmarshal(data, &file))
	marker := w.Path("home/ran")
	hooks := file["hooks"].(map[string]any)
	hooks["SessionStart"] = append(hooks["SessionStart"].([]any), map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": `printf %s "$CLAUDE_PLUGIN_ROOT" > "` + marker + `"`}}})
	data, err = json.Marshal(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o644))
	return func() string {
		t.Helper()
		root, err := os.ReadFile(marker)
		require.NoError(t, err, "the agent ran the hooks")
		require.NoError(t, os.Remove(marker))
		return string(root)
	}
}

// onEveryEvent registers all commands on every event of the agent, as its user's hooks.
func onEveryEvent(t *testing.T, w *agents.World, commands []string) {
	t.Helper()
	hooks := map[string]any{}
	for _, event := range w.Events {
		var group []any
		for _, command := range commands {
			group = append(group, map[string]any{"type": "command", "command": command})
		}
		hooks[event] = []any{map[string]any{"hooks": group}}
	}
	text, err := json.Marshal(hooks)
	require.NoError(t, err)
	w.WriteHooks(string(text))
}

// TestOurHooksDoNoHarm registers whatever "install" registers on every event of the agent; then the
// same without the program.
func TestOurHooksDoNoHarm(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := program(t, w)
		fsmtx(t, w, program, "install", "--user")
		fsmtx(t, w, program, "install", "--project", "--with", "planning")
		commands := append(commandsOf(t, w.Path("home/.claude/settings.json")), commandsOf(t, w.Path("project/.claude/settings.json"))...)
		marker := w.Path("home/ran")
		onEveryEvent(t, w, append(commands, "touch "+marker))

		goesOn(t, w)
		require.FileExists(t, marker, "the agent runs these hooks")

		require.NoError(t, os.RemoveAll(filepath.Dir(program)))
		commands = slices.DeleteFunc(commands, func(c string) bool { return strings.Contains(c, "printf") }) // they report the missing program
		onEveryEvent(t, w, commands)
		goesOn(t, w)
	})
}

// TestAShellThatReadsTheEvent shows that these tests would notice it: every agent runs text
// of the prompt if a hook is "sh" with "args".
func TestAShellThatReadsTheEvent(t *testing.T) {
	each(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		w.WriteHooks(hooksOn(t, a.Events, map[string]any{"type": "command", "command": "sh", "args": []string{"-c", "exit 0"}}))

		w.Prompt(Script{Main: []Turn{Say("bye")}}, hostile)

		assert.NotEmpty(t, pwned(t, w), "if args count, fact 127 changes")
	})
}

// TestClaudesFilesDoNoHarmInCopilot: it reads the project's settings and Claude Code's plugins.
func TestClaudesFilesDoNoHarmInCopilot(t *testing.T) {
	a := agents.Copilot()
	w := a.New(t)
	program := program(t, w)
	plugin := w.Path("it's a plugin")
	fsmtx(t, w, program, "plugin", "--name", "fsmtx", plugin)
	ran := marked(t, w, filepath.Join(plugin, "hooks/hooks.json"))
	goesOn(t, w, "--plugin-dir", plugin)
	assert.Equal(t, plugin, ran())

	fsmtx(t, w, program, "install", "--project")
	fsmtx(t, w, program, "install", "--local")
	ran = marked(t, w, w.Path("project/.claude/settings.json"))
	goesOn(t, w)
	ran()

	require.NoError(t, os.RemoveAll(filepath.Dir(program)))
	goesOn(t, w)
	ran()
}

// TestAPluginDoesNoHarmInCodex: it installs Claude Code's plugins.
func TestAPluginDoesNoHarmInCodex(t *testing.T) {
	a := agents.Codex()
	w := a.New(t)
	dir := w.Path("a plugin")
	fsmtx(t, w, program(t, w), "plugin", "--name", "fsmtx", dir)
	ran := marked(t, w, filepath.Join(dir, "hooks/hooks.json"))
	for _, args := range [][]string{{"plugin", "marketplace", "add", dir}, {"plugin", "add", "fsmtx@fsmtx"}} {
		r := w.Command(args...)
		require.Zero(t, r.Code, "%q", args)
	}
	goesOn(t, w)
	assert.DirExists(t, ran(), "the plugin's")
}
