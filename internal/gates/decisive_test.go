package gates

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhatAStepNeedsIsNotAskedForAtItsEnd: files that were there at the start may be used up.
func TestWhatAStepNeedsIsNotAskedForAtItsEnd(t *testing.T) {
	for name, outcomes := range map[string][]workflow.Outcome{"no outcomes": nil, "outcomes": {{Name: "again", Back: 1, Max: 2}}} {
		l := hydrated(t, workflow.Step{Ready: []string{"in"}, Outcomes: outcomes}, workflow.Step{BlockedBy: []int64{1}})
		require.Contains(t, l.denies(1, workflow.InProgress), "in", name)
		l.write("in", "x")
		l.allows(1, workflow.InProgress)
		require.NoError(t, os.Remove(filepath.Join(l.project, "in")))
		l.allows(1, workflow.Completed)
	}
}

// TestNobodyGoesPastAStepThatIsGone, or one that is done.
func TestNobodyGoesPastAStepThatIsGone(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{Status: workflow.Completed})
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	for step, want := range map[int64]error{1: errNoStep, 3: errIsDone, 7: errNoStep, 99: errNoStep} {
		_, err := l.GoPast(t.Context(), Past{Step: step, Because: "x"}, state.By{})
		require.ErrorIs(t, err, want, step)
	}
	_, err := l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x", Values: map[string]string{"a": "b"}}, state.By{})
	require.ErrorIs(t, err, errNoValue)
	require.Empty(t, l.state().Evidence, "nothing is on record")
}

// TestWhoHasDecidedIsOnRecord: without a session of their own, that of the list.
func TestWhoHasDecidedIsOnRecord(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(git push *)"}}, workflow.Step{})
	for given, want := range map[string]string{"": "s1", "theirs": "theirs"} {
		by := state.By{Who: state.ThePerson, How: state.AtTerminal, Session: given}
		_, err := l.Permit(t.Context(), "Bash(git push *)", "now", by)
		require.NoError(t, err)
		calls := l.state().Calls
		require.Equal(t, want, calls[len(calls)-1].By.Session)
	}
	_, err := l.GoPast(t.Context(), Past{Step: 2, Because: "x"}, state.By{Who: state.ThePerson})
	require.NoError(t, err)
	require.Equal(t, "s1", l.state().Evidence[0].By.Session)
}

// TestResumeNamesEveryStepInProgress: the first two in full, the others by name.
func TestResumeNamesEveryStepInProgress(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "one"}, workflow.Step{Subject: "two"}, workflow.Step{Subject: "three"},
		workflow.Step{Subject: "four"}, workflow.Step{Subject: "five"})
	for id := range int64(4) {
		l.allows(id+1, workflow.InProgress)
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
