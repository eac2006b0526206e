package agent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/agent"
)

// TestTableIsRemovedToTheByte: from any file, and also after lines were added below it.
func TestTableIsRemovedToTheByte(t *testing.T) {
	table := agent.Table{Command: `/a "b"/\c`, Args: []string{"mcp"}}
	rapid.Check(t, func(t *rapid.T) {
		var before []byte
		if rapid.Bool().Draw(t, "exists") {
			before = append([]byte{}, rapid.SampledFrom([]string{"", "\n", "a = 1", "a = 1\n", "[x]\r\n", "# c\n\n", "é"}).Draw(t, "file")...)
		}
		added, err := table.Add(before)
		require.NoError(t, err)
		why, had, err := table.Inspect(added)
		require.NoError(t, err)
		require.True(t, had)
		require.Empty(t, why)
		again, err := table.Add(added)
		require.NoError(t, err)
		require.Equal(t, string(added), string(again))
		removed, had := table.Remove(added)
		require.True(t, had)
		require.Equal(t, before == nil, removed == nil)
		require.Equal(t, string(before), string(removed))

		later := rapid.SampledFrom([]string{"b = 2\n", "\n[y]\n"}).Draw(t, "later")
		removed, _ = table.Remove(append(added, later...))
		if len(before) > 0 && before[len(before)-1] != '\n' {
			before = append(before, '\n') // or the lines would become one
		}
		require.Equal(t, string(before)+later, string(removed))
	})
}

func TestTable(t *testing.T) {
	old, err := agent.Table{Command: "/old/fsmtx", Args: []string{"mcp"}}.Add([]byte("a = 1\n"))
	require.NoError(t, err)
	table := agent.Table{Command: "/new/fsmtx", Args: []string{"mcp"}}
	why, had, err := table.Inspect(old)
	require.NoError(t, err)
	assert.True(t, had)
	assert.Equal(t, "MCP server: is not the one that runs /new/fsmtx mcp", why)
	updated, err := table.Add(old)
	require.NoError(t, err)
	assert.Contains(t, string(updated), `command = "/new/fsmtx"`)
	assert.NotContains(t, string(updated), "old")

	for _, own := range []string{"[mcp_servers.fsmtx]\n", "[ mcp_servers . \"fsmtx\" ]\n", "[mcp_servers.fsmtx.env]\n",
		"mcp_servers = {}\n", "x = 1\nmcp_servers.fsmtx = {}\n"} {
		_, err := table.Add([]byte(own))
		require.ErrorIs(t, err, agent.ErrServer, own)
		_, _, err = table.Inspect([]byte(own))
		require.ErrorIs(t, err, agent.ErrServer, own)
		rest, had := table.Remove([]byte(own))
		assert.False(t, had)
		assert.Equal(t, own, string(rest))
	}
	for _, others := range []string{"[mcp_servers.other]\n", "[mcp_servers.fsmtx2]\n", "# [mcp_servers.fsmtx]\n"} {
		_, err := table.Add([]byte(others))
		require.NoError(t, err, others)
	}
}
