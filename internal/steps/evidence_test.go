package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/txn"
)

func (l *list) evidenceFile() string {
	s, err := txn.StateDir(l.List.Dir)
	require.NoError(l.t, err)
	return filepath.Join(s, evidenceFile)
}

// A line that a crash has torn is skipped, and the next one is on a line of its own.
func TestTornLinesAreSkipped(t *testing.T) {
	l := hydrated(t, Step{}, Step{})
	l.allows(1, completed)
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(l.evidenceFile(), append(data, `{"time":"2026-01-02T03:04:05Z","step":2,"to":"comp`...), 0o600))
	require.Len(t, l.state().Evidence, 1)
	l.allows(2, completed)
	require.Len(t, l.state().Evidence, 3)
	require.Equal(t, 2, l.state().DoneCount())
}

// After a loss of evidence the check runs again, and the order still holds.
func TestLostEvidence(t *testing.T) {
	l := hydrated(t, Step{Check: &Check{Run: "echo x >> ran", Timeout: 10}}, Step{BlockedBy: []int64{1}})
	l.allows(1, completed)
	require.NoError(t, os.Remove(l.evidenceFile()))
	require.False(t, l.state().Step(1).Done())
	l.allows(2, inProgress)
	ran, err := os.ReadFile(filepath.Join(l.project, "ran"))
	require.NoError(t, err)
	require.Equal(t, "x\nx\n", string(ran))
}

// A file that has grown large keeps all but old denials.
func TestOldDenialsAreDropped(t *testing.T) {
	l := hydrated(t, Step{}, Step{BlockedBy: []int64{3}}, Step{})
	l.allows(1, completed)
	l.denies(2, completed)
	denial := l.state().Evidence[2]
	denial.Why = strings.Repeat("x", 1000)
	other := denial
	other.Step = 50
	data, err := os.ReadFile(l.evidenceFile())
	require.NoError(t, err)
	add := func(e Evidence) {
		line, err := e.line()
		require.NoError(t, err)
		data = append(append(data, line...), '\n')
	}
	for len(data) < maxEvidence-4000 {
		add(denial)
		add(other)
	}
	other.Why = ""
	empty, err := other.line()
	require.NoError(t, err)
	other.Why = strings.Repeat("x", maxEvidence-1-len(data)-len(empty)-1) // the next line is one too many
	add(other)
	require.Len(t, data, maxEvidence-1)
	require.NoError(t, os.WriteFile(l.evidenceFile(), data, 0o600))

	l.allows(3, inProgress)
	var kept []int64
	for _, e := range l.state().Evidence {
		kept = append(kept, e.Step)
	}
	require.Equal(t, []int64{1, 1, 2, 2, 2, 3}, kept)
	require.True(t, l.state().Step(1).Done())
}

// The steps of a list are those whose files a hydration has created and no transaction has
// deleted or undone.
func TestTheLiveSteps(t *testing.T) {
	l := hydrated(t, Step{}, Step{})
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
	hydrate(t, l.List.Dir, l.project, []Step{{ID: 3}})
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
	hydrate(t, l.List.Dir, l.project, []Step{{ID: 7, Produces: []string{"out"}}, {ID: 8, BlockedBy: []int64{7}, Produces: []string{"out"}}})
	all = entries()
	commit(t, l.List.Dir, txn.Change{Label: undoLabel(all[len(all)-1].ID), Deletes: []string{"7.json"}})
	require.Equal(t, []int64{1, 2, 8}, ids())
	require.Contains(t, l.denies(8, completed), "it needs out")
	_, err := l.GoPast(t.Context(), Past{Step: 8, Because: "so"}, By{})
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
	l := hydrated(t, Step{Approval: "Yes?"})
	commit(t, l.List.Dir, txn.Change{Label: "x", Record: `{"version":9,"dir":"/"}`, Creates: []txn.File{
		{Name: "5.json", Data: taskText(Step{ID: 5, Subject: "Five", Status: pending}), Mode: 0o644},
		{Name: "6.json", Data: taskText(Step{ID: 6, Subject: "Six", Status: pending, BlockedBy: []int64{5}}), Mode: 0o644},
	}})
	v := l.ask(1, completed)
	require.Equal(t, Ask, v.Decision)
	require.Contains(t, v.Trouble, "recorded by another version", "what is under the step may be unknown")
	require.Empty(t, l.ask(1, completed).Trouble, "it is about other steps, and was told in this session")
	require.Contains(t, l.denies(6, inProgress), `#6 "Six" cannot be started: #5 "Five" must be done first`)
	require.Contains(t, l.denies(5, deleted), "stays in the list")
	v = l.do(5, completed)
	require.True(t, v.Allowed())
	require.Contains(t, v.Trouble, "so only the order of its steps is enforced: the workflow was recorded by another version of "+
		"fsmtx: version 9, want 5")
	v = l.do(6, inProgress)
	require.True(t, v.Allowed())
	require.NotEmpty(t, v.Trouble, "until it is mended")
	require.Len(t, l.state().Troubles, 1)
}

func TestAReopenedStepIsNotDone(t *testing.T) {
	l := hydrated(t, Step{Produces: []string{"out"}}, Step{BlockedBy: []int64{1}})
	l.write("out", "x")
	l.allows(1, completed)
	l.allows(1, completed)
	require.Len(t, l.state().Evidence, 2, "nothing changes")
	require.Contains(t, l.denies(1, pending), "A person can open it again")
	_, err := l.Reopen(t.Context(), 1, "it was wrong", By{Who: ThePerson})
	require.NoError(t, err)
	l.denies(2, inProgress)
	require.NoError(t, os.Remove(filepath.Join(l.project, "out")))
	l.set(1, completed) // without an update
	require.False(t, l.state().Step(1).Done())
	l.denies(2, completed)
}

func TestStepsHydratedAsCompletedAreDone(t *testing.T) {
	l := hydrated(t, Step{Status: completed, Check: &Check{Run: "false", Timeout: 1}}, Step{BlockedBy: []int64{1}})
	l.allows(2, inProgress)
}

func TestAListWithoutWorkflow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks", "s1")
	f := &Frame{Store: Store{List: tasks.List{Dir: dir}}}
	require.Equal(t, Verdict{}, f.Update(t.Context(), Update{Task: "1", Status: deleted}))
	require.Equal(t, Verdict{}, f.Completed(t.Context(), Update{Task: "1", Status: completed}))
	require.Equal(t, Verdict{}, f.Edit(filepath.Join(dir, "1.json"), "/"))
	agent, person, err := f.Stop(t.Context(), Stopping{Mode: Hold})
	require.NoError(t, err)
	require.Empty(t, agent+person)
	resumed, err := f.Resume(context.Background(), "")
	require.NoError(t, err)
	require.Empty(t, resumed)
	require.NoDirExists(t, filepath.Dir(dir))
}

// A reader without the lock may find the record of running checks while it is replaced in
// place: it reads again.
func TestAHalfWrittenPendingRecordIsReadAgain(t *testing.T) {
	whole := `[{"step":1,"call":"x","pid":` + itoa(int64(os.Getpid())) + `,"start":"` + startOf(os.Getpid()) + `"}]`
	s := &State{}
	s.readPending(&tornSource{texts: []string{"", whole[:20], whole}})
	require.Len(t, s.Pending, 1)
	s = &State{}
	s.readPending(&tornSource{})
	require.Empty(t, s.Pending, "without a file there is nothing to wait for")
	s = &State{}
	s.readPending(&tornSource{texts: []string{"x"}})
	require.Empty(t, s.Pending, "what stays damaged names nobody")
}

// tornSource has the texts one after the other, and then the last one.
type tornSource struct {
	source
	texts []string
}

func (s *tornSource) ReadState(string) ([]byte, error) {
	if len(s.texts) == 0 {
		return nil, nil
	}
	text := s.texts[0]
	s.texts = s.texts[min(1, len(s.texts)-1):]
	return []byte(text), nil
}

// TestAFileIsThinnedOncePerDoubling: what is left of a large file may be large, too. An
// update must not read it each time.
func TestAFileIsThinnedOncePerDoubling(t *testing.T) {
	require.False(t, outgrows(0, maxEvidence-1))
	require.True(t, outgrows(maxEvidence-1, 1))
	require.False(t, outgrows(maxEvidence, 100))
	require.True(t, outgrows(2*maxEvidence-50, 100))
	require.False(t, outgrows(2*maxEvidence+50, 100))
	rapid.Check(t, func(t *rapid.T) {
		size, rewritten := int64(0), 0
		for size < 9*maxEvidence {
			more := rapid.Int64Range(1, maxEvidence).Draw(t, "more")
			if outgrows(size, more) {
				rewritten++
			}
			size += more
		}
		require.Equal(t, 4, rewritten, "at 4, 8, 16 and 32 MiB")
	})
}

// TestTheNewestLines: of a file that is too large the last lines are kept, and before them what
// decisions depend on.
func TestTheNewestLines(t *testing.T) {
	first := Evidence{Time: time.Unix(1, 0), Step: 1, From: pending, To: completed, Verdict: Allow}
	all := []Evidence{first}
	for i := range maxKept + 10 {
		all = append(all, Evidence{Time: time.Unix(int64(i+2), 0), Step: 2, From: pending, To: inProgress, Verdict: Allow})
	}
	kept := newest(all)
	require.Len(t, kept, maxKept+1)
	require.Equal(t, first, kept[0])
	require.Equal(t, essence(all), essence(kept))
	require.Equal(t, all[:5], newest(all[:5]))
}
