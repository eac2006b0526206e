//go:build windows

package windows

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestTheClient has the real client call a skill, in a project that `fsmtx install --mcp` has prepared. Its hooks refuse a step before its
// turn and a command before its step; the MCP server refuses a step without its file, and completes it afterwards; then all is done.
func TestTheClient(t *testing.T) {
	client := os.Getenv("FSMTX_TEST_CLIENT")
	if client == "" {
		t.Skip("not run: FSMTX_TEST_CLIENT does not name a claude.exe")
	}
	w := newWorld(t)
	w.skill("ship", `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Write the notes", "produces": ["docs/NOTES.md"]},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "only": ["Bash(git push *)"]}]}`)
	out, code := w.run("", nil, "install", "--mcp", "--statusline=false")
	require.Zero(t, code, out)

	step := func(id, tool string, n int) Turn { return Do(Call(id, "mcp__fsmtx__"+tool, map[string]any{"step": n})) }
	notes := map[string]any{"file_path": filepath.Join(w.project, "docs", "NOTES.md"), "content": "notes"}
	m, err := Start(Script{Main: []Turn{
		Do(Skill("call", "ship")),
		Do(LoadTools("load", "TaskUpdate")),
		Do(TaskUpdate("early", "2", "completed")),
		Do(Call("push", "PowerShell", map[string]any{"command": "git push origin main", "description": "push"})),
		step("empty", "step_complete", 1),
		Do(Call("write", "Write", notes)),
		step("one", "step_complete", 1),
		step("two", "step_complete", 2),
		Say("Shipped."),
	}})
	require.NoError(t, err)
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, client, "-p", "Ship it.", "--model", "claude-opus-5-5", "--output-format", "stream-json", "--verbose",
		"--include-hook-events", "--session-id", "6f1c1f0e-0a52-4b5e-9d0f-3d7c8a1b2c3d",
		"--allowedTools", "Skill,Write,PowerShell,mcp__fsmtx", "--permission-mode", "acceptEdits")
	c.Dir, c.WaitDelay = w.project, 5*time.Second
	c.Env = append(w.environ(), "ANTHROPIC_API_KEY=no-key", "ANTHROPIC_BASE_URL="+m.URL(), "HTTP_PROXY="+m.URL(), "HTTPS_PROXY="+m.URL(),
		"NO_PROXY=127.0.0.1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_ENABLE_TODO_TOOLS=1")
	text, err := c.CombinedOutput()
	record := m.Record()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", record.String(), text)
		}
	})
	require.NoError(t, err)
	require.Empty(t, record.Faults())
	told := func(id, what string) {
		t.Helper()
		x := record.After(id)
		require.NotNil(t, x, "the model got no result of %s", id)
		assert.Contains(t, x.Request.News(), what)
	}
	told("call", "2 tasks #1, #2")
	told("early", "must be done first")
	told("push", "git push")
	told("empty", "docs/NOTES.md")
	told("one", "#1")
	told("two", "#2")
	out, code = w.run("", nil, "status")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "ship: 2 of 2 steps done")
	assert.NotContains(t, strings.ToLower(out), "not enforced")
}
