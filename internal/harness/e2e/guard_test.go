//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// planning is a sandbox whose project plans the feature foo, with the plugin that
// contains the guards.
type planning struct {
	*realclient.Sandbox
	t *testing.T
}

// newPlanning creates a project whose workflow is in the phase; it has not started if
// the phase is empty. The guards bind everywhere.
func newPlanning(t *testing.T, phase string) planning {
	t.Helper()
	p := newInstalled(t, "feature/foo")
	p.Env["PLANNING_BINDS"] = "always"
	if phase != "" {
		p.enter(phase)
	}
	return p
}

// newInstalled creates a project on a branch, with the plugin and its defaults.
func newInstalled(t *testing.T, branch string) planning {
	t.Helper()
	p := planning{realclient.New(t), t}
	p.Env["PLANNING_STATE_DIR"] = p.Path("state")
	for _, command := range [][]string{
		{fsmtx, "plugin", "--with", "planning", "--name", "product-planning", p.Path("plugin")},
		{"git", "init", "-q", "-b", branch, p.Project},
	} {
		out := p.Command("", command[0], command[1:]...)
		require.Zero(t, out.Code, out)
	}
	p.Write("plugin/agents/researcher.md", "---\nname: researcher\ndescription: plays the researcher\n---\nDo your part.\n")
	p.Write("plugin/commands/plan.md", "---\ndescription: plans a feature\n---\nPlan it: $ARGUMENTS\n")
	p.Write("project/specs/foo/README.md", "# Foo\n")
	return p
}

// enter puts the workflow into the phase.
func (p planning) enter(phase string) {
	p.Write("project/specs/foo/.planning-state.local.md", "---\nphase: "+phase+
		"\nmode: complete\nuser_decisions:\n  \"Primary database\": \"PostgreSQL\"\n---\n")
}

// lock gives the planning lock to a session.
func (p planning) lock(session string) {
	p.Write("project/specs/foo/.planning.lock", `{"session_id": "`+session+`"}`)
}

// ask runs the client with the plugin.
func (p planning) ask(script Script, prompt string, args ...string) *realclient.Run {
	p.t.Helper()
	return p.Prompt(script, prompt, append([]string{"--plugin-dir", p.Path("plugin")}, args...)...)
}

// write returns a call of the client's Write tool for a file of the feature.
func (p planning) write(id, name string) Block {
	return Call(id, "Write", map[string]any{"file_path": p.Path("project/specs/foo/" + name), "content": "text\n"})
}

// AC3 and H10: an agent is sent back three times, then it may end.
func TestAgentsAreSentBackThreeTimes(t *testing.T) {
	p := newPlanning(t, "")

	r := p.ask(Script{
		Main:   []Turn{Do(Agent("agent", "product-planning:researcher", "play your part")), Say("done")},
		Agents: map[string][]Turn{"play your part": {Say("attempt one"), Say("attempt two"), Say("attempt three"), Say("attempt four")}},
	}, "go")

	requests := r.Exchanges(Subagent)
	require.Len(t, requests, 4)
	for _, x := range requests[1:] {
		assert.Contains(t, x.Request.News(), "Insufficient output (2 words). Agent product-planning:researcher produced only 2 words.")
	}
	assert.Contains(t, r.Text("agent"), "attempt four")
}

// AC4, H11a and H11b: a turn cannot end before the workflow is complete, unless the user
// asks for it or the guard has blocked three times.
func TestATurnEndsWithTheWorkflowOrOnRequest(t *testing.T) {
	p := newPlanning(t, "ARCHITECTURE")

	r := p.ask(Script{Main: []Turn{Say("one"), Say("two"), Say("three"), Say("four")}}, "plan the feature")

	requests := r.Exchanges(Main)
	require.Len(t, requests, 4)
	news := requests[1].Request.News()
	assert.Contains(t, news, "Missing artifacts: design.md, plan.md, tasks.md, test-plan.md. Planning incomplete (phase: ARCHITECTURE).")
	assert.Contains(t, news, "Workflow at phase ARCHITECTURE, not complete.")
	assert.Equal(t, "four", r.Final)

	r = p.ask(Script{Main: []Turn{Say("as you wish")}}, "please stop")
	assert.Len(t, r.Exchanges(Main), 1)

	p.enter("COMPLETION")
	r = p.ask(Script{Main: []Turn{Say("complete")}}, "and now?")
	assert.Len(t, r.Exchanges(Main), 1)
}

// AC5, H06, H12 and H13: the model gets the state with every prompt, with the request for
// a summary, and after the compaction.
func TestTheStateSurvivesACompaction(t *testing.T) {
	const decision = `"Primary database" -> "PostgreSQL"`
	p := newPlanning(t, "COMPLETION")

	first := p.ask(Script{Main: []Turn{Say("done")}}, "go")
	compacted := p.ask(Script{}, "/compact")
	after := p.ask(Script{Main: []Turn{Say("done")}}, "and now")

	assert.True(t, first.Exchanges(Main)[0].Request.Says(decision), "H06")
	require.Len(t, compacted.Exchanges(Compaction), 1)
	summarise := compacted.Exchanges(Compaction)[0].Request.News()
	assert.Contains(t, summarise, "Preserve this planning state verbatim in the summary:\n<planning-state>\nphase: COMPLETION\n", "H12")
	next := after.Exchanges(Main)[0].Request.Text()
	_, afterwards, found := strings.Cut(next, "The work so far.")
	require.True(t, found, "the summary")
	assert.Contains(t, afterwards, "Planning environment detected: branch=feature/foo", "H13")
	assert.GreaterOrEqual(t, strings.Count(afterwards, decision), 2, "H13 and H06")
}

// research is a server of the Model Context Protocol in shell, with one tool that always
// gives the same answer.
const research = `while read -r line; do
	id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"context7","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":[{"name":"query","description":"asks","inputSchema":{"type":"object","properties":{"q":{"type":"number"}}},"annotations":{"readOnlyHint":true}}]}' ;;
	*'"method":"tools/call"'*) result='{"content":[{"type":"text","text":"THE-ANSWER"}]}' ;;
	*) result='{}' ;;
	esac
	[ -z "$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
`

// researching writes the research server, and returns the arguments that make the client
// start it.
func (p planning) researching() []string {
	p.Write("project/research.sh", research)
	p.Write("project/mcp.json", `{"mcpServers": {"context7": {"command": "sh", "args": ["`+p.Path("project/research.sh")+`"]}}}`)
	return []string{"--mcp-config", p.Path("project/mcp.json"), "--strict-mcp-config"}
}

// researchTool is the name of the research server's tool for the model.
const researchTool = "mcp__context7__query"

// calls returns n different research calls.
func calls(n int) []Block {
	var all []Block
	for i := range n {
		all = append(all, Call(fmt.Sprint("call", i), researchTool, map[string]any{"q": i}))
	}
	return all
}
