package gates

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestChecksAreOff: no command is run, the other gates hold, and what a command decides a person has to.
func TestChecksAreOff(t *testing.T) {
	mark := &workflow.Check{Run: "touch ran; false", Timeout: 9}
	l := hydrated(t, workflow.Step{Check: mark}, workflow.Step{Check: mark, Produces: []string{"out"}},
		workflow.Step{Check: mark, Approval: "Well?"},
		workflow.Step{BlockedBy: []int64{1, 3}, Check: mark})
	l.NoChecks = true
	l.denies(4, workflow.Completed)
	l.allows(1, workflow.InProgress)
	v := l.do(1, workflow.Completed)
	require.True(t, v.Allowed())
	require.Equal(t, "in order; checks are off", v.Why)
	l.allows(2, workflow.InProgress)
	require.Contains(t, l.denies(2, workflow.Completed), "out")
	l.write("out", "x")
	l.allows(2, workflow.Completed)
	l.allows(3, workflow.InProgress)
	require.Equal(t, state.Ask, l.do(3, workflow.Completed).Decision)
	require.NoFileExists(t, l.project+"/ran")

	flow := hydrated(t,
		workflow.Step{Check: mark, Outcomes: []workflow.Outcome{{Name: "again", Back: 1, Max: 2, Check: mark}}},
		workflow.Step{BlockedBy: []int64{1}, Decides: "command", Chooser: mark, Outcomes: []workflow.Outcome{{Name: "a"}, {Name: "b"}}})
	flow.NoChecks = true
	flow.allows(1, workflow.InProgress)
	flow.allows(1, workflow.Completed)
	flow.allows(2, workflow.InProgress)
	require.Contains(t, flow.denies(2, workflow.Completed), "commands are not run here (--checks off)")
	require.NoFileExists(t, flow.project+"/ran")
}

// TestPlanMode: no command of a step is run, whatever it is for, and the update that needs one is refused. It is not
// refused for good: outside of plan mode the same update runs it.
func TestPlanMode(t *testing.T) {
	mark := &workflow.Check{Run: "touch ran; echo a", Timeout: 9}
	for name, c := range map[string]struct {
		step workflow.Step
		to   string
		want string
	}{
		"check": {workflow.Step{Check: mark}, workflow.Completed, "its check is not run there"},
		"with outcomes": {workflow.Step{Check: mark, Outcomes: []workflow.Outcome{{Name: "a"}, {Name: "done"}}}, workflow.Completed,
			"its check is not run there"},
		"decides": {workflow.Step{Decides: "command", Chooser: mark, Outcomes: []workflow.Outcome{{Name: "a"}, {Name: "b"}}}, workflow.Completed,
			"the command that decides how it ends is not run there"},
		"value": {workflow.Step{Outcomes: []workflow.Outcome{{Name: "done"}}, Set: []workflow.Value{{Name: "version", Command: mark}}},
			workflow.Completed,
			"the command that gives version is not run there"},
		"lines": {workflow.Step{Outcomes: []workflow.Outcome{{Name: "done"}, {Name: "again", Back: 1, Max: 1}},
			Each: &workflow.Each{Run: mark, Workflow: `[{"id": 1, "subject": "S"}]`}}, workflow.InProgress,
			"the command that prints its lines is not run there"},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, c.step)
			l.Planning = true
			require.Contains(t, l.denies(1, c.to), c.want)
			require.NoFileExists(t, l.project+"/ran")
			l.Planning = false
			l.do(1, c.to)
			require.FileExists(t, l.project+"/ran")
		})
	}
}
