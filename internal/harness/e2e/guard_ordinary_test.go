//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// Ordinary sessions with the plugin installed and its defaults: the guards deny, block,
// inject and write nothing. internal/guard/rules has a longer table; here the client
// decides what the guards are given.

// silent checks that no guard said anything, and that none has written a file.
func (p planning) silent(r *realclient.Run) {
	p.t.Helper()
	require.NotEmpty(p.t, r.Ran("Stop"))
	for _, h := range r.Hooks {
		if strings.Contains(h.Stdout+h.Stderr, "DENIED") || strings.Contains(h.Stdout, "planning") ||
			strings.Contains(h.Stdout, "Planning") || h.ExitCode != 0 {
			p.t.Errorf("%s: exit code %d: %s%s", h.Name, h.ExitCode, h.Stdout, h.Stderr)
		}
	}
	assert.NoDirExists(p.t, p.Path("state"))
	exported, err := filepath.Glob(filepath.Join(p.Home, ".claude/session-env/*/*"))
	require.NoError(p.t, err)
	for _, file := range exported {
		data, err := os.ReadFile(file)
		require.NoError(p.t, err)
		assert.NotContains(p.t, string(data), "PLANNING_", file)
	}
}

func TestAnOrdinarySessionOnMainIsLeftAlone(t *testing.T) {
	p := newInstalled(t, "main")
	p.Allow = append(p.Allow, researchTool)

	r := p.ask(Script{
		Main: []Turn{
			Do(LoadTools("load", researchTool)),
			Do(calls(12)...),
			Do(Agent("agent", "product-planning:researcher", "look it up")),
			Do(Call("write", "Write", map[string]any{"file_path": p.Path("project/specs/login/login.spec.ts"), "content": "x"})),
			Say("Done. Anything else?"),
		},
		Agents: map[string][]Turn{"look it up": {Say("found it")}},
	}, "what does this do?", p.researching()...)

	p.silent(r)
	for _, c := range calls(12) {
		assert.Contains(t, r.Text(c.ID), "THE-ANSWER")
	}
	assert.FileExists(t, p.Path("project/specs/login/login.spec.ts"))
	assert.Len(t, r.Exchanges(Subagent), 1)

	p.silent(p.ask(Script{Main: []Turn{Say("Yes.")}}, "and stop words?"))
}

// AC7: a plan from its command to its completion, over several turns: the guards refuse
// what breaks the rules and nothing else, the user is asked and answers, and afterwards
// the session is an ordinary one.
func TestAC7APlanOverSeveralTurns(t *testing.T) {
	p := newInstalled(t, "feature/foo")
	p.Allow = append(p.Allow, researchTool)
	touch := func(id, phase string) Turn {
		return Do(Call(id, "Write", map[string]any{"file_path": p.Path("project/specs/foo/.planning-state.local.md"),
			"content": "---\nphase: " + phase + "\nmode: standard\nuser_decisions:\n  \"Primary database\": \"PostgreSQL\"\n---\n"}))
	}
	bash := func(id, command string) Turn { return Do(Bash(id, command)) }

	// The command starts the planning: there is no lock yet.
	r := p.ask(Script{Main: []Turn{
		Do(p.write("early", "plan.md")),
		Do(Call("lock", "Write", map[string]any{"file_path": p.Path("project/specs/foo/.planning.lock"),
			"content": `{"session_id": "` + p.Session + `"}`})),
		touch("setup", "SETUP"),
		Do(p.write("spec", "spec.md")),
		Do(LoadTools("load", researchTool)),
		touch("research", "RESEARCH"),
		Do(calls(2)...),
		bash("cd", "mkdir src && cd src"), // the guards still find the feature
		Do(p.write("frozen", "spec.md")),
		bash("cd back", "cd .."),
		Say("Which colour should the button have?"), // blocked: it may go on without
		Say("I cannot go on. Which colour should the button have?"),
	}}, "/product-planning:plan emergency-stop button", p.researching()...)
	assert.True(t, strings.HasPrefix(r.Text("early"), "PreToolUse:Write hook error: DENIED: No planning lock acquired."), r.Text("early"))
	assert.NotContains(t, r.Text("lock")+r.Text("setup")+r.Text("spec"), "DENIED")
	assert.Contains(t, r.Text("call0"), "THE-ANSWER")
	assert.Contains(t, r.Text("frozen"), "spec.md is immutable")
	assert.Equal(t, "I cannot go on. Which colour should the button have?", r.Final, "the question reaches the user")

	// The user answers; the plan moves, is blocked while it moves, and is completed.
	r = p.ask(Script{Main: []Turn{
		touch("architecture", "ARCHITECTURE"),
		bash("design", "echo x > specs/foo/design.md"),
		Say("The design is there."),
		bash("plan", "echo x > specs/foo/plan.md"),
		Say("The plan is there."),
		bash("tests", "echo x > specs/foo/test-plan.md"),
		Say("The test plan is there."),
		bash("tasks", "echo x > specs/foo/tasks.md"),
		Say("The tasks are there."),
		touch("completion", "COMPLETION"),
		Say("Complete."),
	}}, "red", p.researching()...)
	assert.Equal(t, "Complete.", r.Final)
	log := read(t, p.Sandbox, "state/planning-hooks-"+p.Session+".log")
	assert.NotContains(t, log, "giving up")
	assert.NotContains(t, log, "ERROR")
	audit := read(t, p.Sandbox, "project/specs/foo/.planning-audit.log")
	assert.Equal(t, 4, strings.Count(audit, "CHECKPOINT: "))
	assert.Contains(t, audit, "ARCHITECTURE → COMPLETION")

	// Afterwards the session is an ordinary one.
	r = p.ask(Script{Main: []Turn{Do(LoadTools("load", researchTool)), Do(calls(12)...), Do(p.write("again", "spec.md")), Say("done")}},
		"now the code", p.researching()...)
	assert.NotContains(t, r.Text("again")+r.Text("call11"), "DENIED")
	for _, h := range append(r.Ran("UserPromptSubmit"), r.Ran("Stop")...) {
		assert.Zero(t, h.ExitCode)
		assert.NotContains(t, h.Stdout, "planning-state")
	}
}

// AC6: the client prints with --debug what the hooks were given and what they answered.
func TestAC6DebugShowsTheGuards(t *testing.T) {
	p := newInstalled(t, "feature/foo")
	p.enter("ARCHITECTURE")
	p.lock("another")

	p.ask(Script{Main: []Turn{Do(p.write("write", "plan.md")), Say("done")}}, "go", "--debug-file", p.Path("debug.txt"))

	log := read(t, p.Sandbox, "debug.txt")
	assert.Contains(t, log, "guard H02")
	assert.Contains(t, log, "DENIED: Planning lock owned by another session")
}
