//go:build agents

package agents_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// TestASubagentOfCodexWorksOnTheListOfItsSession: CODEX_SESSION_ID of its shell is that of the agent that has started it, and
// CODEX_THREAD_ID is its own.
func TestASubagentOfCodexWorksOnTheListOfItsSession(t *testing.T) {
	codex := slices.DeleteFunc(agents.All(), func(a *agents.Agent) bool { return a.Program != "codex" })
	of(t, codex, func(t *testing.T, a *agents.Agent) {
		w := a.New(t)
		program := withWorkflow(t, w)
		fsmtx(t, w, program, "install", "--agent", a.Program)
		var agent, sub atomic.Int64
		over := make(chan struct{})
		turn := func(r *Request) []Block {
			if !r.Says("ship it, all of you") {
				switch sub.Add(1) {
				case 1:
					return []Block{a.Bash("env", `test "$CODEX_SESSION_ID" != "$CODEX_THREAD_ID" && echo "$CODEX_SESSION_ID"`)}
				case 2:
					return []Block{a.Bash("early", program+" start 3")}
				case 3:
					return []Block{a.Bash("start", program+" start 1")}
				}
				close(over)
				return []Block{Text("Done.")}
			}
			switch agent.Add(1) {
			case 1:
				return []Block{a.TakeUp("take", "ship")}
			case 2:
				return []Block{a.Bash("session", `echo "$CODEX_SESSION_ID"`)}
			case 3:
				return []Block{Call("spawn", "multi_agent_v1/spawn_agent", map[string]any{"message": "Do the first step."})}
			case 4:
				<-over // the model is waited for
				return []Block{a.Bash("next", program+" next")}
			}
			return []Block{Text("Done.")}
		}
		r := w.Prompt(Script{Main: slices.Repeat([]Turn{turn}, 20)}, "ship it, all of you")
		require.Zero(t, r.Code)
		session, _ := r.Result("session")
		own, _ := r.Result("env")
		require.Equal(t, lastLine(session.Text), lastLine(own.Text))
		assertResults(t, r, map[string]string{
			"early": "cannot be started", "start": `#1 "Build" is in progress`, "next": "#1 Build (in progress)",
		})
	})
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
