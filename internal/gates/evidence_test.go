package gates

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

func (l *list) evidenceFile() string {
	s, err := txn.StateDir(l.List.Dir)
	require.NoError(l.t, err)
	return filepath.Join(s, "steps.jsonl")
}

// A line that a crash has torn is skipped, and the next one is on a line of its own.
func TestTornLinesAreSkipped(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	l.allows(1, workflow.Completed)
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.evidenceFile(), append(data, `{"time":"2026-01-02T03:04:05Z","step":2,"to":"comp`...), 0o600))
	require.Len(t, l.state().Evidence, 1)
	l.allows(2, workflow.Completed)
	require.Len(t, l.state().Evidence, 3)
	require.Equal(t, 2, l.state().DoneCount())
}

// After a loss of evidence the check runs again, and the order still holds.
func TestLostEvidence(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "echo x >> ran", Timeout: 10}}, workflow.Step{BlockedBy: []int64{1}})
	l.allows(1, workflow.Completed)
	require.NoError(t, os.Remove(l.evidenceFile()))
	require.False(t, l.state().Step(1).Done())
	l.allows(2, workflow.InProgress)
	ran, err := os.ReadFile(filepath.Join(l.project, "ran"))
	require.NoError(t, err)
	require.Equal(t, "x\nx\n", string(ran))
}

// The steps of a list are those whose files a hydration has created and no transaction has
// deleted or undone.
func TestTheLiveSteps(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	ids := func() (ids []int64) {
		for _, c := range l.state().Steps {
			ids = append(ids, c.ID)
		}
		return ids
	}
	entries := func() []txn.Entry {
		all, err := txn.ReadHistory(l.List.Dir)
		require.NoError(t, err)
		return all
	}
	require.Equal(t, []int64{1, 2}, ids())

	// Another workflow replaces one of them.
	hydrate(t, l.List.Dir, l.project, []workflow.Step{{ID: 3}})
	require.Equal(t, []int64{1, 2, 3}, ids())
	commit(t, l.List.Dir, txn.Change{Label: `{"command":"release"}`, Deletes: []string{"1.json"}})
	require.Equal(t, []int64{2, 3}, ids())

	// Undoing the deletion brings the step back.
	all := entries()
	commit(t, l.List.Dir, txn.Change{Label: undoLabel(all[2].ID), Restores: []txn.Restore{{ID: all[2].ID, Name: "1.json"}}})
	require.Equal(t, []int64{1, 2, 3}, ids())
	commit(t, l.List.Dir, txn.Change{Label: undoLabel(all[1].ID), Deletes: []string{"3.json"}})
	require.Equal(t, []int64{1, 2}, ids())

	// An undo that keeps a task, because it was changed, leaves that step in force, and a
	// person can go past it.
	hydrate(t, l.List.Dir, l.project, []workflow.Step{{ID: 7, Produces: []string{"out"}},
		{ID: 8, BlockedBy: []int64{7}, Produces: []string{"out"}}})
	all = entries()
	commit(t, l.List.Dir, txn.Change{Label: undoLabel(all[len(all)-1].ID), Deletes: []string{"7.json"}})
	require.Equal(t, []int64{1, 2, 8}, ids())
	require.Contains(t, l.denies(8, workflow.Completed), "it needs out")
	_, err := l.GoPast(t.Context(), Past{Step: 8, Because: "so"}, state.By{})
	require.NoError(t, err)
}

func undoLabel(id string) string {
	label := fmt.Sprintf(`{"undo":%q}`, id)
	if tasks.Undoes(label) != id {
		panic("the label of an undo has changed")
	}
	return label
}

// A record that cannot be read concerns the tasks that it is about, and no others. Of those
// the order is known from the list.
func TestARecordOfAnotherVersionIsTrouble(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Yes?"})
	commit(t, l.List.Dir, txn.Change{Label: "x", Record: `{"version":9,"dir":"/"}`, Creates: []txn.File{
		{Name: "5.json", Data: taskText(workflow.Step{ID: 5, Subject: "Five", Status: workflow.Pending}), Mode: 0o644},
		{Name: "6.json", Data: taskText(workflow.Step{ID: 6, Subject: "Six", Status: workflow.Pending, BlockedBy: []int64{5}}), Mode: 0o644},
	}})
	v := l.ask(1, workflow.Completed)
	require.Equal(t, state.Ask, v.Decision)
	require.Contains(t, v.Trouble, "recorded by another version", "what is under the step may be unknown")
	require.Empty(t, l.ask(1, workflow.Completed).Trouble, "it is about other steps, and was told in this session")
	require.Contains(t, l.denies(6, workflow.InProgress), `#6 "Six" cannot be started: #5 "Five" must be done first`)
	require.Contains(t, l.denies(5, workflow.Deleted), "stays in the list")
	v = l.do(5, workflow.Completed)
	require.True(t, v.Allowed())
	require.Contains(t, v.Trouble, "so only the order of its steps is enforced: the workflow was recorded by another version of "+
		"fsmtx: version 9, want 6")
	v = l.do(6, workflow.InProgress)
	require.True(t, v.Allowed())
	require.NotEmpty(t, v.Trouble, "until it is mended")
	require.Len(t, l.state().Troubles, 1)
}

func TestAReopenedStepIsNotDone(t *testing.T) {
	l := hydrated(t, workflow.Step{Produces: []string{"out"}}, workflow.Step{BlockedBy: []int64{1}})
	l.write("out", "x")
	l.allows(1, workflow.Completed)
	l.allows(1, workflow.Completed)
	require.Len(t, l.state().Evidence, 2, "nothing changes")
	require.Contains(t, l.denies(1, workflow.Pending), "A person can open it again")
	_, err := l.Reopen(t.Context(), 1, "it was wrong", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	l.denies(2, workflow.InProgress)
	require.NoError(t, os.Remove(filepath.Join(l.project, "out")))
	l.set(1, workflow.Completed) // without an update
	require.False(t, l.state().Step(1).Done())
	l.denies(2, workflow.Completed)
}

func TestStepsHydratedAsCompletedAreDone(t *testing.T) {
	l := hydrated(t, workflow.Step{Status: workflow.Completed, Check: &workflow.Check{Run: "false", Timeout: 1}},
		workflow.Step{BlockedBy: []int64{1}})
	l.allows(2, workflow.InProgress)
}

func TestAListWithoutWorkflow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks", "s1")
	f := &Frame{Store: state.Store{List: tasks.List{Dir: dir}}}
	require.Equal(t, Verdict{}, f.Update(t.Context(), Update{Task: "1", Status: workflow.Deleted}))
	require.Equal(t, Verdict{}, f.Completed(t.Context(), Update{Task: "1", Status: workflow.Completed}))
	require.Equal(t, Verdict{}, f.Edit(filepath.Join(dir, "1.json"), "/"))
	agent, person, err := f.Stop(t.Context(), Stopping{Mode: Hold})
	require.NoError(t, err)
	require.Empty(t, agent+person)
	resumed, err := f.Resume(context.Background(), "")
	require.NoError(t, err)
	require.Empty(t, resumed)
	require.NoDirExists(t, filepath.Dir(dir))
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
