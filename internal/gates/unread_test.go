package gates

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// unread damages the record of the list, and returns what puts it right again.
func (l *list) unread() (right func()) {
	l.t.Helper()
	found, err := filepath.Glob(filepath.Join(stateDirOf(l.Frame), "done-*"))
	require.NoError(l.t, err)
	require.Len(l.t, found, 1)
	whole, err := os.ReadFile(found[0])
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(found[0], []byte("damaged"), 0o600))
	return func() { require.NoError(l.t, os.WriteFile(found[0], whole, 0o600)) }
}

// TestGatesAreEvaluatedOnceTheRecordCanBeRead: what was let through without a look at them is completed in another way.
func TestGatesAreEvaluatedOnceTheRecordCanBeRead(t *testing.T) {
	for name, step := range map[string]workflow.Step{
		"of an array": {Subject: "Test", Check: &workflow.Check{Run: "false", Timeout: 9}},
		"with outcomes": {Subject: "Test", Check: &workflow.Check{Run: "false", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "failed", Back: 1, Max: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, step, workflow.Step{Subject: "Publish", BlockedBy: []int64{1}})
			right := l.unread()
			require.NotEmpty(t, l.do(1, workflow.Completed).Trouble)
			require.True(t, l.state().Step(1).Done(), "the list is believed meanwhile")
			right()
			require.False(t, l.state().Step(1).Done())
			require.Equal(t, state.Deny, l.ask(2, workflow.InProgress).Decision)
		})
	}
}

// TestAPersonGoesPastWithoutARecord: the list shows their word at once, also where its steps wait for one another.
func TestAPersonGoesPastWithoutARecord(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1, 3}}, workflow.Step{BlockedBy: []int64{2}}, workflow.Step{})
	for id, blocker := range map[int64]string{2: "3", 3: "2"} {
		l.put(id, `{"id":"`+message.Itoa(id)+`","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":["`+blocker+`"],`+
			`"metadata":{"fsm":"release"}}`)
	}
	l.unread()
	_, err := l.GoPast(t.Context(), Past{Step: 3, Because: "x"}, state.By{})
	require.ErrorIs(t, err, errBlocked)
	_, err = l.GoPast(t.Context(), Past{Step: 3, Because: "x", WithBlockers: true}, state.By{})
	require.NoError(t, err)
	_, err = l.GoPast(t.Context(), Past{Step: 1, Done: true, Because: "x"}, state.By{})
	require.NoError(t, err)
	for id := range int64(3) {
		require.Equal(t, workflow.Completed, l.file(id+1, "status"))
		require.True(t, l.state().Step(id+1).Done())
	}
	_, err = l.Reopen(t.Context(), 1, "x", state.By{})
	require.ErrorIs(t, err, errUnread)
	s, err := l.End(t.Context(), 4, "x", state.By{})
	require.NoError(t, err)
	require.False(t, s.HasOpen())
	require.Equal(t, workflow.Pending, l.file(4, "status"))
}
