//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// personTool names the environment variable that turns this test program into an MCP
// server whose tool plays a person who says yes to every question.
const personTool = "FSMTX_E2E_PERSON"

// saysYes adds a person who approves everything, and returns the arguments with which the
// client asks them.
func saysYes(t *testing.T, s *realclient.Sandbox) []string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s.Write("project/person.json", fmt.Sprintf(`{"mcpServers": {"person": {"command": %q, "env": {%q: "1"}}}}`, self, personTool))
	return []string{"--mcp-config", s.Path("project/person.json"), "--permission-prompt-tool", "mcp__person__permission"}
}

type permission struct {
	Behavior string         `json:"behavior"`
	Input    jsontext.Value `json:"updatedInput"`
}

// servePerson runs in the child process.
func servePerson() int {
	s := mcp.NewServer(&mcp.Implementation{Name: "person", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "permission", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var asked struct {
				Input jsontext.Value `json:"input"`
			}
			if err := json.Unmarshal(r.Params.Arguments, &asked); err != nil {
				return nil, err
			}
			text, err := json.Marshal(permission{"allow", asked.Input})
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return report(err)
	}
	return 0
}
