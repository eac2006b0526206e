package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestValuesByATool: a step gets its values from the tool, as the client spelled them, and its status
// says which it needs.
func TestValuesByATool(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", workflow.Step{Subject: "Tag", Within: 900, Set: []workflow.Value{{Name: "version", Pattern: "^[0-9.]+$"},
		{Name: "kind", OneOf: []string{"true", "false"}}}},
		workflow.Step{Subject: "Publish {version}", BlockedBy: []int64{1}})
	c := w.connect(nil)
	text, isError := c.call("workflow_status", args{})
	require.False(t, isError, text)
	assert.Contains(t, text, `sets version (matches ^[0-9.]+$)`)
	assert.Contains(t, text, `"time_limit":"15m"`)
	c.does("step_start", n(1))
	for _, values := range []any{args{}, args{"version": "x"}, args{"version": "1"}, args{"version": "1", "kind": "true", "more": 1}} {
		text, isError := c.call("step_complete", args{"step": 1, "values": values})
		require.True(t, isError, text)
		assert.Regexp(t, `Complete it with values \{"version": "…", "kind": "…"\}|Leave the others out`, text)
	}
	text = c.does("step_complete", args{"step": 1, "values": args{"version": json.RawMessage("1.10"), "kind": true}})
	assert.Contains(t, text, "#2 Publish 1.10 (ready)")
}
