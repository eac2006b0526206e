package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// elsewhere continues the workflow of l in another list, whose largest number was 40.
func (l *list) elsewhere() (*list, *workflow.Workflow) {
	l.t.Helper()
	o := &list{&Store{List: tasks.List{Dir: filepath.Join(filepath.Dir(l.List.Dir), "s2"), Wait: 5 * time.Second}, Session: "s2"}, l.t}
	require.NoError(l.t, os.MkdirAll(o.List.Dir, 0o755))
	require.NoError(l.t, os.WriteFile(filepath.Join(o.List.Dir, ".highwatermark"), []byte("40"), 0o644))
	w, err := o.Continue(l.t.Context(), Continuing{From: l.Store, Root: l.state().Steps[0].ID, Session: "s2",
		Place: func(dir string) string { return dir }})
	require.NoError(l.t, err)
	return o, w
}

// TestACopiedLineHasTheNewNumbers, wherever it names steps. What it says in words stays, but for a question of this program.
func TestACopiedLineHasTheNewNumbers(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{BlockedBy: []int64{1},
		Outcomes: []workflow.Outcome{{Name: "again", Back: 1, Max: 2}, {Name: "fine"}}})
	l.writes(
		Evidence{Time: at, Step: 3, Verdict: Allow, Outcome: "again", Why: "see #1", Reopens: []int64{1, 3}, NotNeeded: []int64{2}, Changed: 2},
		Evidence{Time: at, Step: 3, Verdict: Answer, Question: fsmspec.Question(3), Outcome: "fine"},
		Evidence{Time: at, Step: 1, Verdict: Shown})
	o, w := l.elsewhere()
	with := w.From().ID
	got := o.state().Evidence
	require.Len(t, got, 3)
	assert.Equal(t, Evidence{Time: at, Step: 43, Verdict: Allow, Outcome: "again", Why: "see #1", Reopens: []int64{41, 43},
		NotNeeded: []int64{42}, Changed: 42, With: with}, got[0])
	assert.Equal(t, Evidence{Time: at, Step: 43, Verdict: Answer, Question: fsmspec.Question(43), Outcome: "fine", With: with}, got[1])
	assert.Equal(t, Evidence{Time: at, Step: 41, Verdict: Shown, With: with}, got[2])
	assert.Equal(t, int64(41), w.Steps[2].Outcomes[0].Back)
}

// TestAGoneTaskStaysGone: what the agent has deleted is not in the other list either, and its number is not given again.
func TestAGoneTaskStaysGone(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{})
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, "3.json")))
	o, _ := l.elsewhere()
	s := o.state()
	require.Len(t, s.Steps, 3)
	assert.True(t, s.Step(43).Gone())
	assert.NoFileExists(t, filepath.Join(o.List.Dir, "43.json"))
	mark, err := os.ReadFile(filepath.Join(o.List.Dir, ".highwatermark"))
	require.NoError(t, err)
	assert.Equal(t, "43", string(mark))
	assert.Empty(t, l.state().Steps)
}

// TestLinesOfAContinuationThatDiedDoNotCount, nor do they hide those that count, in the file or in a snapshot.
func TestLinesOfAContinuationThatDiedDoNotCount(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.writes(Evidence{Time: at, Step: 1, Verdict: Allow, To: workflow.InProgress},
		Evidence{Time: at, Step: 1, Verdict: SeenDone, To: workflow.Completed, Outcome: "done", With: "dead"})
	for _, whole := range []bool{true, false} {
		s := l.read(whole)
		assert.Len(t, s.Evidence, 1)
		assert.False(t, s.Step(1).Done())
	}
	s := l.read(true)
	assert.Len(t, s.thin([]Evidence{{Step: 1, Verdict: Allow}, {Step: 1, Verdict: Allow, With: "dead"}}), 1)
}
