package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheAgentOfARecord(t *testing.T) {
	require.Equal(t, Agent{"claude-code", "2.1.329"}, agentOf("claude-code_2-1-329_harness"))
	require.Equal(t, Agent{Name: "codex"}, agentOf("codex"))
	require.Equal(t, Agent{}, agentOf(""))
}
