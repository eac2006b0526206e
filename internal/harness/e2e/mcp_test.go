//go:build e2e

// The same steps by the tools of an MCP server, for models without task tools.

package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
)

// served is a sandbox with a default model, which has no task tools, and a plugin with the
// skill release and the server.
type served struct {
	*realclient.Sandbox
	prefix string // of the names of the server's tools
	args   []string
}

func newServed(t *testing.T, fsm string) *served {
	t.Helper()
	t.Parallel()
	return newServedHere(t, fsm)
}

// newServedHere is newServed for a test that has another sandbox, too.
func newServedHere(t *testing.T, fsm string) *served {
	t.Helper()
	s := realclient.New(t)
	s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
	dir := s.Path("project/plugin")
	out := s.Command("", fsmtx, "plugin", "--mcp", "--stop", "off", dir)
	require.Zero(t, out.Code, out)
	skill(s, "project/plugin/skills", "release", fsm)
	s.Allow = append(s.Allow, "mcp__plugin_fsmtx_fsmtx")
	return &served{s, "mcp__plugin_fsmtx_fsmtx__", []string{"--plugin-dir", dir}}
}

// call has the model call a tool of the server about a step.
func (s *served) call(id, tool string, step int, more ...string) Turn {
	input := map[string]any{"step": step}
	for i := 0; i+1 < len(more); i += 2 {
		input[more[i]] = more[i+1]
	}
	return Do(Call(id, s.prefix+tool, input))
}

// prompt runs the client with the plugin.
func (s *served) prompt(script Script, prompt string, args ...string) *realclient.Run {
	return s.Prompt(script, prompt, append(s.args, args...)...)
}

// Facts 32 and 34: the model has no task tools, and works the skill through by the tools
// that its plugin brings.
func TestAPluginBringsTheToolsForItsSteps(t *testing.T) {
	s := newServed(t, `[
		{"id": 1, "subject": "Collect", "description": "Every commit since the last tag."},
		{"id": 2, "subject": "Write", "blockedBy": [1], "produces": ["notes.md"], "check": "grep -q v2 notes.md || { echo NO-VERSION; exit 4; }"},
		{"id": 3, "subject": "Publish", "blockedBy": [2]}]`)

	r := s.prompt(Script{Main: []Turn{
		Do(Skill("skill", "fsmtx:release")),
		Do(Call("status", s.prefix+"workflow_status", nil)),
		s.call("early", "step_start", 3),
		s.call("start 1", "step_start", 1), s.call("complete 1", "step_complete", 1, "note", "twelve commits"),
		s.call("start 2", "step_start", 2), s.call("no file", "step_complete", 2),
		Do(Bash("draft", "echo draft > notes.md")), s.call("fails", "step_complete", 2),
		Do(Bash("repair", "echo v2 >> notes.md")), s.call("complete 2", "step_complete", 2),
		s.call("start 3", "step_start", 3), s.call("complete 3", "step_complete", 3),
		Say("done"),
	}}, "go")

	first := r.Exchanges(Main)[0].Request
	assert.False(t, first.Offers("TaskUpdate"))
	for _, tool := range []string{"workflow_status", "workflow_begin", "step_start", "step_complete", "step_skip"} {
		assert.True(t, first.Offers(s.prefix+tool), "%s is offered without a search", tool)
	}
	assert.True(t, first.Says("Some skills come as a workflow"), "the server's instructions")
	assert.Contains(t, r.Text("status"), "Every commit since the last tag.")
	assert.Contains(t, denied(t, r, "early"), `#3 "Publish" cannot be started: #2 "Write" must be done first. Ready now: #1 "Collect"`)
	assert.Contains(t, denied(t, r, "no file"), "it needs notes.md, which is missing or empty in "+s.Project)
	assert.Contains(t, denied(t, r, "fails"), "NO-VERSION")
	allowed(t, r, "start 1", "complete 1", "start 2", "complete 2", "start 3", "complete 3")
	assert.Contains(t, r.Text("complete 3"), "The workflow is complete.")
	now := stateOf(t, s.Sandbox)
	assert.Equal(t, 3, now.Count().Done)
	notes := 0
	for _, e := range now.Evidence {
		if e.Note == "twelve commits" {
			notes++
		}
	}
	assert.Equal(t, 1, notes)
}

// In -p nobody can be asked: the client answers for the person that they did not.
func TestASkipNeedsThePerson(t *testing.T) {
	s := newServed(t, gated(`"approval": "Is the text good?"`))

	r := s.prompt(Script{Main: []Turn{
		Do(Skill("skill", "fsmtx:release")),
		s.call("skip", "step_skip", 1, "because", "no time"),
		s.call("complete", "step_complete", 1),
		Say("done"),
	}}, "go")

	assert.Contains(t, denied(t, r, "skip"), `#1 "Write" is not skipped`)
	assert.Contains(t, denied(t, r, "complete"), `#1 "Write" needs the approval of a person, and nobody has answered here`)
	assert.Equal(t, 0, stateOf(t, s.Sandbox).Count().Done)
}

// At the terminal the client shows the server's question as a form.
func TestAPersonApprovesByAForm(t *testing.T) {
	s := newServed(t, gated(`"approval": "Is the text good?"`))
	m := attended(s.Sandbox, "go",
		Script{Main: []Turn{Do(Skill("skill", "fsmtx:release")), s.call("complete", "step_complete", 1), Say("the-turn-is-over")}},
		append(s.args, "--permission-mode", "default", "--allowedTools", "Skill", "mcp__plugin_fsmtx_fsmtx")...)
	m.See(0, "Is the text good?")
	require.False(t, stateOf(t, s.Sandbox).Step(1).Done())
	m.Answer(m.Here(), "\r", "the-turn-is-over")
	allowed(t, m.Run(), "complete")
	// At the end of the turn the hook may have seen it done, which is on record after this.
	yes := func(e state.Evidence) bool { return e.Verdict == state.Allow && e.By.How == state.ByElicitation }
	assert.True(t, slices.ContainsFunc(stateOf(t, s.Sandbox).Evidence, yes))
}

// The server keeps the environment with which it was started, and with it the session from
// before /clear. The hook on its tools tells it which session calls.
func TestTheToolsFollowTheSessionAfterClear(t *testing.T) {
	s := newServed(t, steps("Release"))
	s.prompt(Script{Main: []Turn{Do(Skill("skill", "fsmtx:release")), Say("done")}}, "go")
	old := stateOf(t, s.Sandbox)

	r := s.PromptAndSay(Script{Main: []Turn{
		Do(Call("before", s.prefix+"workflow_status", nil)),
		Do(Skill("skill", "fsmtx:release")),
		s.call("complete", "step_complete", 1),
		Say("done"),
	}}, "/clear", "go", s.args...)

	assert.Contains(t, r.Text("before"), "There is no workflow in this task list")
	allowed(t, r, "complete")
	assert.Equal(t, 0, stateOf(t, s.Sandbox).Count().Done, "the old list is left alone")
	assert.Equal(t, old.Evidence, stateOf(t, s.Sandbox).Evidence)
}

// The server stays where it was started when the agent enters a work tree. The hook tells it where the
// agent is.
func TestTheToolsLookInTheWorkTree(t *testing.T) {
	s := newServed(t, gated(`"produces": ["out"]`))
	committed(t, s.Sandbox)
	s.Allow = append(s.Allow, "EnterWorktree", "ToolSearch")
	r := s.prompt(Script{Main: []Turn{
		Do(Skill("skill", "fsmtx:release")), Do(LoadTools("load", "EnterWorktree")),
		Do(Call("enter", "EnterWorktree", map[string]any{"name": "w"})), s.call("without", "step_complete", 1),
		Do(Bash("make", "echo x > out")), s.call("with", "step_complete", 1), Say("done"),
	}}, "go")
	tree := s.Path("project/.claude/worktrees/w")
	assert.Contains(t, denied(t, r, "without"), "missing or empty in "+tree)
	allowed(t, r, "with")
	inTree := func(e state.Evidence) bool { return e.Verdict == state.Allow && e.Tree == tree }
	assert.True(t, slices.ContainsFunc(stateOf(t, s.Sandbox).Evidence, inTree))
}
