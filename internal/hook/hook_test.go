package hook

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// TestWhereALineGoes: where the shell is after a line that begins in /p; "" where that cannot be told.
func TestWhereALineGoes(t *testing.T) {
	for line, want := range map[string]string{
		"make": "/p", "cd a": "/p/a", "cd /a": "/a", "cd ..": "/", "cd a; make; cd b": "/p/a/b", "cd": "", "cd -": "", "cd $X": "", "cd -P a": "",
		"cd a b": "", "pushd a": "", "popd": "", "popd; cd a": "", "popd; cd /a": "", "popd; make": "", "echo cd": "/p",
	} {
		script, err := shell.Parse(line)
		require.NoError(t, err)
		dir := "/p"
		for _, words := range script.Calls() {
			dir = changesDirectory(dir, words)
		}
		assert.Equal(t, want, dir, line)
	}
}

// TestWhoseEventItIs: agents run each other's hooks, and each hook answers its own agent.
func TestWhoseEventItIs(t *testing.T) {
	const claude, gemini = `{"session_id": "s", "transcript_path": "/h/.claude/projects/p/s.jsonl", "hook_event_name": "PreToolUse"}`,
		`{"session_id": "s", "transcript_path": "/h/.gemini/tmp/s.json", "hook_event_name": "BeforeTool", "timestamp": "2026-01-02T03:04:05Z"}`
	for _, c := range []struct {
		agent, event string
		want         bool
	}{{"", claude, true}, {"claude", claude, true}, {"claude", gemini, false}, {"gemini", gemini, true}, {"gemini", claude, false}} {
		e, err := client.Parse([]byte(c.event))
		require.NoError(t, err)
		f := Flags{Flags: hydrate.Flags{Agent: c.agent}}
		assert.Equal(t, c.want, f.eventAgent(e) != nil, "%s %s", c.agent, c.event)
	}
}

// TestWhoLogs: the settings' FSMTX_LOG is a person's; a hook or a script has it in its environment, or logs nothing.
func TestWhoLogs(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude/settings.json"), []byte(`{"env": {"FSMTX_LOG": "~/log"}}`), 0o600))
	for _, kind := range []caller.Kind{caller.Person, caller.Script, caller.Agent, caller.Unknown} {
		env := map[string]string{"HOME": home}
		s := terminal.Streams{Err: io.Discard, Getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
			Caller: func() caller.Caller { return caller.Caller{Kind: kind} }}
		assert.Equal(t, kind == caller.Person, ToLog(s) != nil, kind)
		env["FSMTX_LOG"] = filepath.Join(home, "other")
		assert.NotNil(t, ToLog(s), kind)
	}
}
