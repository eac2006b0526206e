package gates

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestAStepSaysHowItCanEnd, and what its gates are, in words.
func TestAStepSaysHowItCanEnd(t *testing.T) {
	env := []string{"HOME"}
	s := workflow.Step{
		When: []workflow.Condition{{Step: 4, Outcomes: []string{"big", "small"}}}, Within: 90,
		Outcomes: []workflow.Outcome{
			{Name: "again", Back: 2, Max: 1},
			{Name: "more", Back: 2, Max: 3, Then: "stop"},
			{Name: "drop", Stop: true, Produces: []string{"a", "b"}, Check: &workflow.Check{Run: "ok", Timeout: 9, Env: &env}, Approval: "Sure?"},
		},
		Decides: "person",
		Set:     []workflow.Value{{Name: "size", OneOf: []string{"s", "m"}}, {Name: "sum", Command: &workflow.Check{Run: "wc", Timeout: 5}}},
	}
	require.Equal(t, []string{
		"needed if #4 ends as big or small",
		"outcome again ↺ #2, once at most",
		"outcome more ↺ #2, 3 times at most, then stop",
		"outcome drop ends the workflow; produces a, b; check (at most 9s, with HOME, no other variable): ok; approval: Sure?",
		"a person decides",
		"sets size (s or m)",
		"sets sum by a command (at most 5s): wc",
		"within 1m30s",
	}, s.Ends(0))
	s = workflow.Step{Chooser: &workflow.Check{Run: "pick", Timeout: 7}, Decides: "command"}
	require.Equal(t, []string{"a command decides (at most 7s): pick"}, s.Ends(0))
	require.Empty(t, workflow.Step{}.Ends(0))
	require.Equal(t, workflow.Outcome{}, s.Declared("done"))

	var texts []string
	for _, g := range (workflow.Step{Ready: []string{"in"}, Do: "review", Produces: []string{"out"},
		Check:    &workflow.Check{Run: "ok", Timeout: 9},
		Approval: "Sure?"}).Gates() {
		texts = append(texts, g.String())
	}
	require.Equal(t, []string{"needs in", "calls the skill review", "produces out", "check (at most 9s): ok", "approval: Sure?"}, texts)
}
