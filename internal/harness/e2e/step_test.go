//go:build e2e

// What holds an agent to the steps of a workflow, gate by gate (docs/steps.md).

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
	"github.com/fsmtx/fsmtx/internal/state"
)

// held returns a sandbox whose project has the hooks and the skill release with these
// steps.
func held(t *testing.T, fsm string, flags ...string) *realclient.Sandbox {
	t.Helper()
	t.Parallel()
	return heldHere(t, fsm, flags...)
}

// heldHere is held for a test that has another sandbox, too.
func heldHere(t *testing.T, fsm string, flags ...string) *realclient.Sandbox {
	t.Helper()
	s := realclient.New(t)
	skill(s, projectSkills, "release", fsm)
	installed(t, s, flags...)
	return s
}

// begun returns turns that call the skill and load the task tools.
func begun() []Turn { return []Turn{Do(Skill("skill", "release")), load} }

// denied ends the test unless the call was refused, and returns the reason.
func denied(t *testing.T, r *realclient.Run, id string) string {
	t.Helper()
	isError, text := refused(t, r, id)
	require.True(t, isError, "%s was not refused: %s", id, text)
	return text
}

// allowed ends the test unless the call was carried out.
func allowed(t *testing.T, r *realclient.Run, ids ...string) {
	t.Helper()
	for _, id := range ids {
		isError, text := refused(t, r, id)
		require.False(t, isError, "%s was refused: %s", id, text)
	}
}

// stateOf returns the state of the steps.
func stateOf(t *testing.T, s *realclient.Sandbox) *state.State {
	t.Helper()
	found, err := state.Load(t.Context(), list(s))
	require.NoError(t, err)
	return found
}

// gated is a workflow of one step with a gate, and one after it.
func gated(gate string) string {
	return fmt.Sprintf(`[{"id": 1, "subject": "Write", %s}, {"id": 2, "subject": "Publish", "blockedBy": [1]}]`, gate)
}

// The hooks have no effect on a session that calls no skill with steps.
func TestAnOrdinarySessionIsLeftAlone(t *testing.T) {
	s := held(t, steps("Release"), "--stop", "hold")
	s.Write(projectSkills+"/plain/SKILL.md", plainSkill)

	r := s.Prompt(Script{
		Main: append(created("first", "second"),
			Do(Skill("skill", "plain")),
			Do(update("block", "2", map[string]any{"addBlockedBy": []string{"1"}})),
			Do(TaskUpdate("complete", "2", "completed")),
			Do(TaskUpdate("delete", "1", "deleted")),
			Do(Call("write", "Write", map[string]any{"file_path": s.Path("project/a.md"), "content": "x"})),
			Do(Bash("bash", "cd . && echo fsmtx step skip 1")),
			Do(Agent("agent", "general-purpose", "be a helper")),
			Say("done")),
		Agents: map[string][]Turn{"be a helper": {Say("helped")}},
	}, "go")

	allowed(t, r, "skill", "block", "complete", "delete", "write", "bash")
	for _, event := range []string{"PreToolUse", "TaskCompleted", "Stop", "SubagentStop"} {
		require.NotEmpty(t, r.Ran(event), event)
		for _, h := range r.Ran(event) {
			assert.Zero(t, h.ExitCode, event)
			assert.Contains(t, []string{"", "{\"continue\": true}\n"}, h.Stdout, "%s: hydrate answers, step does not", event)
			assert.Empty(t, h.Stderr, event)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(list(s)))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no state directory beside the list")
	assert.Equal(t, s.Session, entries[0].Name())
}
