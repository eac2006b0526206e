package steps

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	assert.Equal(t, []*Current{s.Step(3)}, s.Missing())
	assert.Len(t, s.Troubles, 1)
	assert.Equal(t, 3, s.DoneCount(), "that a file is gone does not show that the step was done")
	assert.False(t, s.HasOpen())
	require.NoError(t, os.Remove(taskFile(l, 1)))
	s = l.state()
	assert.Empty(t, s.Troubles, "nothing is left to enforce")
	assert.Equal(t, 3, s.DoneCount())
}

// TestAQuestionIsNoCompletion: a step about whose approval the person was asked was not done, if it then goes.
func TestAQuestionIsNoCompletion(t *testing.T) {
	l := hydrated(t, Step{Approval: "Good?"}, Step{})
	require.Equal(t, Ask, l.do(1, completed).Decision)
	require.NoError(t, os.Remove(taskFile(l, 1)))
	s := l.state()
	assert.Equal(t, []*Current{s.Step(1)}, s.Missing())
	assert.Zero(t, s.DoneCount())
}

// TestAnotherSpellingIsNoTask: TaskUpdate finds a task by its number alone.
func TestAnotherSpellingIsNoTask(t *testing.T) {
	l := hydrated(t, Step{})
	data, err := os.ReadFile(taskFile(l, 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(l.List.Dir, "01.json"), data, 0o644))
	assert.NotNil(t, taggedTask(l.List.Dir, "1"))
	assert.Nil(t, taggedTask(l.List.Dir, "01"))
}

func taskFile(l *list, id int64) string { return filepath.Join(l.List.Dir, fileName(id)) }
