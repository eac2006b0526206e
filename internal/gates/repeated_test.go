package gates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestAStartThatIsRepeatedStartsNothingElse: the line about another step that it has seen is not its own.
func TestAStartThatIsRepeatedStartsNothingElse(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{Produces: []string{"out"}})
	l.Apply = true
	for _, u := range []Update{{Task: "1", Status: workflow.InProgress}, {Task: "2", Status: workflow.InProgress},
		{Task: "1", Status: workflow.Completed}, {Task: "2", Status: workflow.InProgress}} {
		require.True(t, l.Update(t.Context(), u).Allowed(), "%+v", u)
	}
	assert.Equal(t, workflow.InProgress, l.file(2, "status"))
	assert.False(t, l.state().Step(2).Done())
}

// TestACallIsToldHowToAllowWhatIsRefused: by a rule of a step that is not done, if another step that lists such calls is.
func TestACallIsToldHowToAllowWhatIsRefused(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(git push *)"}}, workflow.Step{Only: []string{"Bash(git *)"}})
	_, err := l.GoPast(t.Context(), Past{Step: 1, Because: "x"}, state.By{})
	require.NoError(t, err)
	v := l.call(ToolCall{Tool: "Bash", Line: "git push x"})
	require.Equal(t, state.Deny, v.Decision)
	assert.Contains(t, v.Reason, "fsmtx step allow 'Bash(git *)'")
	_, err = l.Permit(t.Context(), "Bash(git *)", "x", state.By{})
	assert.NoError(t, err)
}

// TestTheQuestionOfAnOutcomeIsAskedByBothHooks: the hook that is registered twice asks the same twice.
func TestTheQuestionOfAnOutcomeIsAskedByBothHooks(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok", Approval: "Really?"}, {Name: "no"}}})
	l.allows(1, workflow.InProgress)
	u := Update{Task: "1", Status: workflow.Completed, Metadata: []byte(`{"outcome": "ok"}`), Use: "toolu_1"}
	l.Began = time.Now() // of both processes
	one, two := l.Update(t.Context(), u), l.Update(t.Context(), u)
	require.Equal(t, state.Ask, one.Decision)
	assert.Contains(t, one.Reason, "Really?")
	assert.Equal(t, one.Reason, two.Reason)
}

// TestAStepThatIsNotInTheListAnyMore: its workflow was done, the client has removed its tasks, and another one has come. Nothing is
// decided about it, with and without the lock.
func TestAStepThatIsNotInTheListAnyMore(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	require.True(t, l.end(1, "").Allowed())
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	l.nest(workflow.Workflow{Command: "other", Steps: []workflow.Step{{ID: 11}}})
	for _, locked := range []bool{false, true} {
		if locked {
			dir, err := l.List.Open(t.Context())
			require.NoError(t, err)
			defer dir.Close()
			l.List.Wait = time.Millisecond
		}
		assert.True(t, l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed}).Allowed(), "locked: %t", locked)
	}
}

// TestEveryOutcomeIsSpent: no outcome is offered that cannot be chosen either.
func TestEveryOutcomeIsSpent(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{
		{Name: "a", Back: 1, Max: 1}, {Name: "b", Back: 1, Max: 1}, {Name: "fine"}}})
	for _, outcome := range []string{"a", "b"} {
		l.end(1, "")
		require.NotNil(t, l.end(2, outcome).Turn)
	}
	l.end(1, "")
	reason := l.end(2, "a").Reason
	assert.Contains(t, reason, `{"outcome": "fine"}`)
	assert.NotContains(t, reason, `"b"`)
}

// TestAnAnswerAboutAStepThatIsGone is no answer.
func TestAnAnswerAboutAStepThatIsGone(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	require.True(t, l.end(1, "").Allowed())
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	l.nest(workflow.Workflow{Command: "other", Steps: []workflow.Step{{ID: 11}}})
	v := l.Answered(t.Context(), Update{Task: "1", Status: workflow.Completed}, true, state.ByQuestion)
	assert.Equal(t, state.Deny, v.Decision)
}

// TestAnOverrideOfSeveralStepsKeepsWhatIsOnRecord: every denial, and what is on record of another workflow.
func TestAnOverrideOfSeveralStepsKeepsWhatIsOnRecord(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}}, workflow.Step{BlockedBy: []int64{2}})
	for range 2 * state.MaxRepeats {
		l.denies(3, workflow.InProgress)
	}
	lines := func() int {
		data, err := os.ReadFile(filepath.Join(stateDirOf(l.Frame), "steps.jsonl"))
		require.NoError(t, err)
		return strings.Count(string(data), "\n")
	}
	before := lines()
	_, err := l.GoPast(t.Context(), Past{Step: 2, WithBlockers: true, Because: "x"}, state.By{})
	require.NoError(t, err)
	assert.Equal(t, before+2, lines())
}

// TestReopenBeforeWhatWasOver: what was under a step that a person has gone past or ended is open again with it.
func TestReopenBeforeWhatWasOver(t *testing.T) {
	for name, over := range map[string]func(*list) error{
		"the step is skipped": func(l *list) error {
			_, err := l.GoPast(l.t.Context(), Past{Step: 2, Because: "x"}, state.By{})
			return err
		},
		"the skill is ended": func(l *list) error { _, err := l.End(l.t.Context(), 11, "x", state.By{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
			l.end(1, "")
			l.allows(2, workflow.InProgress)
			l.nest(workflow.Workflow{Command: "notes", Parent: 2, Part: true, Steps: []workflow.Step{{ID: 11}}})
			l.nest(workflow.Workflow{Command: "notes", Parent: 11, Part: true, Steps: []workflow.Step{{ID: 21}}})
			require.NoError(t, over(l))
			require.Contains(t, l.shown(21), "Step 21 (not needed")
			_, err := l.Reopen(t.Context(), 1, "again", state.By{})
			require.NoError(t, err)
			assert.Contains(t, l.shown(21), ": pending")
			assert.Equal(t, []int64{1}, ready(l.state()))
			l.end(1, "")
			assert.Equal(t, []int64{21}, ready(l.state()))
		})
	}
}
