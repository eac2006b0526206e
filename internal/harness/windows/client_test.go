//go:build windows

package windows

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/install"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// TestTheClient has the real client call a skill, in a project that `fsmtx install --mcp` has prepared. Its hooks refuse a step before its
// turn and a command before its step; the MCP server refuses a step without its file, and completes it afterwards; then all is done.
func TestTheClient(t *testing.T) {
	w := newWorld(t)
	w.skill("ship", `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Write the notes", "produces": ["docs/NOTES.md"]},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "only": ["Bash(git push *)"]}]}`)
	out, code := w.run("", nil, "install", "--mcp", "--statusline=false")
	require.Zero(t, code, out)

	step := func(id, tool string, n int) Turn { return Do(Call(id, "mcp__fsmtx__"+tool, map[string]any{"step": n})) }
	notes := map[string]any{"file_path": filepath.Join(w.project, "docs", "NOTES.md"), "content": "notes"}
	record := w.session(t, []Turn{
		Do(Skill("call", "ship")),
		Do(LoadTools("load", "TaskUpdate")),
		Do(TaskUpdate("early", "2", "completed")),
		Do(Call("push", "PowerShell", map[string]any{"command": "git push origin main", "description": "push"})),
		step("empty", "step_complete", 1),
		Do(Call("write", "Write", notes)),
		step("one", "step_complete", 1),
		step("two", "step_complete", 2),
		Say("Shipped."),
	})
	told(t, record, "call", "2 tasks #1, #2")
	told(t, record, "early", "must be done first")
	told(t, record, "push", "git push")
	told(t, record, "empty", "docs/NOTES.md")
	told(t, record, "one", "#1")
	told(t, record, "two", "#2")
	out, code = w.run("", nil, "status")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "ship: 2 of 2 steps done")
	assert.NotContains(t, strings.ToLower(out), "not enforced")
}

// TestAPlugin has the programs of Linux and Windows, the script between them and the hooks. The client finds fsmtx.exe beside the script.
func TestAPlugin(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.config, "my plugin")
	p := install.Plugin{Name: "flows", Version: "1.2.3", MCP: true,
		Parts: []install.Part{install.Workflows(settings.Hooks(install.Command, nil, settings.Duty{})), install.SkillFiles()}}
	one := install.Program{Platform: "windows/amd64"}
	var err, failed error
	one.Fsmtx, err = os.ReadFile(w.program)
	one.Tools, failed = os.ReadFile(filepath.Join(filepath.Dir(w.program), "fsmtx-tools.exe"))
	require.NoError(t, errors.Join(err, failed))
	p.Programs = []install.Program{{Platform: "linux/amd64", Fsmtx: []byte("not for this platform")}, one}
	_, err = p.Write(dir, false)
	require.NoError(t, err)
	ship := w.skill("ship", `{"fsm": 2, "steps": [
		{"id": 1, "subject": "Write the notes"}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]}`)
	require.NoError(t, os.Rename(ship, filepath.Join(dir, "skills", "ship")))

	record := w.session(t, []Turn{
		Do(Skill("call", "flows:ship")),
		Do(LoadTools("load", "TaskUpdate")),
		Do(TaskUpdate("early", "2", "completed")),
		Do(Call("one", "mcp__plugin_flows_fsmtx__step_complete", map[string]any{"step": 1})),
		Do(TaskUpdate("two", "2", "completed")),
		Say("Shipped."),
	}, "--plugin-dir", dir)

	told(t, record, "call", "2 tasks #1, #2")
	told(t, record, "early", "must be done first")
	told(t, record, "one", "#1")
	out, code := w.run("", nil, "status")
	assert.Zero(t, code, out)
	assert.Contains(t, out, "flows:ship: 2 of 2 steps done")
}

// session has the real client talk to a model that says what the script does.
func (w world) session(t *testing.T, script []Turn, args ...string) Record {
	t.Helper()
	client := os.Getenv("FSMTX_TEST_CLIENT")
	if client == "" {
		t.Skip("not run: FSMTX_TEST_CLIENT does not name a claude.exe")
	}
	m, err := Start(Script{Main: script})
	require.NoError(t, err)
	defer m.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, client, append([]string{"-p", "Ship it.", "--model", "claude-opus-5-5", "--output-format", "stream-json",
		"--verbose", "--include-hook-events", "--session-id", "6f1c1f0e-0a52-4b5e-9d0f-3d7c8a1b2c3d",
		"--allowedTools", "Skill,Write,PowerShell,mcp__fsmtx,mcp__plugin_flows_fsmtx", "--permission-mode", "acceptEdits"}, args...)...)
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
	return record
}

// told asserts that the result of a call has a text.
func told(t *testing.T, record Record, id, what string) {
	t.Helper()
	x := record.After(id)
	require.NotNil(t, x, "the model got no result of %s", id)
	assert.Contains(t, x.Request.News(), what)
}
