//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/fsmtx/fsmtx/internal/harness/fakemodel"
	"github.com/fsmtx/fsmtx/internal/harness/realclient"
)

// TestWhatEachWayCosts prints what the commands and the MCP server cost: a
// plugin without either, with a workflow of three steps worked by each.
func TestWhatEachWayCosts(t *testing.T) {
	if os.Getenv("FSMTX_E2E_MEASURE") == "" {
		t.Skip("skipped: it measures; set FSMTX_E2E_MEASURE")
	}
	const server = "mcp__plugin_fsmtx_fsmtx__"
	for _, c := range []struct {
		name  string
		flags []string
		call  func(plugin, id, verb string, n int) Block
	}{
		{"commands", nil, func(plugin, id, verb string, n int) Block {
			return Bash(id, fmt.Sprint(plugin, "/bin/fsmtx ", verb, " ", n))
		}},
		{"MCP server", []string{"--mcp"}, func(_, id, verb string, n int) Block {
			return Call(id, server+"step_"+verb, map[string]any{"step": n})
		}},
	} {
		s := realclient.New(t)
		s.Env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = ""
		s.Allow = []string{"Skill"}
		dir := s.Path("project/plugin")
		require.Zero(t, s.Command("", fsmtx, append(append([]string{"plugin", "--stop", "off"}, c.flags...), dir)...).Code)
		skill(s, "project/plugin/skills", "release", steps("Release"))
		bare := s.Prompt(Script{Main: []Turn{Say("done")}}, "go").Exchanges(Main)
		require.NotEmpty(t, bare)
		s.Session = realclient.NewSession()
		turns := []Turn{Do(Skill("skill", "fsmtx:release"))}
		for n := 1; n <= 3; n++ {
			turns = append(turns, Do(c.call(dir, fmt.Sprint("s", n), "start", n)), Do(c.call(dir, fmt.Sprint("c", n), "complete", n)))
		}
		r := s.Prompt(Script{Main: append(turns, Say("done"))}, "go", "--plugin-dir", dir)
		all := r.Exchanges(Main)
		require.NotEmpty(t, all)
		first, last := all[0], all[len(all)-1]
		t.Logf("%s: first request %d bytes, %d more than without a plugin, with %d tools; told at the skill %d bytes; the last request %d "+
			"bytes more than the first; %d permission questions; %d of 3 steps done",
			c.name, first.Bytes, first.Bytes-bare[0].Bytes, len(first.Request.Tools), len(r.Told("skill")), last.Bytes-first.Bytes,
			len(r.Denied), stateOf(t, s).DoneCount())
		assert.Positive(t, first.Bytes)
	}
}
