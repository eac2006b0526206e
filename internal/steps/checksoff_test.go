package steps

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChecksAreOff: no command is run, the other gates hold, and what a command decides a person has to.
func TestChecksAreOff(t *testing.T) {
	mark := &Check{Run: "touch ran; false", Timeout: 9}
	l := hydrated(t, Step{Check: mark}, Step{Check: mark, Produces: []string{"out"}}, Step{Check: mark, Approval: "Well?"},
		Step{BlockedBy: []int64{1, 3}, Check: mark})
	l.NoChecks = true
	l.denies(4, completed)
	l.allows(1, inProgress)
	v := l.do(1, completed)
	require.True(t, v.Allowed())
	require.Equal(t, "in order; checks are off", v.Why)
	l.allows(2, inProgress)
	require.Contains(t, l.denies(2, completed), "out")
	l.write("out", "x")
	l.allows(2, completed)
	l.allows(3, inProgress)
	require.Equal(t, Ask, l.do(3, completed).Decision)
	require.NoFileExists(t, l.project+"/ran")

	flow := hydrated(t,
		Step{Check: mark, Outcomes: []Outcome{{Name: "again", Back: 1, Max: 2, Check: mark}}},
		Step{BlockedBy: []int64{1}, Decides: "command", Chooser: mark, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}})
	flow.NoChecks = true
	flow.allows(1, inProgress)
	flow.allows(1, completed)
	flow.allows(2, inProgress)
	require.Contains(t, flow.denies(2, completed), "commands are not run here (--checks off)")
	require.NoFileExists(t, flow.project+"/ran")
}

// TestPlanMode: no command of a step is run, whatever it is for, and the update that needs one is refused. It is not
// refused for good: outside of plan mode the same update runs it.
func TestPlanMode(t *testing.T) {
	mark := &Check{Run: "touch ran; echo a", Timeout: 9}
	for name, c := range map[string]struct {
		step Step
		to   string
		want string
	}{
		"check":         {Step{Check: mark}, completed, "its check is not run there"},
		"with outcomes": {Step{Check: mark, Outcomes: []Outcome{{Name: "a"}, {Name: "done"}}}, completed, "its check is not run there"},
		"decides": {Step{Decides: "command", Chooser: mark, Outcomes: []Outcome{{Name: "a"}, {Name: "b"}}}, completed,
			"the command that decides how it ends is not run there"},
		"value": {Step{Outcomes: []Outcome{{Name: "done"}}, Set: []Value{{Name: "version", Command: mark}}}, completed,
			"the command that gives version is not run there"},
		"lines": {Step{Outcomes: []Outcome{{Name: "done"}, {Name: "again", Back: 1, Max: 1}},
			Each: &Each{Run: mark, Workflow: `[{"id": 1, "subject": "S"}]`}}, inProgress,
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
