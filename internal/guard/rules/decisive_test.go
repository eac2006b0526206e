package rules

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/guard"
)

// TestWhichServersAreResearch: those that are named so, or that a plugin brings under the name.
func TestWhichServersAreResearch(t *testing.T) {
	servers := []string{"Ref", "tavily"}
	for tool, want := range map[string]string{
		"mcp__ref__read": "ref", "mcp__Ref__read": "ref", "mcp__tavily__search": "tavily", "mcp__plugin_docs_ref__read": "ref",
		"mcp__plugin_a_b_Tavily__search": "tavily",
		"mcp__docs_ref__read":            "", "mcp__plugin__ref__read": "", "mcp__refs__read": "", "mcp__ref_read": "", "ref__read": "",
		"WebFetch": "",
	} {
		got, ok := researchServer(tool, servers)
		assert.Equal(t, want, got, tool)
		assert.Equal(t, want != "", ok, tool)
	}
}

// TestWhenALockIsStale is in minutes.
func TestWhenALockIsStale(t *testing.T) {
	assert.Equal(t, 2*time.Hour, defaults.staleAfter())
	assert.Equal(t, 3*time.Minute, configFrom(t, "workflow:\n  lock_stale_after_minutes: 3\n").staleAfter())
}

// TestTheNameOfThePlugin: the configuration's comes before the manifest's, and that before the default.
func TestTheNameOfThePlugin(t *testing.T) {
	v := configFrom(t, "workflow:\n  plugin: mine\n")
	assert.Equal(t, "mine", v.plugin)
	none := guard.Config{}
	assert.Equal(t, "theirs", defaults.withPlugin("theirs", none).plugin)
	assert.Equal(t, defaultPlugin, defaults.withPlugin("", none).plugin)
	assert.Equal(t, defaultPlugin, defaults.withPlugin("a/b", none).plugin)
}

// TestAStateFileWithoutAPhaseIsSaidSo: whatever else is known about the phase.
func TestAStateFileWithoutAPhaseIsSaidSo(t *testing.T) {
	path := t.TempDir() + "/" + stateName
	for text, want := range map[string]stateFile{
		"---\nmode: x\n---\n":     {exists: true, mode: "x"},
		"---\nphase: PLAN\n---\n": {exists: true, phase: "PLAN"},
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		assert.Equal(t, want, readState(path))
	}
	v, step := checkpointFacts{isState: true}.decide(defaults)
	assert.Equal(t, 2, v.Row)
	assert.Nil(t, step)
	assert.Equal(t, stateFile{}, readState(path+"x"))
}
