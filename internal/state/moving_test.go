package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
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

// dies makes a continuation of the workflow of l in another list end before the tasks are taken out of l.
func (l *list) dies() *list {
	l.t.Helper()
	o := &list{&Store{List: tasks.List{Dir: filepath.Join(filepath.Dir(l.List.Dir), "s2"), Wait: time.Second}, Session: "s2"}, l.t}
	require.NoError(l.t, os.MkdirAll(o.List.Dir, 0o755))
	require.NoError(l.t, l.Locked(l.t.Context(), func(dir *txn.Dir) error {
		s, err := l.stateIn(l.t.Context(), dir, true)
		require.NoError(l.t, err)
		t, err := s.take(1, l.recorded(dir, false))
		require.NoError(l.t, err)
		m := &Moving{ID: NewCallID(), To: o.List.Dir, Command: t.records[0].Command, Steps: t.numbers()}
		require.NoError(l.t, m.write(dir))
		_, err = o.receive(l.t.Context(), t, m, Continuing{From: l.Store, Root: 1, Place: func(dir string) string { return dir }})
		return err
	}))
	return o
}

// TestAWorkflowComesBackFromAContinuationThatDied: the list to which it comes back has to ask the one from which it comes.
func TestAWorkflowComesBackFromAContinuationThatDied(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	o := l.dies()
	l.List.Wait = time.Second
	_, err := l.Continue(t.Context(), Continuing{From: o.Store, Root: o.state().Steps[0].ID, Place: func(dir string) string { return dir }})
	require.NoError(t, err)
	assert.Empty(t, o.state().Steps)
	assert.Len(t, l.state().Steps, 2)
}

// TestACopiedLineHasTheNewNumbers, wherever it names steps. What it says in words stays, but for a question of this program.
func TestACopiedLineHasTheNewNumbers(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := hydrated(t, `{}`, `{}`, `{"blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}`)
	l.writes(
		Evidence{Time: at, Step: 3, Verdict: Allow, Outcome: "again", Why: "see #1", Reopens: ids(1, 3), NotNeeded: ids(2), Changed: 2},
		Evidence{Time: at, Step: 3, Verdict: Chosen, Question: "How does it end?", Outcome: "fine"},
		Evidence{Time: at, Step: 1, Verdict: Shown})
	o, w := l.elsewhere()
	with := w.From().ID
	got := o.state().Evidence
	require.Len(t, got, 3)
	assert.Equal(t, Evidence{Time: at, Step: 43, Verdict: Allow, Outcome: "again", Why: "see #1", Reopens: ids(41, 43),
		NotNeeded: ids(42), Changed: 42, With: with}, got[0])
	assert.Equal(t, Evidence{Time: at, Step: 43, Verdict: Chosen, Question: "How does it end?", Outcome: "fine", With: with}, got[1])
	assert.Equal(t, Evidence{Time: at, Step: 41, Verdict: Shown, With: with}, got[2])
	assert.Equal(t, int64(41), w.Steps[2].Outcomes[0].Back)
}

// TestAGoneTaskStaysGone: what the agent has deleted is not in the other list either, and its number is not given again.
func TestAGoneTaskStaysGone(t *testing.T) {
	l := hydrated(t, `{}`, `{}`, `{}`)
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

// TestWhatTheOldListShowsIsAboutItsWorkflows: that it shows which steps are open again says nothing of the workflows of another list,
// into which the line was copied.
func TestWhatTheOldListShowsIsAboutItsWorkflows(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1], "outcomes": {"again": {"back": 1, "max": 2}, "fine": {}}}`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.put(1, `{"id":"1","subject":"Step 1","description":"","status":"completed","blocks":[],"blockedBy":[],"metadata":{"fsm":"release"}}`)
	l.writes(Evidence{Time: at, Step: 1, Verdict: Allow, To: completed, Outcome: "done"},
		Evidence{Time: at, Step: 2, Verdict: Allow, To: completed, Outcome: "again", Reopens: ids(1, 2)})
	s := l.state()
	isOpen := func(with string) bool {
		s.Evidence = append(s.Evidence[:2:2], Evidence{Time: at, Step: 41, Verdict: Shown, With: with})
		s.Fold()
		return s.Unshown
	}
	require.True(t, isOpen("another"))
	require.False(t, isOpen(""), "the line means nothing")

	w := s.Steps[0].Workflow
	moved, err := s.take(1, &OnRecord{known: map[string]RecordedStep{
		"1": {Step: &w.Steps[0], Workflow: w}, "2": {Step: &w.Steps[1], Workflow: w}},
		records: map[*workflow.Workflow]*workflow.Workflow{w: w}})
	require.NoError(t, err)
	moved.read = []Evidence{{Step: 7, Verdict: Shown, With: "another"}, {Step: 7, Verdict: Shown}}
	assert.Len(t, moved.lines(0, "new", w), 1)
}

// TestWhoWaitedForTheLockFindsOutWhereTheWorkflowWent: the steps that were in the list before are not taken for gone.
func TestWhoWaitedForTheLockFindsOutWhereTheWorkflowWent(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	_, err := l.Now(t.Context()) // what is known of the list before
	require.NoError(t, err)
	root := l.state().Steps[0].ID
	o, _ := l.elsewhere()
	dir, s, err := l.Open(t.Context())
	require.NoError(t, err)
	defer l.Release(dir)
	assert.Empty(t, s.Steps)
	assert.Contains(t, s.Departed.Of("1"), filepath.Base(o.List.Dir))
	_, err = s.take(root, l.recorded(dir, false))
	assert.ErrorContains(t, err, "goes on in the task list "+filepath.Base(o.List.Dir))
}

// TestNothingIsAddedToWhatWentOn: an answer that comes in the old list is not recorded there, where nobody would look for it.
func TestNothingIsAddedToWhatWentOn(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	s := l.state()
	o, _ := l.elsewhere()
	file := filepath.Join(StateDir(l.List.Dir), EvidenceFile)
	before, _ := os.ReadFile(file)
	err := l.Note(t.Context(), s, Evidence{Time: time.Now(), Step: 1, Verdict: Chosen})
	var elsewhere *ElsewhereError
	require.ErrorAs(t, err, &elsewhere)
	assert.Contains(t, elsewhere.Words, filepath.Base(o.List.Dir))
	after, _ := os.ReadFile(file)
	assert.Equal(t, string(before), string(after))
}

// TestLinesOfAContinuationThatDiedDoNotCount, nor do they hide those that count, also when lines are archived.
func TestLinesOfAContinuationThatDiedDoNotCount(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l.writes(Evidence{Time: at, Step: 1, Verdict: Allow, To: inProgress},
		Evidence{Time: at, Step: 1, Verdict: SeenDone, To: completed, Outcome: "done", With: "dead"})
	for _, whole := range []bool{true, false} {
		s := l.read(whole)
		assert.Len(t, s.Evidence, 1)
		assert.False(t, s.Step(1).Done())
	}
	dead := []Evidence{{Step: 1, Verdict: Allow}, {Step: 1, Verdict: Allow, With: "dead"}}
	assert.Equal(t, []bool{true, true}, essential(dead))
}

// TestNothingGoesOnInADirectoryThatIsGone, where that of the other list's session is: a workflow stays in its own, with its repository.
func TestNothingGoesOnInADirectoryThatIsGone(t *testing.T) {
	l := hydrated(t, `{}`)
	at := l.state().Workflows()[0].Dir
	require.NoError(t, os.MkdirAll(filepath.Join(at, ".git"), 0o755))
	o := &list{&Store{List: tasks.List{Dir: filepath.Join(filepath.Dir(l.List.Dir), "s2"), Wait: 5 * time.Second}, Session: "s2"}, t}
	to := func(place string) Continuing {
		return Continuing{From: l.Store, Root: l.state().Steps[0].ID, Session: "s2", Place: func(string) string { return place }}
	}
	w, err := o.Continue(t.Context(), to(at))
	require.NoError(t, err)
	require.NotZero(t, w.Inode)
	dir, inode, repository := w.Dir, w.Inode, w.Repo
	l, o = o, l
	w, err = o.Continue(t.Context(), to(filepath.Join(at, "gone")))
	require.NoError(t, err)
	assert.Equal(t, dir, w.Dir)
	assert.Equal(t, inode, w.Inode)
	assert.Equal(t, repository, w.Repo)
	require.NoError(t, os.RemoveAll(at))
	l, o = o, l
	w, err = o.Continue(t.Context(), to(at))
	require.NoError(t, err)
	assert.Equal(t, inode, w.Inode)
	assert.Equal(t, repository, w.Repo)
}
