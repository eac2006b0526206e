package gates

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

func TestAWorkflowFromFirstToLastStep(t *testing.T) {
	l := hydrated(t,
		workflow.Step{Subject: "Build", Produces: []string{"dist/*.txt"}},
		workflow.Step{Subject: "Test", BlockedBy: []int64{1}, Check: &workflow.Check{Run: "test -f ok", Timeout: 10}},
		workflow.Step{Subject: "Publish", BlockedBy: []int64{2}, Approval: "Publish it?"})

	reason := l.denies(2, workflow.InProgress)
	require.Equal(t, `#2 "Test" cannot be started: #1 "Build" must be done first. Ready now: #1 "Build".
A person can go past this in a terminal outside the client: fsmtx step skip 1 --because "..." --session s1 (or: fsmtx step done ...)`,
		reason)
	l.allows(1, workflow.InProgress)
	require.Contains(t, l.denies(1, workflow.Completed),
		`#1 "Build" cannot be completed: it needs dist/*.txt, which is missing or empty in `+l.project+`.`)
	l.write("dist/a.txt", "a")
	l.allows(1, workflow.Completed)
	l.allows(2, workflow.InProgress)
	require.Contains(t, l.denies(2, workflow.Completed), "its check failed (exit status 1): test -f ok\nIt printed nothing.")
	l.write("ok", "")
	l.allows(2, workflow.Completed)
	v := l.ask(3, workflow.Completed)
	require.Equal(t, state.Ask, v.Decision)
	require.Equal(t, `Publish it?
(Yes completes the step #3 "Publish" of release.)
Without a yes it stays open: tell the person, who can approve it in a terminal outside the client: fsmtx step done 3 --because "..." --session s1`, v.Reason)
	require.Equal(t, Verdict{Step: 3}, l.Completed(t.Context(), Update{Task: "3", Status: workflow.Completed}), "the person said yes")
	l.set(3, workflow.Completed)
	require.True(t, l.state().Step(3).Done())

	var decisions []string
	for _, e := range l.state().Evidence {
		if e.Repeats() {
			continue
		}
		decisions = append(decisions, message.Itoa(e.Step)+" "+e.From+" "+e.To+" "+string(e.Verdict)+": "+e.Why)
	}
	require.Equal(t, []string{
		"2 pending in_progress deny: order: #1 not done",
		"1 pending in_progress allow: in order",
		"1 in_progress completed deny: missing: dist/*.txt",
		"1 in_progress completed allow: in order",
		"2 pending in_progress allow: in order",
		"2 in_progress completed deny: check failed: exit status 1",
		"2 in_progress completed allow: its check passed",
		"3 pending completed ask: approval: Publish it?",
		"3 pending completed allow: a person said yes",
	}, decisions)
}

// The gate ready is evaluated when a step is started, not again when it is completed.
func TestReadyIsEvaluatedOnce(t *testing.T) {
	l := hydrated(t, workflow.Step{Ready: []string{"in"}})
	l.denies(1, workflow.InProgress)
	l.denies(1, workflow.Completed)
	l.write("in", "x")
	l.allows(1, workflow.InProgress)
	require.NoError(t, os.Remove(filepath.Join(l.project, "in")))
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
}

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

// TestAnAnswerAboutAStepThatIsGone is no answer.
func TestAnAnswerAboutAStepThatIsGone(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	require.True(t, l.end(1, "").Allowed())
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	l.nest(workflow.Workflow{Command: "other", Steps: []workflow.Step{{ID: 11}}})
	v := l.Answered(t.Context(), Update{Task: "1", Status: workflow.Completed}, true, state.ByQuestion)
	assert.Equal(t, state.Deny, v.Decision)
}
