package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/claude/transcript"
)

const (
	noTaskTools = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["CronCreate","TaskStop"],` +
		`"removedNames":[],"readdedNames":[]},"type":"attachment"}`
	taskTools = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskCreate","TaskUpdate"],` +
		`"removedNames":[],"readdedNames":[]},"type":"attachment"}`
	toolsGone = `{"isSidechain":false,"attachment":{"type":"deferred_tools_delta","addedNames":[],` +
		`"removedNames":["TaskUpdate"]},"type":"attachment"}`
	inSidechain = `{"isSidechain":true,"attachment":{"type":"deferred_tools_delta","addedNames":["TaskUpdate"]},"type":"attachment"}`
	served      = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":["other","plugin:fsmtx:fsmtx"],` +
		`"addedBlocks":["## other\nUse me.","## plugin:fsmtx:fsmtx\nSome skills come as a workflow.\n- workflow_status: the steps, ` +
		`which are ready, and more"],"removedNames":[]},"type":"attachment"}`
	otherServer = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":["fsmtx"],"addedBlocks":["## fsmtx\nNot ` +
		`ours."],"removedNames":[]},"type":"attachment"}`
	serverGone = `{"isSidechain":false,"attachment":{"type":"mcp_instructions_delta","addedNames":[],"addedBlocks":[],` +
		`"removedNames":["plugin:fsmtx:fsmtx"]},"type":"attachment"}`
	quotedDelta = `{"isSidechain":false,"type":"user","message":{"role":"user","content":"\"deferred_tools_delta\" TaskUpdate"}}`
)

// What the client has told the model last counts.
func TestTools(t *testing.T) {
	const prefix = "mcp__plugin_fsmtx_fsmtx__"
	for name, c := range map[string]struct {
		lines []string
		want  transcript.Offer
	}{
		"nothing is listed yet":   {nil, transcript.Offer{}},
		"no task tools":           {[]string{noTaskTools}, transcript.Offer{Known: true}},
		"task tools":              {[]string{taskTools, noTaskTools}, transcript.Offer{Known: true, TaskTools: true}},
		"task tools that are off": {[]string{taskTools, toolsGone}, transcript.Offer{Known: true}},
		"and on again":            {[]string{taskTools, toolsGone, taskTools}, transcript.Offer{Known: true, TaskTools: true}},
		"of a subagent":           {[]string{noTaskTools, inSidechain}, transcript.Offer{Known: true}},
		"in a text":               {[]string{quotedDelta}, transcript.Offer{}},
		"the server":              {[]string{noTaskTools, served}, transcript.Offer{Known: true, Server: prefix}},
		"the server first":        {[]string{served, noTaskTools}, transcript.Offer{Known: true, Server: prefix}},
		"the server is gone":      {[]string{noTaskTools, served, serverGone}, transcript.Offer{Known: true}},
		"and there again":         {[]string{served, serverGone, served}, transcript.Offer{Server: prefix}},
		"another server":          {[]string{otherServer, noTaskTools}, transcript.Offer{Known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600))
			assert.Equal(t, c.want, transcript.Tools(path, ""))
		})
	}
	assert.Equal(t, transcript.Offer{}, transcript.Tools("/nonexistent", ""))
}
