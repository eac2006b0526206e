package gates

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestStepsThatAreGone: what was done or is not needed may go, as when the client removes the tasks of a list.
func TestStepsThatAreGone(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Choose", "outcomes": ["x", "y"]}, {"id": 2, "subject": "Do x", `+
		`"when": {"1": "x"}},
		{"id": 3, "subject": "Do y", "when": {"1": "y"}}, {"id": 4, "subject": "Begun", "status": "completed"}]}`)
	l.end(1, "y")
	for _, id := range []int64{1, 2, 4} {
		require.NoError(t, os.Remove(taskFile(l, id)))
	}
	s := l.state()
	assert.True(t, s.Step(2).NotNeeded)
	assert.Empty(t, s.Missing())
	assert.Empty(t, s.Troubles)
	assert.True(t, s.HasOpen())

	l.put(1, "{}")
	require.NoError(t, os.Remove(taskFile(l, 3)))
	s = l.state()
	assert.Equal(t, []*state.Current{s.Step(3)}, s.Missing())
	assert.Len(t, s.Troubles, 1)
	assert.Equal(t, 3, s.DoneCount(), "that a file is gone does not show that the step was done")
	assert.False(t, s.HasOpen())
	require.NoError(t, os.Remove(taskFile(l, 1)))
	s = l.state()
	assert.Empty(t, s.Troubles, "nothing is left to enforce")
	assert.Equal(t, 3, s.DoneCount())
}

// While a change of the list is under way, or after the death of its process, the tasks that it deletes
// are not missing: its record is not in the history yet.
func TestAnInterruptedChangeMissesNothing(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{})
	died := errors.New("died")
	var dead error
	dir, err := txn.Open(t.Context(), l.List.Dir, txn.WithFS(&faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if s.Op == "remove" && filepath.Base(s.Path) == fileName(2) {
			dead = died
		}
		return dead
	}}))
	require.NoError(t, err)
	require.ErrorIs(t, dir.Commit(t.Context(), txn.Change{Deletes: []string{fileName(1), fileName(2)}}), txn.ErrRecoveryRequired)
	_ = dir.Close()
	require.NoFileExists(t, taskFile(l, 1))
	s, err := state.Load(t.Context(), l.List.Dir)
	require.NoError(t, err)
	assert.Empty(t, s.Troubles)
	assert.Empty(t, s.Missing())
	assert.True(t, isBehind(s), "whoever may opens the list")
}

// readHook calls do once, when a record of the history has been read.
type readHook struct {
	vfs.FS
	do func()
}

func (h *readHook) ReadFile(name string) ([]byte, error) {
	data, err := h.FS.ReadFile(name)
	if do := h.do; do != nil && strings.HasPrefix(filepath.Base(name), "done-") {
		h.do = nil
		do()
	}
	return data, err
}

// A change that is committed between the two looks of a reader makes no task missing.
func TestAChangeMeanwhileMissesNothing(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	s, err := state.LoadNow(t.Context(), l.List.Dir, txn.WithFS(&readHook{vfs.OS{}, func() {
		commit(t, l.List.Dir, txn.Change{Deletes: []string{fileName(1)}})
	}}))
	require.NoError(t, err)
	assert.Empty(t, s.Troubles)
	require.Len(t, s.Steps, 1)
}

// TestAQuestionIsNoCompletion: a step about whose approval the person was asked was not done, if it then goes.
func TestAQuestionIsNoCompletion(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Good?"}, workflow.Step{})
	require.Equal(t, state.Ask, l.do(1, workflow.Completed).Decision)
	require.NoError(t, os.Remove(taskFile(l, 1)))
	s := l.state()
	assert.Equal(t, []*state.Current{s.Step(1)}, s.Missing())
	assert.Zero(t, s.DoneCount())
}

// TestAnotherSpellingIsNoTask: TaskUpdate finds a task by its number alone.
func TestAnotherSpellingIsNoTask(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	data, err := os.ReadFile(taskFile(l, 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(l.List.Dir, "01.json"), data, 0o644))
	for id, is := range map[string]bool{"1": true, "01": false} {
		task, err := state.TaggedTask(l.List.Dir, id)
		assert.NoError(t, err)
		assert.Equal(t, is, task != nil, id)
	}
}

// TestATaskThatTheAgentMarks: the steps of the list are enforced as before, and what is told of it does not stand for what is
// told if the record is removed.
func TestATaskThatTheAgentMarks(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
	l.put(7, `{"id":"7","subject":"Test","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"release"}}`)
	v := l.ask(7, workflow.Completed)
	assert.True(t, v.Allowed())
	assert.Contains(t, v.Trouble, `#7 "Test" is marked as a step of the workflow "release", but nothing about it is on record`)
	assert.Contains(t, v.Trouble, "so it is not enforced; the steps that are on record are.")
	assert.Empty(t, l.ask(7, workflow.Completed).Trouble)
	l.denies(2, workflow.Completed)

	s := state.StateDir(l.List.Dir)
	all, err := os.ReadDir(s)
	require.NoError(t, err)
	for _, e := range all {
		if e.Name() != "told.json" {
			require.NoError(t, os.RemoveAll(filepath.Join(s, e.Name())))
		}
	}
	assert.Contains(t, l.ask(2, workflow.Completed).Trouble, "so the steps of this list are not enforced.")
}

// TestStepsChangedInAnotherWay: nothing let them through, and the state says so.
func TestStepsChangedInAnotherWay(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}}, workflow.Step{BlockedBy: []int64{2}, Approval: "Good?"},
		workflow.Step{Status: workflow.Completed})
	words := func() (all []string) {
		s, err := state.LoadNow(t.Context(), l.List.Dir)
		require.NoError(t, err)
		for _, c := range s.Steps {
			all = append(all, s.Otherwise(c))
		}
		return all
	}
	l.set(2, workflow.InProgress)
	l.set(3, workflow.Completed)
	assert.Equal(t, []string{"", "started in another way", "completed in another way", ""}, words())
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
	l.set(2, workflow.Completed)
	assert.Equal(t, []string{"", "completed in another way", "", ""}, words(), "the third is unchecked")
}

func taskFile(l *list, id int64) string { return filepath.Join(l.List.Dir, fileName(id)) }
