package client_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
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
		want  client.Offer
	}{
		"nothing is listed yet":   {nil, client.Offer{}},
		"no task tools":           {[]string{noTaskTools}, client.Offer{Known: true}},
		"task tools":              {[]string{taskTools, noTaskTools}, client.Offer{Known: true, TaskTools: true}},
		"task tools that are off": {[]string{taskTools, toolsGone}, client.Offer{Known: true}},
		"and on again":            {[]string{taskTools, toolsGone, taskTools}, client.Offer{Known: true, TaskTools: true}},
		"of a subagent":           {[]string{noTaskTools, inSidechain}, client.Offer{Known: true}},
		"in a text":               {[]string{quotedDelta}, client.Offer{}},
		"the server":              {[]string{noTaskTools, served}, client.Offer{Known: true, Server: prefix}},
		"the server first":        {[]string{served, noTaskTools}, client.Offer{Known: true, Server: prefix}},
		"the server is gone":      {[]string{noTaskTools, served, serverGone}, client.Offer{Known: true}},
		"and there again":         {[]string{served, serverGone, served}, client.Offer{Server: prefix}},
		"another server":          {[]string{otherServer, noTaskTools}, client.Offer{Known: true}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600))
			assert.Equal(t, c.want, client.Tools(path, ""))
		})
	}
	assert.Equal(t, client.Offer{}, client.Tools("/nonexistent", ""))
}
