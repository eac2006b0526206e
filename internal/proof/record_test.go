package proof

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
)

// TestWhatShowsThatAStepWasNotEnforced: the lines of evidence that say so, and those that do not.
func TestWhatShowsThatAStepWasNotEnforced(t *testing.T) {
	line := func(verdict state.Decision, from, to, why string) state.Evidence {
		return state.Evidence{Verdict: verdict, From: from, To: to, Why: why}
	}
	for _, c := range []struct {
		e    state.Evidence
		want string
	}{
		{line(state.Allow, "in_progress", "completed", "its check passed"), ""},
		{line(state.Allow, "in_progress", "completed", "done: in order; checks are off"), `checks were off when step "A" was completed`},
		{line(state.Allow, "pending", "completed", "in order; its record cannot be read"), `what is on record of step "A" could not be read`},
		{line(state.SeenDone, "completed", "completed", "seen done"), ""},
		{line(state.SeenDone, "completed", "completed", "seen: it was completed in another way"), `step "A" was changed without a hook`},
		{line(state.Allow, "completed", "completed", "seen: it was completed in another way, and its gates hold"), "without a hook"},
		{line(state.Allow, "in_progress", "in_progress", "seen: it was started in another way"), "without a hook"},
		{line(state.Deny, "completed", "completed", "check failed: exit status 1"), "without a hook"},
		{line(state.Deny, "in_progress", "completed", "check failed: exit status 1"), ""},
		{line(state.Deny, "in_progress", "completed", "checks are off"), ""},
		{line(state.Override, "pending", "completed", "skip: checks are off"), ""},
	} {
		got := unenforced(&Step{Subject: "A"}, c.e)
		require.Contains(t, got, c.want, c.e.Why)
		require.Equal(t, c.want == "", got == "", c.e.Why)
	}
}

func TestTheAgentOfARecord(t *testing.T) {
	require.Equal(t, Agent{"claude-code", "2.1.329"}, agentOf("claude-code_2-1-329_harness"))
	require.Equal(t, Agent{Name: "codex"}, agentOf("codex"))
	require.Equal(t, Agent{}, agentOf(""))
}
