package gates

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// A person opens a step again while the agent works on a skill within a later one. That one was not
// done, so it is not opened again: what is under it waits, and goes on afterwards.
func TestAReopenInTheMiddleOfANestedWorkflow(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "").Allowed())
	l.allows(3, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 3, Round: 1, Steps: []workflow.Step{{ID: 11, Subject: "Collect"},
		{ID: 12, Subject: "Draft", BlockedBy: []int64{11}}}})
	l.allows(11, workflow.Completed)
	require.Equal(t, []int64{12}, ready(l.state()))
	_, err := l.Reopen(t.Context(), 1, "it was wrong", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, ready(l.state()))
	assert.Contains(t, l.denies(12, workflow.InProgress),
		`#12 "Draft" cannot be started: #11 "Collect" and #2 "Test" must be done first. Ready now: #1 "Implement"`)
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "").Allowed())
	assert.Equal(t, []int64{11}, ready(l.state()), "the work inside begins anew")
	assert.Contains(t, l.end(3, "changes").Reason, `of which #11 "Collect" and #12 "Draft" are open`)
	l.allows(11, workflow.Completed)
	l.allows(12, workflow.Completed)
	assert.NotNil(t, l.end(3, "changes").Turn)
}

// Two sessions share a list: what one is about to end, the other cannot end in another way, and
// the stop of one is no sign that the other's call is over.
func TestTwoSessionsEndOneStep(t *testing.T) {
	l := inReview(t)
	other := *l.Frame
	other.Session = "s2"
	require.True(t, l.says("approved", "one").Allowed())
	v := other.Update(t.Context(), Update{Task: "3", Status: workflow.Completed, Outcome: "changes", Use: "two",
		Over: func(string) bool { return true }})
	assert.Contains(t, v.Reason, "is being let through as approved")
	_, _, err := other.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	require.Zero(t, l.lapses())
	l.set(3, workflow.Completed)
	l.seen()
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	v = other.Update(t.Context(), Update{Task: "3", Status: workflow.Completed, Outcome: "changes", Use: "three"})
	assert.True(t, v.Allowed(), "completing it again is nothing")
	assert.Nil(t, v.Turn)
	assert.Equal(t, 1, l.state().Step(3).Round)
}

// An outcome that is given again, after the loop, counts for the new round; the same call twice
// counts once.
func TestAnOutcomeGivenTwice(t *testing.T) {
	l := inReview(t)
	require.NotNil(t, l.says("changes", "one").Turn)
	l.says("changes", "one")
	assert.Equal(t, 2, l.state().Step(3).Round, "one call, one round")
	l.seen()
	assert.Contains(t, l.says("changes", "two").Reason, "must be done first")
	assert.Equal(t, 2, l.state().Step(3).Round)
}

// While tasks are put right the client is locked out of them.
func TestTasksArePutRightUnderTheirLocks(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	for id := range int64(2) {
		l.put(id+1, strings.Replace(string(taskText(workflow.Step{ID: id + 1, Status: workflow.Pending})), `"subject":""`, `"subject":"mine"`, 1))
	}
	var rewritten []string
	l.List.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if dir, name := filepath.Split(s.To); filepath.Clean(dir) == l.List.Dir && tasks.Form.IsTask(name) {
			rewritten = append(rewritten, name)
			assert.DirExists(t, s.To+".lock")
		}
		return nil
	}}
	assert.Contains(t, l.ask(1, workflow.InProgress).Trouble, "was put right: subject")
	assert.Equal(t, []string{"1.json", "2.json"}, rewritten)
}
