//go:build unix

package tools_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// shellText creates a file PWNED if a shell reads any part of it.
const shellText = "$(touch PWNED) `touch PWNED` ; touch PWNED\ntouch PWNED\n' ; touch PWNED ; \" ; touch PWNED #"

// registered is a world in which everything is registered that this program can register.
type registered struct {
	root, bin, home, project string
	env                      []string
	commands                 []string // of all hooks, without "args", "if" and "matcher"
	argued                   []any    // the "args" of each hook, nil for none
}

// register lets the program register itself in every way. Its path is hostile too.
func register(t *testing.T) registered {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := registered{root: root, bin: filepath.Join(root, "it's $(touch PWNED)"), home: filepath.Join(root, "home"),
		project: filepath.Join(root, "project")}
	program.Link(t, r.bin)
	r.env = []string{"HOME=" + r.home, "PATH=" + r.bin + ":/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + root, raceOptions}
	skill := filepath.Join(r.project, ".claude/skills/my-skill")
	require.NoError(t, os.Mkdir(r.home, 0o755))
	put(t, filepath.Join(skill, "SKILL.md"), "# Steps\n\n1. One\n2. Two\n")
	for _, args := range [][]string{
		{"install", "--user", "--with", "planning", "--mcp"}, {"install", "--local", "--with", "planning", "--mcp"},
		{"install", "--project", "--with", "planning", "--mcp"},
		{"plugin", "--with", "planning,skill-files", "--mcp", filepath.Join(root, "one")},
	} {
		out, code := r.run(t, r.project, "", filepath.Join(r.bin, "fsmtx"), args...)
		require.Zero(t, code, "%q: %s", args, out)
	}
	r.writePlugin(t, filepath.Join(root, "several"))
	for _, file := range []string{
		"home/.claude/settings.json", "home/.claude.json", "project/.claude/settings.json", "project/.claude/settings.local.json",
		"project/.mcp.json",
		"one/hooks/hooks.json", "one/.mcp.json", "several/hooks/hooks.json",
	} {
		data, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		var value any
		require.NoError(t, json.Unmarshal(data, &value))
		r.collect(value)
	}
	for i, args := range r.argued {
		require.Nil(t, args, r.commands[i])
	}
	slices.Sort(r.commands)
	r.commands = slices.Compact(r.commands)
	require.Greater(t, len(r.commands), 40)
	return r
}

// writePlugin writes a plugin that has a program for another platform only. Its hooks run a
// script.
func (r registered) writePlugin(t *testing.T, dir string) {
	p := install.Plugin{Name: "several", Version: "1.0.0", Parts: []install.Part{install.Workflows(settings.Hooks(install.Command, nil,
		settings.Duty{})), install.Planning("several", ""), install.SkillFiles()}}
	for _, platform := range install.Platforms() {
		if platform != install.ThisPlatform() && platform != "windows/amd64" { // whose hooks have "args"
			p.Programs = append(p.Programs, install.Program{Platform: platform, Fsmtx: []byte("another platform's program")})
		}
	}
	_, err := p.Write(dir, false)
	require.NoError(t, err)
}

// collect adds the "command" of every object in a value.
func (r *registered) collect(value any) {
	switch value := value.(type) {
	case map[string]any:
		// Servers have no type, or "stdio", and no agent runs them in a shell.
		if command, ok := value["command"].(string); ok && value["type"] == "command" {
			r.commands = append(r.commands, command)
			r.argued = append(r.argued, value["args"])
		}
		for _, v := range value {
			r.collect(v)
		}
	case []any:
		for _, v := range value {
			r.collect(v)
		}
	}
}

func (r registered) run(t *testing.T, dir, stdin, program string, args ...string) (output string, code int) {
	out, err := realclient.Exec{Program: program, Args: args, Dir: dir, Env: r.env, Stdin: stdin, Limit: time.Minute}.Run(t.Context())
	assert.NoError(t, err)
	return out.Stdout + out.Stderr, out.Code
}

// files returns the paths below root.
func (r registered) files(t *testing.T) (paths []string) {
	require.NoError(t, filepath.WalkDir(r.root, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}))
	return paths
}

// recordedEvents returns what other agents wrote to a hook, with shellText in every text.
func recordedEvents(t *testing.T) (events []string) {
	data, err := os.ReadFile("../../testdata/agents/events.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		var recorded struct{ Event map[string]any }
		require.NoError(t, json.Unmarshal([]byte(line), &recorded))
		for _, name := range []string{"prompt", "initial_prompt", "last_assistant_message", "tool_response"} {
			if _, has := recorded.Event[name].(string); has {
				recorded.Event[name] = shellText
			}
		}
		text, err := json.Marshal(recorded.Event)
		require.NoError(t, err)
		events = append(events, string(text))
	}
	require.Greater(t, len(events), 20)
	return events
}

// withRoot returns the world with a plugin's directory in the environment of its hooks.
func (r registered) withRoot(dir string) registered {
	r.env = append(slices.Clone(r.env), "CLAUDE_PLUGIN_ROOT="+dir)
	return r
}

// TestWhatIsRegisteredIsHarmlessToOtherAgents runs the command of every hook as agents do that
// ignore "args", "if" and "matcher": in a shell, with an event on standard input. It creates
// nothing, prints nothing and succeeds. Whatever it reads, it runs nothing of that.
func TestWhatIsRegisteredIsHarmlessToOtherAgents(t *testing.T) {
	worlds.Long(t)
	r := register(t)
	before := r.files(t)
	events := recordedEvents(t)
	var all sync.WaitGroup
	slots := make(chan struct{}, 4)
	n := 0
	run := func(r registered, command, stdin string) {
		n++
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out, code := r.run(t, r.project, stdin, "/bin/sh", "-c", command)
			assert.Zero(t, code, "%s\n%s", command, stdin)
			assert.Empty(t, out, "%s\n%s", command, stdin)
		})
	}
	for i, command := range r.commands {
		for j, stdin := range events {
			isGuard := strings.Contains(command, " guard ")
			switch ofPlugin := strings.Contains(command, "$CLAUDE_PLUGIN_ROOT"); {
			case !ofPlugin && isGuard && (i+j)%5 != 0, ofPlugin && (i+j)%5 != 0: // each event with some of the guards
			case ofPlugin:
				run(r.withRoot(filepath.Join(r.root, "one")), command, stdin)
				if !strings.Contains(command, "does not run on this machine") { // there it does not
					run(r.withRoot(filepath.Join(r.root, "several")), command, stdin)
					run(r, command, stdin)
				}
			default:
				run(r, command, stdin)
			}
		}
	}
	all.Wait()
	require.Greater(t, n, 300)
	assert.Equal(t, before, r.files(t), "no file was created")

	// Claude Code's own events, and what is not an event, are answered; nothing in them is run.
	text, err := json.Marshal(shellText)
	require.NoError(t, err)
	for i, command := range r.commands {
		if strings.Contains(command, " guard ") && i%5 != 0 {
			continue // they share their way to the event
		}
		for _, stdin := range []string{
			shellText, string(text), "{" + string(text) + ": " + string(text) + "}",
			`{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": ` + string(text) + `}`,
			`{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "prompt_id": "p", "tool_input": {"command": ` +
				string(text) + `}}`,
		} {
			r.withRoot(filepath.Join(r.root, "one")).run(t, r.project, stdin, "/bin/sh", "-c", command)
		}
	}
	for _, path := range r.files(t) {
		assert.NotEqual(t, "PWNED", filepath.Base(path), path)
	}
}
