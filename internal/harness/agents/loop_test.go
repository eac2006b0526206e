//go:build agents

package agents_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// rounds has a loop that a check takes, a value, and a branch that the value decides.
const rounds = `{"fsm": 2, "steps": [
  {"id": 1, "subject": "Build", "description": "Build it.", "produces": ["built"]},
  {"id": 2, "subject": "Test", "blockedBy": [1], "check": "test $(wc -l < built) -eq 3", "outcomes": {"failed": {"back": 1, "max": 3}}},
  {"id": 3, "subject": "Version", "blockedBy": [2], "set": {"version": "[0-9]+\\.[0-9]+"},
    "decides": {"run": "case $FSM_VERSION in *.0) echo major;; *) echo minor;; esac"}, "outcomes": ["major", "minor"]},
  {"id": 4, "subject": "Migrate to {version}", "when": {"3": "major"}},
  {"id": 5, "subject": "Patch {version}", "when": {"3": "minor"}},
  {"id": 6, "subject": "Publish {version}", "blockedBy": [4, 5], "check": "test \"$FSM_VERSION\" = 2.0"}
]}`

// way is how a model works on steps: by commands in the shell, or by tools of the MCP server.
type way interface {
	begin(id string) Block
	start(id string, step int) Block
	complete(id string, step int, version string) Block // with the value, unless it is empty
	skip(id string, step int) Block
}

type byCommand struct {
	*agents.Agent
	program string
}

func (w byCommand) begin(id string) Block { return w.TakeUp(id, "ship") }

func (w byCommand) start(id string, step int) Block {
	return w.Bash(id, fmt.Sprintf("%s start %d", w.program, step))
}

func (w byCommand) complete(id string, step int, version string) Block {
	line := fmt.Sprintf("%s complete %d", w.program, step)
	if version != "" {
		line += " --set version=" + version
	}
	return w.Bash(id, line)
}

func (w byCommand) skip(id string, step int) Block {
	return w.Bash(id, fmt.Sprintf("%s step skip %d --because tired", w.program, step))
}

type byServer struct{ *agents.Agent }

func (w byServer) begin(id string) Block {
	return w.Served(id, "workflow_begin", map[string]any{"skill": "ship"})
}

func (w byServer) start(id string, step int) Block {
	return w.Served(id, "step_start", map[string]any{"step": step})
}

func (w byServer) complete(id string, step int, version string) Block {
	input := map[string]any{"step": step}
	if version != "" {
		input["values"] = map[string]any{"version": version}
	}
	return w.Served(id, "step_complete", input)
}

func (w byServer) skip(id string, step int) Block {
	return w.Served(id, "step_skip", map[string]any{"step": step, "because": "tired"})
}

// TestAWorkflowIsWorkedToItsEnd: a loop goes round twice, a skip is refused, a value decides a
// branch, and the end is told: by commands, and in opencode by the server.
func TestAWorkflowIsWorkedToItsEnd(t *testing.T) {
	every(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		w.Write("project/.agents/skills/ship/fsm.json", rounds)
		by := way(byCommand{a, program})
		if len(a.Events) == 0 {
			by = byServer{a}
		}
		fsmtx(t, w, program, "install", "--agent", a.Program)
		build := func(id string) Turn { return Do(a.Bash(id, "echo line >> built; echo made")) }

		r := w.Prompt(Script{Main: []Turn{
			Do(by.begin("begin")),
			Do(by.complete("nothing", 1, "")),
			build("build1"),
			Do(by.complete("first", 1, "")),
			Do(by.complete("fails", 2, "")),
			Do(by.start("past", 3)),
			build("build2"),
			Do(by.complete("second", 1, "")),
			Do(by.complete("again", 2, "")),
			build("build3"),
			Do(by.complete("third", 1, "")),
			Do(by.complete("passes", 2, "")),
			Do(by.skip("skip", 3)),
			Do(by.complete("without", 3, "")),
			Do(by.complete("wrong", 3, "two")),
			Do(by.complete("value", 3, "2.0")),
			Do(by.complete("other", 5, "")),
			Do(by.complete("branch", 4, "")),
			Do(by.complete("end", 6, "")),
			Say("Done."),
			Say("Too much."),
		}}, "ship it")

		require.Zero(t, r.Code)
		assertResults(t, r, map[string]string{
			"nothing": `"Build" cannot be completed: it needs built`,
			"first":   `"Build" is done`,
			"fails":   "Test: failed, time 1 of 3",
			"past":    `"Version" cannot be started`,
			"again":   "Test: failed, time 2 of 3",
			"passes":  `"Test" is done`,
			"skip":    "person can decide",
			"without": "it has to give version",
			"wrong":   `version is "two"`,
			"value":   `Ready: #4 "Migrate to 2.0"`,
			"branch":  `Ready: #6 "Publish 2.0"`,
			"end":     "The workflow is complete",
		})
		assert.True(t, r.Exchanges(Main)[1].Request.Says("The skill ship has put its workflow into the task list"))
		assert.Len(t, r.Exchanges(Main), 20, "nothing is left to be sent back for")
	})
}
