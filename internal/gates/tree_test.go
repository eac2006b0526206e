package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// nest puts a workflow into the list as the hydration of a skill that was called does.
func (l *list) nest(w workflow.Workflow) {
	l.t.Helper()
	w.Spec, w.Session, w.Dir = "/skills/"+w.Command+"/fsm.json", "s1", l.project
	change := txn.Change{Label: `{"command":"` + w.Command + `"}`}
	for i, s := range w.Steps {
		w.Steps[i].Local, w.Steps[i].Status = int64(i)+1, workflow.Pending
		if s.Subject == "" {
			w.Steps[i].Subject = "Step " + message.Itoa(s.ID)
		}
		text := strings.Replace(string(taskText(w.Steps[i])), `"fsm":"release"`, `"fsm":"`+w.Command+`"`, 1)
		change.Creates = append(change.Creates, txn.File{Name: fileName(s.ID), Data: []byte(text), Mode: 0o644})
	}
	var err error
	change.Record, err = w.Encode()
	require.NoError(l.t, err)
	commit(l.t, l.List.Dir, change)
}

// nested is release (1, 2, 3) with notes (11, 12) under 2.
func nested(t testing.TB) *list {
	l := hydrated(t, workflow.Step{Subject: "Build"}, workflow.Step{Subject: "Write the notes", BlockedBy: []int64{1}},
		workflow.Step{Subject: "Publish", BlockedBy: []int64{2}})
	l.allows(1, workflow.Completed)
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Steps: []workflow.Step{{ID: 11, Subject: "Collect"},
		{ID: 12, Subject: "Draft", BlockedBy: []int64{11}}}})
	return l
}

// TestNoPersonIsAwaitedForWhatIsUnderAStep, however often the agent tries to complete the step.
func TestNoPersonIsAwaitedForWhatIsUnderAStep(t *testing.T) {
	l := nested(t)
	for range state.MaxRepeats {
		l.denies(2, workflow.Completed)
	}
	assert.False(t, l.state().AwaitsPerson(l.state().Step(2)))
	for range state.MaxRepeats {
		l.denies(12, workflow.Completed)
	}
	assert.False(t, l.state().AwaitsPerson(l.state().Step(12)))
}

func ready(s *state.State) (ids []int64) {
	for _, c := range s.Ready() {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestAStepWaitsForWhatIsUnderIt(t *testing.T) {
	l := nested(t)
	assert.Equal(t, []int64{11}, ready(l.state()), "the work is inside")
	assert.Contains(t, l.denies(2, workflow.Completed),
		`#2 "Write the notes" cannot be completed: under it is the workflow of notes, of which #11 "Collect" and #12 "Draft" are `+
			`open. Ready now: #11 "Collect".`)
	assert.Contains(t, l.denies(3, workflow.InProgress), `#2 "Write the notes" must be done first. Ready now: #11`)
	l.allows(2, workflow.Pending)
	l.allows(2, workflow.InProgress)
	l.allows(11, workflow.InProgress)
	l.allows(11, workflow.Completed)
	text, _ := l.Seen(t.Context(), "11", "")
	assert.Empty(t, text)
	l.allows(12, workflow.Completed)
	text, _ = l.Seen(t.Context(), "12", "")
	assert.Equal(t, `The workflow of notes is done. Go on with #2 "Write the notes": How to do 2.`, text)
	assert.Equal(t, []int64{2}, ready(l.state()))
	l.allows(2, workflow.Completed)
	text, _ = l.Seen(t.Context(), "12", "")
	assert.Empty(t, text, "the outer step is done")
	assert.Equal(t, []int64{3}, ready(l.state()))
}

// TestWhatWasCompletedInAnotherWayWaitsToo: an editor may write any status.
func TestWhatWasCompletedInAnotherWayWaitsToo(t *testing.T) {
	l := nested(t)
	l.set(2, workflow.Completed)
	assert.False(t, l.state().Step(2).Done())
	l.denies(3, workflow.InProgress)
	l.set(11, workflow.Completed)
	l.set(12, workflow.Completed)
	assert.True(t, l.state().Step(2).Done(), "nothing under it is open")
}

func TestStopAndResumeSpeakOfTheOuterStepWhenTheInnerIsDone(t *testing.T) {
	l := nested(t)
	agent, _, err := l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	assert.Contains(t, agent, `#11 "Collect" is ready.`)
	text, err := l.Resume(t.Context(), "")
	require.NoError(t, err)
	assert.Contains(t, text, "Ready: #11 \"Collect\": How to do 11.\n#2 \"Write the notes\" goes on when what is under it is done: the "+
		"workflow of notes, of which #11 \"Collect\" and #12 \"Draft\" are open.\n")
	l.allows(11, workflow.Completed)
	l.allows(12, workflow.Completed)
	agent, _, err = l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	assert.Contains(t, agent, `release, notes: 3 of 5 steps done. #2 "Write the notes" is in progress. Go on`)
	text, err = l.Resume(t.Context(), "")
	require.NoError(t, err)
	assert.Contains(t, text, "In progress: #2 \"Write the notes\": How to do 2.\n")
}

// TestStopOfASessionWhoseStepWaitsForAnothers: two sessions share a list.
func TestStopOfASessionWhoseStepWaitsForAnothers(t *testing.T) {
	s := nested(t).state()
	for _, c := range s.Steps {
		if c.Workflow.Command == "notes" {
			c.Workflow.Session = "s2"
		}
	}
	assert.Empty(t, ready(s.Of("s1", func(string) bool { return false })), "#2 waits for s2's workflow")
	assert.Equal(t, []int64{11}, ready(s.Of("s2", func(string) bool { return false })))
}

func TestAPersonWhoEndsAStepEndsWhatIsUnderIt(t *testing.T) {
	l := nested(t)
	l.allows(11, workflow.InProgress)
	_, err := l.GoPast(t.Context(), Past{Step: 2, Because: "no notes"}, state.By{})
	require.NoError(t, err)
	s := l.state()
	assert.Equal(t, []int64{3}, ready(s))
	assert.Equal(t, "not needed", s.Word(s.Step(12)))
	data, err := os.ReadFile(filepath.Join(l.List.Dir, "11.json"))
	require.NoError(t, err)
	assert.Equal(t, "Collect (not needed: #2 is done) completed", jsonx.StringMember(data, "subject")+" "+jsonx.StringMember(data, "status"))
	assert.Contains(t, l.denies(12, workflow.InProgress), `#12 "Draft" is not needed any more: #2 is done`)
}

// TestEndOfAWorkflowPassesNoStep: the end that a person names by a step is not the completion of that step.
func TestEndOfAWorkflowPassesNoStep(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	l.allows(1, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 1,
		Steps: []workflow.Step{{ID: 11, Check: &workflow.Check{Run: "false", Timeout: 20}}, {ID: 12, BlockedBy: []int64{11}}}})
	l.set(11, workflow.Completed)
	require.Equal(t, "unchecked", l.state().Word(l.state().Step(11)))
	_, err := l.End(t.Context(), 11, "enough", state.By{})
	require.NoError(t, err)
	s := l.state()
	assert.Equal(t, []string{"not needed", "not needed"}, []string{s.Word(s.Step(11)), s.Word(s.Step(12))})
	assert.Equal(t, "Step 11 (not needed): completed", l.shown(11))
}

// TestReadyInsideNeedsReadyOutside: a person opens a step again that comes before the one
// with a workflow under it.
func TestReadyInsideNeedsReadyOutside(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok"}}}, workflow.Step{BlockedBy: []int64{1}})
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 1, Steps: []workflow.Step{{ID: 11}}})
	assert.Equal(t, []int64{11}, ready(l.state()))
	_, err := l.Reopen(t.Context(), 1, "again", state.By{})
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, ready(l.state()))
	assert.Contains(t, l.denies(11, workflow.InProgress), `#1 "Step 1" must be done first`)
	assert.Equal(t, "blocked", l.state().Word(l.state().Step(11)))
}

// TestReopenBeforeACalledSkill: what was done in it is open again, as parts of the step would be, unless it is of an earlier round.
func TestReopenBeforeACalledSkill(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok"}}},
		workflow.Step{BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "again", Back: 2, Max: 3}}})
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 1, Steps: []workflow.Step{{ID: 11}}})
	l.end(11, "")
	l.end(2, "again")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 2, Steps: []workflow.Step{{ID: 21}, {ID: 22, BlockedBy: []int64{21}}}})
	l.end(21, "")
	l.allows(22, workflow.InProgress)
	_, err := l.Reopen(t.Context(), 1, "again", state.By{})
	require.NoError(t, err)
	assert.Equal(t, "Step 21 (round 2): pending", l.shown(21))
	assert.Equal(t, "Step 22 (round 2): pending", l.shown(22))
	assert.Equal(t, "Step 11: completed", l.shown(11), "it belonged to round 1")
	l.end(1, "ok")
	assert.Equal(t, []int64{21}, ready(l.state()))
	for _, id := range []int64{21, 22} {
		l.end(id, "")
	}
	l.end(2, "ok")
	assert.Empty(t, ready(l.state()))
	assert.False(t, l.state().HasOpen())
}

// TestReopenBeforePartsThatHaveLedBack: their budgets are whole again, though none of them was done.
func TestReopenBeforePartsThatHaveLedBack(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok"}}}, workflow.Step{BlockedBy: []int64{1}})
	l.nest(workflow.Workflow{Command: "parts", Parent: 2,
		Steps: []workflow.Step{{ID: 11, Outcomes: []workflow.Outcome{{Name: "again", Back: 11, Max: 1}}}}})
	l.end(1, "ok")
	require.NotNil(t, l.end(11, "again").Turn)
	_, err := l.Reopen(t.Context(), 1, "x", state.By{})
	require.NoError(t, err)
	l.end(1, "ok")
	require.NotNil(t, l.end(11, "again").Turn)
	assert.Contains(t, l.end(11, "again").Reason, "as often as it may")
}

// looping is a workflow whose first step comes round again, with workflows under it: one that
// was called in the first round, and parts.
func looping(t testing.TB) *list {
	l := hydrated(t, workflow.Step{Subject: "Implement"}, workflow.Step{Subject: "Review", BlockedBy: []int64{1},
		Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "changes", Back: 1, Max: 3}}})
	l.allows(1, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "called", Parent: 1, Round: 1, Steps: []workflow.Step{{ID: 11}}})
	l.nest(workflow.Workflow{Command: "parts", Parent: 1, Steps: []workflow.Step{{ID: 21}, {ID: 22, BlockedBy: []int64{21}}}})
	return l
}

func TestALoopOpensPartsAgainAndLeavesWhatWasCalled(t *testing.T) {
	l := looping(t)
	for _, id := range []int64{11, 21, 22, 1} {
		require.True(t, l.end(id, "").Allowed(), "%d", id)
	}
	require.NotNil(t, l.end(2, "changes").Turn)
	s := l.state()
	assert.Equal(t, []int64{21}, ready(s))
	assert.True(t, s.Step(11).Done(), "it belonged to round 1")
	assert.Equal(t, []int64{21, 22}, []int64{s.Under(s.Step(1))[0].Steps[0].ID, s.Under(s.Step(1))[0].Steps[1].ID})
	assert.Equal(t, 2, s.Step(21).Round)
	assert.Equal(t, "Step 21 (round 2): pending", l.shown(21))
	for _, id := range []int64{21, 22, 1} {
		require.True(t, l.end(id, "").Allowed(), "%d", id)
	}
	require.True(t, l.end(2, "").Allowed() || l.end(2, "ok").Allowed())
	assert.Empty(t, ready(l.state()))
}

// shown returns the subject and the status that the list shows for a task.
func (l *list) shown(id int64) string {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(id)))
	require.NoError(l.t, err)
	return jsonx.StringMember(data, "subject") + ": " + jsonx.StringMember(data, "status")
}

func TestGoingBackWaitsForWhatIsUnderTheStep(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1},
		Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "changes", Back: 1, Max: 3}}})
	l.end(1, "")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 1, Steps: []workflow.Step{{ID: 11}}})
	assert.Contains(t, l.end(2, "changes").Reason, "of which #11")
	l.end(11, "")
	require.NotNil(t, l.end(2, "changes").Turn)
}

func TestTheShownBlockersOfAStepUnderAnother(t *testing.T) {
	s := nested(t).state()
	open := s.OpenUnder(s.Step(2))
	assert.Equal(t, []int64{11, 12}, []int64{open[0].ID, open[1].ID})
	assert.Empty(t, s.OpenUnder(s.Step(1)))
	assert.Equal(t, int64(2), s.Parent(s.Step(11).Workflow).ID)
}

func TestStopEndsTheInnermost(t *testing.T) {
	l := nested(t)
	l.nest(workflow.Workflow{Command: "deep", Parent: 11, Steps: []workflow.Step{{ID: 21,
		Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "drop", Stop: true}}}, {ID: 22, BlockedBy: []int64{21}}}})
	assert.Equal(t, []int64{21}, ready(l.state()))
	require.True(t, l.end(21, "drop").Allowed())
	s := l.state()
	assert.Equal(t, "not needed", s.Word(s.Step(22)))
	assert.Equal(t, []int64{11}, ready(s))
}

func TestCopiesComeInOneRecord(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Migrate", Outcomes: []workflow.Outcome{{Name: "ok"}}})
	l.allows(1, workflow.InProgress)
	copies := workflow.Workflow{Command: "release", Parent: 1, Round: 1}
	var files []txn.File
	for i, item := range []string{"a.go", "b.go"} {
		s := workflow.Step{ID: int64(11 + i), Local: 1, Subject: "Migrate: " + item, Status: workflow.Pending}
		copies.Under = append(copies.Under, workflow.Workflow{Parent: 1, Round: 1, Item: item, Steps: []workflow.Step{s}})
		files = append(files, txn.File{Name: fileName(s.ID), Data: taskText(s), Mode: 0o644})
	}
	record, err := workflow.Workflow{Command: "release", Session: "s1", Dir: l.project, Under: copies.Under}.Encode()
	require.NoError(t, err)
	commit(t, l.List.Dir, txn.Change{Label: "{}", Creates: files, Record: record})
	s := l.state()
	assert.Equal(t, []int64{11, 12}, ready(s))
	assert.Equal(t, "a.go", s.Step(11).Workflow.Item)
	assert.Equal(t, "s1", s.Step(12).Workflow.Session)
	assert.Contains(t, l.denies(1, workflow.Completed),
		`under it is the item "a.go", of which #11 "Migrate: a.go" is open and the item "b.go", of which #12`)
	l.end(11, "")
	assert.Contains(t, l.text("12"), `The item "b.go" is done. Every item is. Go on with #1 "Migrate"`)
}

// text completes a step and returns what the agent is told afterwards.
func (l *list) text(task string) string {
	l.t.Helper()
	require.True(l.t, l.Update(l.t.Context(), Update{Task: task, Status: workflow.Completed}).Allowed())
	var id int64
	_, err := fmt.Sscan(task, &id)
	require.NoError(l.t, err)
	l.set(id, workflow.Completed)
	text, _ := l.Seen(l.t.Context(), task, "")
	return text
}

func TestTheRecordOfATree(t *testing.T) {
	plain := workflow.Workflow{Dir: "/p", Steps: []workflow.Step{{ID: 1, Local: 1, Status: workflow.Pending}}}
	for _, w := range []workflow.Workflow{plain, {Dir: "/p", Parent: 7, Steps: plain.Steps}} {
		text, err := w.Encode()
		require.NoError(t, err)
		got, err := workflow.ParseWorkflow(text)
		require.NoError(t, err)
		assert.Equal(t, workflow.Version, got.Version)
		assert.NotNil(t, got.Machine)
		assert.Equal(t, w.Parent, got.Parent)
	}
	for _, text := range []string{
		`{"version":6,"dir":"/p","parent":-1,"steps":[]}`,
		`{"version":6,"dir":"/p","round":-1,"steps":[]}`,
		`{"version":6,"dir":"/p","steps":[{"id":1,"local":1,"status":"pending"}],"under":[{"steps":[{"id":1,"local":1,"status":"pending"}]}]}`,
	} {
		_, err := workflow.ParseWorkflow(text)
		assert.Error(t, err, text)
	}
	_, err := workflow.ParseWorkflow(`{"version":3,"dir":"/p","steps":[]}`)
	assert.ErrorIs(t, err, workflow.ErrVersion)
}

// TestATreeIsNeverStuckAndNothingIsLeftOut: in any order of work on any tree, each step is
// completed once, a step only after everything under it, and something is always ready.
func TestATreeIsNeverStuckAndNothingIsLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &state.State{}
		workflows := rapid.IntRange(1, 6).Draw(t, "workflows")
		for n := range workflows {
			w := &workflow.Workflow{Command: fmt.Sprint(n)}
			if n > 0 {
				w.Parent = rapid.SampledFrom(s.Steps).Draw(t, "parent").ID
			}
			first := int64(len(s.Steps)) + 1
			for i := range int64(rapid.IntRange(1, 4).Draw(t, "steps")) {
				c := &state.Current{Step: workflow.Step{ID: first + i}, Workflow: w, Status: workflow.Pending}
				if i > 0 && rapid.Bool().Draw(t, "blocked") {
					c.BlockedBy = []int64{first + rapid.Int64Range(0, i-1).Draw(t, "by")}
				}
				s.Steps = append(s.Steps, c)
			}
		}
		proved(s).Fold()
		for s.DoneCount() < len(s.Steps) {
			for _, c := range s.Steps {
				if !c.Done() && !slices.Contains(s.Ready(), c) && order(s, c, Update{Status: workflow.Completed}).Allowed() {
					t.Fatalf("#%d is not ready and can be completed", c.ID)
				}
			}
			if len(s.Ready()) == 0 {
				t.Fatalf("nothing is ready, and %d of %d steps are done", s.DoneCount(), len(s.Steps))
			}
			c := rapid.SampledFrom(s.Ready()).Draw(t, "next")
			if v := order(s, c, Update{Status: workflow.Completed}); !v.Allowed() {
				t.Fatalf("#%d is ready and refused: %s", c.ID, v.Reason)
			}
			for _, w := range s.Under(c) {
				if !s.Finished(w) {
					t.Fatalf("#%d is ready, and %s under it is not finished", c.ID, w.Command)
				}
			}
			c.Status = workflow.Completed
			s.Fold()
		}
		for _, c := range s.Steps {
			if c.NotNeeded {
				t.Fatalf("#%d was left out", c.ID)
			}
		}
	})
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
