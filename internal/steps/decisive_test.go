package steps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAStepNeedsIsNotAskedForAtItsEnd: files that were there at the start may be used up.
func TestWhatAStepNeedsIsNotAskedForAtItsEnd(t *testing.T) {
	for name, outcomes := range map[string][]Outcome{"no outcomes": nil, "outcomes": {{Name: "again", Back: 1, Max: 2}}} {
		l := hydrated(t, Step{Ready: []string{"in"}, Outcomes: outcomes}, Step{BlockedBy: []int64{1}})
		require.Contains(t, l.denies(1, inProgress), "in", name)
		l.write("in", "x")
		l.allows(1, inProgress)
		require.NoError(t, os.Remove(filepath.Join(l.project, "in")))
		l.allows(1, completed)
	}
}

// TestNobodyGoesPastAStepThatIsGone, or one that is done.
func TestNobodyGoesPastAStepThatIsGone(t *testing.T) {
	l := hydrated(t, Step{}, Step{}, Step{Status: completed})
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	for step, want := range map[int64]error{1: errNoStep, 3: errIsDone, 7: errNoStep, 99: errNoStep} {
		_, err := l.GoPast(t.Context(), Past{Step: step, Because: "x"}, By{})
		require.ErrorIs(t, err, want, step)
	}
	_, err := l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x", Values: map[string]string{"a": "b"}}, By{})
	require.ErrorIs(t, err, errNoValue)
	require.Empty(t, l.state().Evidence, "nothing is on record")
}

// TestWhoHasDecidedIsOnRecord: without a session of their own, that of the list.
func TestWhoHasDecidedIsOnRecord(t *testing.T) {
	l := hydrated(t, Step{Only: []string{"Bash(git push *)"}}, Step{})
	for given, want := range map[string]string{"": "s1", "theirs": "theirs"} {
		by := By{Who: ThePerson, How: AtTerminal, Session: given}
		_, err := l.Permit(t.Context(), "Bash(git push *)", "now", by)
		require.NoError(t, err)
		calls := l.state().Calls
		require.Equal(t, want, calls[len(calls)-1].By.Session)
	}
	_, err := l.GoPast(t.Context(), Past{Step: 2, Because: "x"}, By{Who: ThePerson})
	require.NoError(t, err)
	require.Equal(t, "s1", l.state().Evidence[0].By.Session)
}

// TestResumeNamesEveryStepInProgress: the first two in full, the others by name.
func TestResumeNamesEveryStepInProgress(t *testing.T) {
	l := hydrated(t, Step{Subject: "one"}, Step{Subject: "two"}, Step{Subject: "three"}, Step{Subject: "four"}, Step{Subject: "five"})
	for id := range int64(4) {
		l.allows(id+1, inProgress)
	}
	text, err := l.Resume(t.Context(), "")
	require.NoError(t, err)
	require.Contains(t, text, "How to do 2.")
	require.NotContains(t, text, "How to do 3.")
	require.Regexp(t, `Also in progress: .*"three".*"four"`, text)
	require.Contains(t, text, "Ready: ")
	report, err := l.Report(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, text, report)
}
