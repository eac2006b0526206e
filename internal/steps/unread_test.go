package steps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
	for name, step := range map[string]Step{
		"of an array":   {Subject: "Test", Check: &Check{Run: "false", Timeout: 9}},
		"with outcomes": {Subject: "Test", Check: &Check{Run: "false", Timeout: 9}, Outcomes: []Outcome{{Name: "failed", Back: 1, Max: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, step, Step{Subject: "Publish", BlockedBy: []int64{1}})
			right := l.unread()
			require.NotEmpty(t, l.do(1, completed).Trouble)
			require.True(t, l.state().Step(1).Done(), "the list is believed meanwhile")
			right()
			require.False(t, l.state().Step(1).Done())
			require.Equal(t, Deny, l.ask(2, inProgress).Decision)
		})
	}
}

// TestAPersonGoesPastWithoutARecord: the list shows their word at once, also where its steps wait for one another.
func TestAPersonGoesPastWithoutARecord(t *testing.T) {
	l := hydrated(t, Step{}, Step{BlockedBy: []int64{1, 3}}, Step{BlockedBy: []int64{2}}, Step{})
	for id, blocker := range map[int64]string{2: "3", 3: "2"} {
		l.put(id, `{"id":"`+itoa(id)+`","subject":"s","description":"","status":"pending","blocks":[],"blockedBy":["`+blocker+`"],`+
			`"metadata":{"fsm":"release"}}`)
	}
	l.unread()
	_, err := l.GoPast(t.Context(), Past{Step: 3, Because: "x"}, By{})
	require.ErrorIs(t, err, errBlocked)
	_, err = l.GoPast(t.Context(), Past{Step: 3, Because: "x", WithBlockers: true}, By{})
	require.NoError(t, err)
	_, err = l.GoPast(t.Context(), Past{Step: 1, Done: true, Because: "x"}, By{})
	require.NoError(t, err)
	for id := range int64(3) {
		require.Equal(t, completed, l.file(id+1, "status"))
		require.True(t, l.state().Step(id+1).Done())
	}
	_, err = l.Reopen(t.Context(), 1, "x", By{})
	require.ErrorIs(t, err, errUnread)
	s, err := l.End(t.Context(), 4, "x", By{})
	require.NoError(t, err)
	require.False(t, s.HasOpen())
	require.Equal(t, pending, l.file(4, "status"))
}
