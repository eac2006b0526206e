package gates

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// nested is release (1, 2, 3) with notes (11, 12) under 2.
func nested(t tb) *list {
	l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Write the notes", "blockedBy": [1]}`, `{"subject": "Publish", "blockedBy": [2]}`)
	l.allows(1, completed)
	l.begin(2)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2}, `{"id": 11, "subject": "Collect"}`,
		`{"id": 12, "subject": "Draft", "blockedBy": [11]}`)
	return l
}

// TestNoPersonIsAwaitedForWhatIsUnderAStep, however often the agent tries to complete the step.
func TestNoPersonIsAwaitedForWhatIsUnderAStep(t *testing.T) {
	l := nested(t)
	for range state.MaxRepeats {
		l.denies(2, completed)
	}
	assert.False(t, l.state().AwaitsPerson(l.state().Step(2)))
	for range state.MaxRepeats {
		l.denies(12, completed)
	}
	assert.False(t, l.state().AwaitsPerson(l.state().Step(12)))
}

func TestAStepWaitsForWhatIsUnderIt(t *testing.T) {
	l := nested(t)
	assert.Equal(t, ids(11), ready(l.state()), "the work is inside")
	assert.Contains(t, l.denies(2, completed),
		`#2 "Write the notes" cannot be completed: under it is the workflow of notes, of which #11 "Collect" and #12 "Draft" are `+
			`open. Ready now: #11 "Collect".`)
	assert.Contains(t, l.denies(3, inProgress), `#2 "Write the notes" must be done first. Ready now: #11`)
	l.allows(2, pending)
	l.begin(2, 11)
	assert.Empty(t, l.told(11, ""))
	assert.Equal(t, `The workflow of notes is done. Go on with #2 "Write the notes": How to do 2.`, l.told(12, ""))
	assert.Equal(t, ids(2), ready(l.state()))
	l.allows(2, completed)
	text, _ := l.Seen(t.Context(), "12", "")
	assert.Empty(t, text, "the outer step is done")
	assert.Equal(t, ids(3), ready(l.state()))
}

// TestWhatWasCompletedInAnotherWayWaitsToo: an editor may write any status.
func TestWhatWasCompletedInAnotherWayWaitsToo(t *testing.T) {
	l := nested(t)
	l.set(2, completed)
	assert.False(t, l.state().Step(2).Done())
	l.denies(3, inProgress)
	l.set(11, completed)
	l.set(12, completed)
	assert.True(t, l.state().Step(2).Done(), "nothing under it is open")
}

func TestStopAndResumeSpeakOfTheOuterStepWhenTheInnerIsDone(t *testing.T) {
	l := nested(t)
	agent, _ := l.stops(Stopping{Mode: Remind})
	assert.Contains(t, agent, `#11 "Collect" is ready.`)
	assert.Contains(t, l.resumes(), "Ready: #11 \"Collect\": How to do 11.\n#2 \"Write the notes\" goes on when what is under it is done: "+
		"the workflow of notes, of which #11 \"Collect\" and #12 \"Draft\" are open.\n")
	l.allows(11, completed)
	l.allows(12, completed)
	agent, _ = l.stops(Stopping{Mode: Remind})
	assert.Contains(t, agent, `release: 3 of 5 steps done. #2 "Write the notes" is in progress. Go on`)
	assert.Contains(t, l.resumes(), "In progress: #2 \"Write the notes\": How to do 2.\n")
}

func TestAPersonWhoEndsAStepEndsWhatIsUnderIt(t *testing.T) {
	l := nested(t)
	l.begin(11)
	l.skip(2)
	s := l.state()
	assert.Equal(t, ids(3), ready(s))
	assert.Equal(t, state.IsNotNeeded, s.Word(s.Step(12)))
	assert.Equal(t, "Collect (not needed: #2 was skipped): completed", l.shown(11))
	assert.Contains(t, l.denies(12, inProgress), `#12 "Draft" is not needed any more: #2 was skipped`)
	_, err := l.Reopen(t.Context(), 11, "x", state.By{})
	assert.EqualError(t, err, `#11 "Collect": the step that it is under goes on without it: #2 was skipped`)
	assert.Equal(t, `open that one again: fsmtx step reopen 2 --because "..." --list s1`, message.Hint(err))
}

// TestEndOfAWorkflowPassesNoStep: the end that a person names by a step is not the completion of that step.
func TestEndOfAWorkflowPassesNoStep(t *testing.T) {
	l := hydrated(t, `{}`)
	l.begin(1)
	l.nest(workflow.Workflow{Command: "notes", Parent: 1}, `{"id": 11, "check": "false"}`, `{"id": 12, "blockedBy": [11]}`)
	l.set(11, completed)
	require.Equal(t, state.Unchecked, l.state().Word(l.state().Step(11)))
	_, err := l.End(t.Context(), 11, "enough", state.By{})
	require.NoError(t, err)
	s := l.state()
	assert.Equal(t, []state.Word{state.IsNotNeeded, state.IsNotNeeded}, []state.Word{s.Word(s.Step(11)), s.Word(s.Step(12))})
	assert.Equal(t, "Step 11 (not needed): completed", l.shown(11))
}

// TestReopenBeforeACalledSkill: what was done in it is open again, as parts of the step would be, unless it is of an earlier round.
func TestReopenBeforeACalledSkill(t *testing.T) {
	l := hydrated(t, `{"outcomes": ["ok"]}`,
		`{"blockedBy": [1], "outcomes": {"ok": {}, "again": {"back": 2, "max": 3}}}`)
	l.end(1, "ok")
	l.begin(2)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 1}, `{"id": 11}`)
	l.end(11, "")
	l.end(2, "again")
	l.begin(2)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 2}, `{"id": 21}`, `{"id": 22, "blockedBy": [21]}`)
	l.end(21, "")
	l.begin(22)
	l.reopen(1)
	assert.Equal(t, "Step 21 (round 2): pending", l.shown(21))
	assert.Equal(t, "Step 22 (round 2): pending", l.shown(22))
	assert.Equal(t, "Step 11: completed", l.shown(11), "it belonged to round 1")
	l.end(1, "ok")
	assert.Equal(t, ids(21), ready(l.state()))
	l.ended(21, 22)
	l.end(2, "ok")
	assert.Empty(t, ready(l.state()))
	assert.False(t, l.state().HasOpen())
}

// TestReopenBeforePartsThatHaveLedBack: their budgets are whole again, though none of them was done.
func TestReopenBeforePartsThatHaveLedBack(t *testing.T) {
	l := hydrated(t, `{"outcomes": ["ok"]}`, `{"blockedBy": [1]}`)
	l.nest(workflow.Workflow{Command: "parts", Parent: 2}, `{"id": 11, "outcomes": {"again": {"back": 11, "max": 1}}}`)
	l.end(1, "ok")
	require.NotNil(t, l.end(11, "again").Turn)
	l.reopen(1)
	l.end(1, "ok")
	require.NotNil(t, l.end(11, "again").Turn)
	assert.Contains(t, l.end(11, "again").Reason, "as often as it may")
}

// TestReopenBeforeWhatWasOver: what was under a step that a person has gone past or ended is open again with it.
func TestReopenBeforeWhatWasOver(t *testing.T) {
	for name, over := range map[string]func(*list){
		"the step is skipped": func(l *list) { l.skip(2) },
		"the skill is ended": func(l *list) {
			_, err := l.End(t.Context(), 11, "x", state.By{})
			require.NoError(t, err)
		},
	} {
		l := hydrated(t, `{}`, `{"blockedBy": [1]}`)
		l.ended(1)
		l.begin(2)
		l.nest(workflow.Workflow{Command: "notes", Parent: 2}, `{"id": 11}`)
		l.nest(workflow.Workflow{Command: "notes", Parent: 11}, `{"id": 21}`)
		over(l)
		require.Contains(t, l.shown(21), "Step 21 (not needed", name)
		l.reopen(1)
		assert.Contains(t, l.shown(21), ": pending", name)
		assert.Equal(t, ids(1), ready(l.state()), name)
		l.ended(1)
		assert.Equal(t, ids(21), ready(l.state()), name)
	}
}

// A person opens a step again while the agent works on a skill within a later one. That one was not
// done, so it is not opened again: what is under it waits, and goes on afterwards.
func TestAReopenInTheMiddleOfANestedWorkflow(t *testing.T) {
	l := reviewed(t, "pass", "1")
	l.ended(1, 2)
	l.begin(3)
	l.nest(workflow.Workflow{Command: "notes", Parent: 3, Round: 1}, `{"id": 11, "subject": "Collect"}`,
		`{"id": 12, "subject": "Draft", "blockedBy": [11]}`)
	l.allows(11, completed)
	require.Equal(t, ids(12), ready(l.state()))
	l.reopen(1)
	assert.Equal(t, ids(1), ready(l.state()))
	assert.Contains(t, l.denies(12, inProgress),
		`#12 "Draft" cannot be started: #11 "Collect" and #2 "Test" must be done first. Ready now: #1 "Implement"`)
	l.ended(1, 2)
	assert.Equal(t, ids(11), ready(l.state()), "the work inside begins anew")
	assert.Contains(t, l.end(3, "changes").Reason, `of which #11 "Collect" and #12 "Draft" are open`)
	l.allows(11, completed)
	l.allows(12, completed)
	assert.NotNil(t, l.end(3, "changes").Turn)
}

// While tasks are put right the client is locked out of them.
func TestTasksArePutRightUnderTheirLocks(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	l.rewrite(1, `{"subject": "mine", "status": "pending"}`)
	l.rewrite(2, `{"subject": "mine", "status": "pending"}`)
	var rewritten []string
	l.List.FS = &faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if dir, name := filepath.Split(s.To); filepath.Clean(dir) == l.List.Dir && tasks.Form.IsTask(name) {
			rewritten = append(rewritten, name)
			assert.DirExists(t, s.To+".lock")
		}
		return nil
	}}
	assert.Contains(t, l.ask(1, inProgress).Trouble, "was put right: subject")
	assert.Equal(t, []string{"1.json", "2.json"}, rewritten)
	l.Apply = true
	l.rewrite(2, `{"subject": "mine", "status": "pending"}`)
	assert.Contains(t, l.ask(1, completed).Trouble, "was put right: subject", "before the update is carried out")
}

// demanding is a workflow whose second step, which is ready, demands the skill notes, and can lead back.
func demanding(t tb) *list {
	l := hydrated(t, `{"subject": "Build", "outcomes": ["ok"]}`,
		`{"subject": "Write the notes", "blockedBy": [1], "check": "true", "do": "notes",
			"outcomes": {"ok": {}, "again": {"back": 1, "max": 2}}}`)
	l.end(1, "ok")
	return l
}

// calls is the agent's call of a skill.
func (l *list) calls(x state.SkillCall) {
	l.t.Helper()
	x.Skill = cmp.Or(x.Skill, "notes")
	require.NoError(l.t, l.Calls(l.t.Context(), x))
}

func TestADemandedSkillHasToBeCalledWhileTheStepIsInProgress(t *testing.T) {
	l := demanding(t)
	l.calls(state.SkillCall{})
	assert.Contains(t, l.end(2, "ok").Reason,
		`#2 "Write the notes" cannot be completed: the skill notes has to be called first, while this step is in progress. Next, `+
			`start the step, then call it, do what it says, and then complete the step`)
	l.begin(2)
	assert.Contains(t, l.end(2, "ok").Reason, "Next, call it", "it was called before the step was in progress")
	l.calls(state.SkillCall{Skill: "other"})
	require.False(t, l.end(2, "ok").Allowed())
	l.calls(state.SkillCall{Skill: "my-plugin:notes"})
	require.NotNil(t, l.end(2, "again").Turn, "going back is free")
	l.end(1, "ok")
	l.begin(2)
	assert.Contains(t, l.end(2, "ok").Reason, "has to be called first", "the call was in another round")
	l.calls(state.SkillCall{})
	l.calls(state.SkillCall{})
	lines := slices.DeleteFunc(l.state().Evidence, func(e state.Evidence) bool { return e.Verdict != state.Called })
	assert.Len(t, lines, 2, "one line a round")
	require.True(t, l.end(2, "ok").Allowed())
}

// TestTheCallAndTheStartInOneMessage: the hooks of both run at the same time.
func TestTheCallAndTheStartInOneMessage(t *testing.T) {
	l := demanding(t)
	require.True(t, l.ask(2, inProgress).Allowed())
	l.calls(state.SkillCall{})
	l.set(2, inProgress)
	require.True(t, l.end(2, "ok").Allowed())
}

// TestTheWorkflowUnderTheStepShowsTheCall: a crash between the transaction and the line.
func TestTheWorkflowUnderTheStepShowsTheCall(t *testing.T) {
	for _, started := range []bool{true, false} { // when the skill was called
		l := demanding(t)
		if started {
			l.begin(2)
		}
		l.nest(workflow.Workflow{Command: "my-plugin:notes", Parent: 2, Round: 1, Called: started}, `{"id": 11}`)
		l.ended(11)
		l.begin(2)
		require.Equal(t, started, l.end(2, "ok").Allowed())
	}
}

// TestADemandOfAStepThatWasCompletedInAnotherWay: an editor may write any status.
func TestADemandOfAStepThatWasCompletedInAnotherWay(t *testing.T) {
	l := hydrated(t, `{"subject": "Write the notes", "do": "notes"}`, `{"blockedBy": [1]}`)
	l.set(1, completed)
	assert.False(t, l.state().Step(1).Done())
	assert.Contains(t, l.denies(2, inProgress), "was completed past the hooks and does not pass its gates")
}

// TestACalledSkillIsNotDemandedAgain: an agent that reads again that it has to call the skill would
// begin its workflow anew.
func TestACalledSkillIsNotDemandedAgain(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Write the notes", "description": "In English.", "do": "notes"}, {"id": 2, `+
		`"subject": "Publish", "blockedBy": [1]}]}`)
	demand := "Call the skill notes while this step is in progress"
	l.begin(1)
	assert.Contains(t, resumed(l.state()), demand)
	l.nest(workflow.Workflow{Command: "notes", Parent: 1, Round: 1, Called: true}, `{"id": 11, "subject": "Collect"}`)
	text := l.told(11, "")
	assert.Equal(t, `The workflow of notes is done. Go on with #1 "Write the notes" (the skill notes was called): In English.`, text)
	assert.NotContains(t, resumed(l.state()), demand)
	assert.Contains(t, l.state().Step(1).Description, demand, "the list keeps it")
}

// TestACallCountsForOneStep: otherwise an agent that has started the steps for all lines would call the
// skill once.
func TestACallCountsForOneStep(t *testing.T) {
	for name, c := range map[string]struct {
		calls []state.SkillCall
		want  []int64
	}{
		"the step that was started last":            {[]state.SkillCall{{}}, ids(2)},
		"each call counts for one more":             {[]state.SkillCall{{}, {}}, ids(1, 2)},
		"not for one that is not in progress":       {[]state.SkillCall{{}, {}, {}}, ids(1, 2)},
		"the same call counts once":                 {[]state.SkillCall{{Use: "a"}, {Use: "a"}}, ids(2)},
		"the step that the workflow came under":     {[]state.SkillCall{{Under: 1}}, ids(1)},
		"a workflow that starts over there":         {[]state.SkillCall{{Under: 1}, {Under: 1}}, ids(1)},
		"one that came under a step without demand": {[]state.SkillCall{{Under: 99}}, ids(2)},
	} {
		l := hydrated(t, `{"do": "notes"}`, `{"do": "notes"}`, `{"do": "notes"}`)
		l.begin(1, 2)
		for _, x := range c.calls {
			l.calls(x)
		}
		var called []int64
		for _, s := range l.state().Steps {
			if s.Called {
				called = append(called, s.ID)
			}
		}
		assert.Equal(t, c.want, called, name)
	}
}

// TestASkillComesUnderTheStepThatWaitsForIt: not under the one that was started last, and a check
// that corrects the call comes to the same step.
func TestASkillComesUnderTheStepThatWaitsForIt(t *testing.T) {
	l := hydrated(t, `{"do": "notes"}`, `{}`, `{"do": "notes"}`)
	l.begin(1, 2, 3)
	under := func(use string) int64 {
		p, err := l.state().Place(state.Calling{Command: "notes", Use: use})
		require.NoError(t, err)
		return p.Parent.ID
	}
	require.EqualValues(t, 3, under("a"))
	l.calls(state.SkillCall{Use: "a", Under: 3})
	require.EqualValues(t, 1, under("b"))
	require.EqualValues(t, 3, under("a"))
	l.calls(state.SkillCall{Use: "b", Under: 1})
	require.EqualValues(t, 3, under("c"), "no step waits for it")
}

// TestWhatAnotherSessionHasBegun under a step of this one is not this session's: what it waits for is said, and nobody has to go past
// anything.
func TestWhatAnotherSessionHasBegun(t *testing.T) {
	s := nested(t).state()
	s.Step(11).Workflow.Session = "s2"
	nobody := func(string) bool { return false }
	assert.Empty(t, ready(s.Of("s1", nobody)), "#2 waits for s2's workflow")
	assert.Equal(t, ids(11), ready(s.Of("s2", nobody)))
	text := resumed(s.Of("s1", nobody))
	assert.Contains(t, text, `They wait for #11 "Collect", in what another session has begun in this list.`)
	assert.NotContains(t, text, state.NoneReady)
}
