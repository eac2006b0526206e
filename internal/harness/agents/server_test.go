//go:build agents

package agents_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestTheServerHolds: a workflow is begun and worked by the tools of the MCP server, with a refused
// order, a failing check, an approval and a skip that nobody gives; and nothing is left of the
// server after removal. In opencode the gates hold by this alone.
func TestTheServerHolds(t *testing.T) {
	every(t, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		before, _ := os.ReadFile(w.Path(a.ServerFile()))
		fsmtx(t, w, program, "install", "--agent", a.Program, "--mcp", "--stop", "off")
		w.Env["XDG_STATE_HOME"] = w.Path("state")
		step := func(n int) map[string]any { return map[string]any{"step": n} }

		r := w.Prompt(Script{Main: []Turn{
			Do(a.Served("begin", "workflow_begin", map[string]any{"skill": "ship"})),
			Do(a.Served("early", "step_start", step(3))),
			Do(a.Served("start", "step_start", step(1))),
			Do(a.Served("fails", "step_complete", step(1))),
			Do(a.Bash("make", "touch ok; echo made")),
			Do(a.Served("passes", "step_complete", step(1))),
			Do(a.Served("approval", "step_complete", step(2))),
			Do(a.Served("skip", "step_skip", map[string]any{"step": 2, "because": "no time"})),
			Do(a.Served("status", "workflow_status", map[string]any{})),
			Do(a.Bash("next", program+" next")),
			Say("Done."),
		}}, "ship it")

		require.Zero(t, r.Code)
		skip := "nobody has answered here"
		if a.Program == "codex" || a.Program == "copilot" { // without a screen they decline
			skip = "the person said no or did not answer"
		}
		assertResults(t, r, map[string]string{
			"begin":    "The skill ship has put its workflow into the task list",
			"early":    `"Publish" cannot be started`,
			"start":    `"Build" is in progress`,
			"fails":    "test -f ok",
			"make":     "made",
			"passes":   `"Build" is done`,
			"approval": "approv",
			"skip":     skip,
			"status":   "1 of 4 steps are done",
			"next":     "1 of 4 steps are done", // the list is that of the shell, too
		})

		fsmtx(t, w, program, "install", "--agent", a.Program, "--remove")
		after, _ := os.ReadFile(w.Path(a.ServerFile()))
		asBefore(t, string(before), string(after))
	})
}
