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
