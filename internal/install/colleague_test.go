package install

import (
	"os/exec"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/settings"
)

// TestAColleagueWithoutTheProgramIsToldWhereItIs: the hooks that a project shares say it when a session of whatever agent starts, to the
// person and to the model, and do nothing at any other event.
func TestAColleagueWithoutTheProgramIsToldWhereItIs(t *testing.T) {
	for _, a := range agent.Others() {
		for _, h := range agentHooks(a, settings.Program) {
			c := exec.Command("/bin/sh", "-c", h.Line())
			c.Dir, c.Env = t.TempDir(), []string{"PATH=/usr/bin:/bin"}
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s %s", a.Name, h.Event)
			if h.Report == "" {
				assert.Empty(t, string(out), "%s %s", a.Name, h.Event)
				continue
			}
			var reply struct {
				System  string `json:"systemMessage"`
				Context string `json:"additionalContext"`
				Output  struct {
					Event   string `json:"hookEventName"`
					Context string `json:"additionalContext"`
				} `json:"hookSpecificOutput"`
			}
			require.NoError(t, json.Unmarshal(out, &reply), string(out))
			assert.Contains(t, reply.System, "Get it from https://github.com/fsmtx/fsmtx, ", a.Name)
			assert.Contains(t, reply.Context+reply.Output.Context, "and is at https://github.com/fsmtx/fsmtx.", a.Name)
			assert.Equal(t, "SessionStart", h.Event)
		}
	}
}
