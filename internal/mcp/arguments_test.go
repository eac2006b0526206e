package mcp

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// raw is the arguments of a call as a client writes them.
type raw = json.RawMessage

func TestWrongArgumentsAreExplained(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	c := w.connect(nil)
	for _, test := range []struct{ tool, arguments, want string }{
		{"step_start", `{}`, "step_start needs the argument step, which is a whole number: number of the step, as workflow_status shows it"},
		{"step_start", `{"step": null}`,
			"step_start needs the argument step, which is a whole number: number of the step, as workflow_status shows it"},
		{"step_start", `{"step": "1"}`,
			`step of step_start cannot be "1": it has to be a whole number: number of the step, as workflow_status shows it`},
		{"step_start", `{"step": 1.5}`,
			`step of step_start cannot be 1.5: it has to be a whole number: number of the step, as workflow_status shows it`},
		{"step_start", `{"step": 1e30}`,
			`step of step_start cannot be 1e30: it has to be a whole number: number of the step, as workflow_status shows it`},
		{"step_start", `{"step": 99999999999999999999}`,
			`step of step_start cannot be 99999999999999999999: it has to be a whole number: number of the step, as workflow_status shows it`},
		{"step_start", `[1]`, "the arguments of step_start have to be an object, and are an array. Its arguments are: step"},
		{"workflow_status", `"x"`, "the arguments of workflow_status have to be an object, and are a string. workflow_status needs no arguments"},
		{"step_start", `{"step": 1, "values": {"version": "1"}}`,
			"step_start has no argument values, which is one of step_complete. Its arguments are: step"},
		{"step_complete", `{"stp": 1}`, "step_complete needs the argument step, which is a whole number: number of the step, " +
			"as workflow_status shows it\nstep_complete has no argument stp: did you mean step?"},
		{"step_complete", `{"step": 1, "values": "1.2"}`, `values of step_complete cannot be "1.2": it has to be an object: the values that ` +
			`workflow_status shows the step to set, by name: texts, numbers or booleans`},
		{"step_complete", `{"step": 1, "note": {}}`, `note of step_complete cannot be {}: it has to be a text: what was done and how it was ` +
			`verified, in a sentence or two; kept as evidence`},
		{"step_skip", `{"step": 1}`, "step_skip needs the argument because, which is a text: why the step cannot or need not " +
			"be done; the person reads it"},
		{"workflow_begin", `{"skill": "release", "goal": "x"}`, "workflow_begin has no argument goal. Its arguments are: skill, args"},
		{"workflow_begin", `{"skill": 5}`, "skill of workflow_begin cannot be 5: it has to be a text: name of the skill, or the absolute path " +
			"of its folder, which has an fsm.json"},
		{"workflow_status", `{"step": 1}`,
			"workflow_status has no argument step, which is one of step_complete, step_skip, step_start. workflow_status needs no arguments"},
		{"step_start", `{"\u202estep": 1, "step": 1}`, "step_start has no argument \\u202estep: did you mean step?"},
	} {
		assert.Equal(t, test.want, c.refusesRaw(test.tool, test.arguments), test.arguments)
	}
	assert.Equal(t, "pending", w.status("s1", 1))
}

// An agent may give every argument that a tool has: those that it does not mean are null.
func TestAnArgumentThatIsNullIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	c := w.connect(nil)
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "step_start", Arguments: raw(`{"step": 1, "session": null, "cwd": null}`)})
	require.NoError(t, err)
	assert.False(t, r.IsError)
	assert.Equal(t, "in_progress", w.status("s1", 1))
}

// TestAWholeNumberMayBeWrittenAsAFloat: agents whose numbers are all floats write 1.0.
func TestAWholeNumberMayBeWrittenAsAFloat(t *testing.T) {
	w := newWorld(t)
	w.hydrate("s1", chain()...)
	r, err := w.connect(nil).CallTool(t.Context(), &mcp.CallToolParams{Name: "step_start", Arguments: raw(`{"step": 1.0}`)})
	require.NoError(t, err)
	assert.False(t, r.IsError)
	assert.Equal(t, "in_progress", w.status("s1", 1))
}

// refusesRaw calls a tool, which must fail, with arguments as they are written. It returns the text.
func (c *officialClient) refusesRaw(tool, arguments string) string {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: raw(arguments)})
	require.NoError(c.t, err)
	require.True(c.t, r.IsError, arguments)
	return r.Content[0].(*mcp.TextContent).Text
}
