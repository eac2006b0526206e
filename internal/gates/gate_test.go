package gates

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestGatesSayThemselvesHowTheyAreShown: what draws, lists or prints gates knows no kind.
func TestGatesSayThemselvesHowTheyAreShown(t *testing.T) {
	spec, err := fsmspec.Parse([]byte(`{"fsm": 2, "steps": [{"id": 1, "subject": "A", "ready": ["in"], "produces": ["out"], ` +
		`"check": "make", "approval": "Sure?", "do": "notes",
		"outcomes": {"done": {"produces": ["log"], "check": "true", "approval": true}, "again": {"back": 1, "max": 2}}}]}`))
	require.NoError(t, err)
	task := spec.Tasks()[0]
	gates := append(workflow.GatesOf(task), workflow.GatesOfOutcome(task.Flow.Outcomes[0])...)
	gates = append(gates, workflow.Gate{Kind: "new", When: workflow.AtCompletion})
	var labels, conditions []string
	for _, g := range gates {
		labels, conditions = append(labels, g.Label()), append(conditions, g.Condition())
	}
	assert.Equal(t, []string{"ready: in", "skill: notes", "produces: out", "check: make", "approval", "produces: log", "check: true",
		"approval", "new"}, labels)
	assert.Equal(t, []string{"", "", "", "", "", "produces log", "check (at most 5m0s): true", "", "new"}, conditions,
		"the agent reads of the others elsewhere")
	assert.Equal(t, []workflow.ShownGate{{Kind: workflow.ReadyFiles, When: workflow.AtStart, Text: "needs in"},
		{Kind: "new", When: workflow.AtCompletion, Text: "new"}}, workflow.ShownGates([]workflow.Gate{gates[0], gates[8]}))
	assert.NotNil(t, workflow.ShownGates(nil), "a list without gates is an empty array")
}
