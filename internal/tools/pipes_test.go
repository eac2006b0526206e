//go:build unix

package tools_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/files"
	"github.com/fsmtx/fsmtx/internal/harness/program"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
)

// piped is a world with every file that a command reads. Each test has a copy of it, in which
// one file is a FIFO.
type piped struct {
	t    testing.TB
	root string // home, project
	bin  string // fsmtx and fsmtx-tools, also as npm installs them
	npm  string
}

const pipedSkill = "---\nname: my-skill\ndescription: d\n---\n# Steps\n\n1. One\n2. Two\n"

// newPiped creates the world by the commands themselves, where they can do it.
func newPiped(t *testing.T) piped {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := piped{t: t, root: filepath.Join(root, "world"), bin: filepath.Join(root, "bin"), npm: filepath.Join(root, "node_modules/x/bin")}
	program.Link(t, p.bin)
	program.Link(t, p.npm)
	for name, text := range map[string]string{
		"home/.claude.json":                            `{"projects": {}}`,
		"home/.claude/CLAUDE.md":                       "x",
		"home/.claude/skills/other/SKILL.md":           pipedSkill,
		"home/.claude/skills/other/fsm.json":           `[{"id": 1, "subject": "a"}]`,
		"home/.claude/plugins/known_marketplaces.json": `{}`,
		"home/.claude/plugins/installed_plugins.json": `{"version": 2, "plugins": {"p@market": [{"scope": "user", "installPath": "` +
			p.root + `/home/.claude/plugins/cache/p"}]}}`,
		"home/.claude/plugins/cache/p/.claude-plugin/plugin.json": `{"name": "p"}`,
		"home/.claude/plugins/cache/p/hooks/hooks.json":           `{"hooks": {}}`,
		"home/.claude/plugins/cache/p/.mcp.json":                  `{}`,
		"home/.claude/plugins/cache/p/skills/s/SKILL.md":          pipedSkill,
		"home/.claude/plugins/cache/p/skills/s/fsm.json":          `[{"id": 1, "subject": "a"}]`,
		"home/.claude/projects/p/s.jsonl":                         "{}\n",
		"project/.git/HEAD":                                       "ref: refs/heads/feature/main\n",
		"project/.claude/planning-config.yaml":                    "",
		"project/.claude/skills/my-skill/SKILL.md":                pipedSkill,
		"project/.claude/skills/my-skill/fsm.json": `[{"id": 1, "subject": "a", "produces": ["out"], "check": "true"}, ` +
			`{"id": 2, "subject": "b", "blockedBy": [1]}]`,
		"project/.claude/agents/a.md":                 "---\nname: a\ndescription: d\n---\n",
		"project/.claude/commands/c.md":               "x",
		"project/specs/main/.planning-state.local.md": "---\nphase: \"ARCHITECTURE\"\n---\n",
		"project/specs/main/spec.md":                  "x",
		"project/out":                                 "x",
		"project/env.sh":                              "",
		"project/fsm.json":                            `[]`,
		"project/SKILL.md":                            pipedSkill,
		"project/hooks.json":                          `{"hooks": {}}`,
		"project/specs/main/tasks.md":                 "- [ ] T1 a\n- [ ] T2 b\n",
	} {
		p.write(name, text)
	}
	for _, c := range [][]string{
		{"install", "--user", "--with", "planning", "--mcp"}, {"install", "--local", "--mcp"}, {"install", "--project", "--mcp"},
		{"hydrate"}, {"plugin", "out-plugin"},
	} {
		out, code := p.run(c...)
		require.Zero(t, code, "%q: %s", c, out)
	}
	require.FileExists(t, filepath.Join(p.root, "home/.claude/tasks/s/1.json"))
	return p
}

func (p piped) write(name, text string) { put(p.t, filepath.Join(p.root, name), text) }

// files returns the paths of all regular files of the world, relative to its root.
func (p piped) files() (all []string) {
	p.t.Helper()
	require.NoError(p.t, filepath.WalkDir(p.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(p.root, path)
			all = append(all, name)
		}
		return err
	}))
	return all
}

// with returns a copy of the world in which the file is a FIFO.
func (p piped) with(t testing.TB, name string) piped {
	t.Helper()
	from := p.root
	p.t, p.root = t, filepath.Join(t.TempDir(), "world")
	require.NoError(t, os.CopyFS(p.root, os.DirFS(from)))
	for _, file := range p.files() { // paths in settings and registries
		data, err := os.ReadFile(filepath.Join(p.root, file))
		require.NoError(t, err)
		if bytes.Contains(data, []byte(from)) {
			p.write(file, strings.ReplaceAll(string(data), from, p.root))
		}
	}
	require.NoError(t, os.Chmod(filepath.Join(p.root, "home/.claude/tasks/.s.fsmtx"), 0o700))
	p.plant(name)
	return p
}

// plant makes the file a FIFO, which nobody ever opens at its other end.
func (p piped) plant(name string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	require.NoError(p.t, os.RemoveAll(path))
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, files.Mkfifo(path, 0o700))
}

// run runs the program in the project.
func (p piped) run(args ...string) (string, int) { return p.runWith(p.bin, args...) }

// runWith runs the program in a directory. It fails after 20 seconds, because no file may block it.
func (p piped) runWith(programs string, args ...string) (string, int) {
	p.t.Helper()
	project, home := filepath.Join(p.root, "project"), filepath.Join(p.root, "home")
	out, err := realclient.Exec{Program: filepath.Join(programs, "fsmtx"), Args: args, Dir: project, Env: []string{"HOME=" + home,
		"PATH=" + programs + ":/usr/bin:/bin", "TMPDIR=" + p.root, "PLANNING_STATE_DIR=" + p.root,
		"CLAUDE_ENV_FILE=" + filepath.Join(project, "env.sh"), "FSMTX_TEST_CALLER=person", raceOptions},
		Stdin: p.event(args), Limit: 20 * time.Second}.Run(p.t.Context())
	assert.NoError(p.t, err, "fsmtx %q waits", args)
	return out.Stdout + out.Stderr, out.Code
}

// event returns the event for a hook: {"hook_event_name": …} of what it waits for.
func (p piped) event(args []string) string {
	base := fmt.Sprintf(`{"session_id": "s", "cwd": %q, "transcript_path": %q, `, filepath.Join(p.root, "project"),
		filepath.Join(p.root, "home/.claude/projects/p/s.jsonl"))
	switch strings.Join(args, " ") {
	case "hydrate":
		return base + `"hook_event_name": "PostToolUse", "tool_name": "Skill", "tool_response": {"success": true, "commandName": "my-skill"}}`
	case "hook":
		return base + `"hook_event_name": "PreToolUse", "tool_name": "TaskUpdate", "tool_input": {"taskId": "1", "status": "completed"}}`
	case "guard H13":
		return base + `"hook_event_name": "SessionStart", "source": "startup"}`
	case "guard skill-files":
		return base + `"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": "x"}}`
	case "mcp":
		return `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, ` +
			`"clientInfo": {"name": "t", "version": "1"}}}` + "\n"
	}
	return base + `"hook_event_name": "Stop"}`
}

// pipedCommands are the commands that read files: first those that change none.
var pipedCommands = []string{
	"doctor", "version", "status", "log", "plan my-skill", "locate my-skill", "locate --all", "validate", "validate fsm.json",
	"fmt --check fsm.json", "graph fsm.json",
	"guard explain", "guard list", "hooks check", "hooks list", "hooks status", "hooks check hooks.json",
	"hooks eval",
	"install --check", "install --check --user --mcp", "install --check --project --mcp", "new --from SKILL.md --print", "mcp",
	"hook", "guard skill-files", "guard H01", "guard H04", "guard H11a", "guard H13", "hydrate", "recover", "undo",
	"step done 1 --because x",
	"plugin out-plugin", "guard reset", "guard unlock",
	"install --local --mcp", "install --user --mcp", "install --project --mcp", "install --remove --purge",
}

// TestNoFileBlocksACommand: a FIFO in the place of any file makes no command wait. Each place is
// tried with every sixth command, in turn, which is every command with ten places or so.
// FSMTX_PIPES=all tries each with all, in two minutes; another word tries only the places that
// contain it, with all.
func TestNoFileBlocksACommand(t *testing.T) {
	worlds.Long(t)
	p := newPiped(t)
	places := append(p.files(),
		"home/.local/share/fsmtx/bin/fsmtx", "home/.local/share/fsmtx/bin/fsmtx-tools", "home/.local/share/fsmtx/bin",
		"home/.local/share/fsmtx", "home/.claude/tasks/s/.lock", "home/.claude/tasks/s/.highwatermark",
		"home/.claude/tasks/.s.fsmtx/journal", "home/.claude/tasks/.s.fsmtx/lock", "home/.claude/tasks/.s.fsmtx/moving.json",
		"home/.claude/tasks/.s.fsmtx/session.json", "home/.claude/tasks/.s.fsmtx/steps.jsonl",
		"project/.git", "project/.claude", "project/.claude/.fsmtx-write-settings.local.json1", "project/.claude/skills/my-skill",
		"project/.mcp.json", "home/.claude/tasks", "home/.claude/plugins")
	only, sample := os.Getenv("FSMTX_PIPES"), 6
	if only != "" {
		sample = 1
	}
	for i, place := range places {
		if only != "all" && !strings.Contains(place, only) {
			continue
		}
		t.Run(strings.ReplaceAll(place, "/", "-"), func(t *testing.T) {
			t.Parallel()
			w := p.with(t, place)
			for k, command := range pipedCommands {
				if (i+k)%sample != 0 {
					continue
				}
				w.plant(place)
				w.run(strings.Fields(command)...)
			}
		})
	}
}

// TestNoCopyBlocksInstall is the same for a program that npm has installed.
func TestNoCopyBlocksInstall(t *testing.T) {
	p := newPiped(t)
	for _, place := range []string{"home/.local/share/fsmtx/bin/fsmtx", "home/.local/share/fsmtx/bin/fsmtx-tools",
		"home/.local/share/fsmtx/bin", "home/.local/share/fsmtx"} {
		t.Run(filepath.Base(place), func(t *testing.T) {
			w := p.with(t, place)
			for _, command := range []string{"install --check", "doctor", "install", "install --remove --purge"} {
				w.plant(place)
				w.runWith(p.npm, strings.Fields(command)...)
			}
		})
	}
}

// TestACopyOfAnotherUserIsRefused: its owner could replace what hooks run.
func TestACopyOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	p := newPiped(t)
	out, code := p.runWith(p.npm, "install")
	require.Zero(t, code, out)
	for _, name := range []string{"home/.local/share", "home/.local/share/fsmtx", "home/.local/share/fsmtx/bin",
		"home/.local/share/fsmtx/bin/fsmtx", "home/.local/share/fsmtx/bin/fsmtx-tools"} {
		path := filepath.Join(p.root, name)
		require.NoError(t, os.Chown(path, nobody, -1))
		out, code := p.runWith(p.npm, "install")
		assert.NotZero(t, code)
		assert.Contains(t, out, fmt.Sprintf("fsmtx: %s belongs to user %d: another user can replace the programs in it\nhint: hooks would run ",
			path, nobody))
		require.NoError(t, os.Chown(path, 0, -1))
	}
}
