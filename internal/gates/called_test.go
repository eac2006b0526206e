package gates

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// demanding is a workflow whose second step demands the skill notes, and can lead back.
func demanding(t testing.TB) *list {
	return hydrated(t, workflow.Step{Subject: "Build", Outcomes: []workflow.Outcome{{Name: "ok"}}},
		workflow.Step{Subject: "Write the notes", BlockedBy: []int64{1}, Do: "notes", Check: &workflow.Check{Run: "true", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "ok"}, {Name: "again", Back: 1, Max: 2}}})
}

func (l *list) calls(skill string) {
	l.t.Helper()
	require.NoError(l.t, l.Calls(l.t.Context(), state.SkillCall{Skill: skill}))
}

func TestADemandedSkillHasToBeCalledWhileTheStepIsInProgress(t *testing.T) {
	l := demanding(t)
	l.end(1, "ok")
	l.calls("notes")
	assert.Contains(t, l.end(2, "ok").Reason,
		`#2 "Write the notes" cannot be completed: the skill notes has to be called first, while this step is in progress. Next, `+
			`start the step, then call it, do what it says, and then complete the step`)
	l.allows(2, workflow.InProgress)
	assert.Contains(t, l.end(2, "ok").Reason, "Next, call it", "it was called before the step was in progress")
	l.calls("other")
	require.False(t, l.end(2, "ok").Allowed())
	l.calls("my-plugin:notes")
	require.Nil(t, l.end(2, "again").Turn.textOrNil(), "going back is free")
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	assert.Contains(t, l.end(2, "ok").Reason, "has to be called first", "the call was in another round")
	l.calls("notes")
	l.calls("notes")
	n := 0
	for _, e := range l.state().Evidence {
		if e.Verdict == state.Called {
			n++
		}
	}
	assert.Equal(t, 2, n, "one line a round")
	require.True(t, l.end(2, "ok").Allowed())
}

// textOrNil is nil: a turn that is expected.
func (t *Turn) textOrNil() any {
	if t == nil {
		return "the update did not lead back"
	}
	return nil
}

// TestTheCallAndTheStartInOneMessage: the hooks of both run at the same time.
func TestTheCallAndTheStartInOneMessage(t *testing.T) {
	l := demanding(t)
	l.end(1, "ok")
	require.True(t, l.ask(2, workflow.InProgress).Allowed())
	l.calls("notes")
	l.set(2, workflow.InProgress)
	require.True(t, l.end(2, "ok").Allowed())
}

// TestTheWorkflowUnderTheStepShowsTheCall: a crash between the transaction and the line.
func TestTheWorkflowUnderTheStepShowsTheCall(t *testing.T) {
	l := demanding(t)
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "my-plugin:notes", Parent: 2, Round: 1, Called: true, Steps: []workflow.Step{{ID: 11}}})
	l.end(11, "")
	require.True(t, l.end(2, "ok").Allowed())

	l = demanding(t)
	l.end(1, "ok")
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Round: 1, Steps: []workflow.Step{{ID: 11}}})
	l.end(11, "")
	l.allows(2, workflow.InProgress)
	require.False(t, l.end(2, "ok").Allowed(), "the step was not in progress when it was called")
}

// TestADemandOfAStepThatWasCompletedInAnotherWay: an editor may write any status.
func TestADemandOfAStepThatWasCompletedInAnotherWay(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Write the notes", Do: "notes"}, workflow.Step{BlockedBy: []int64{1}})
	l.set(1, workflow.Completed)
	assert.False(t, l.state().Step(1).Done())
	assert.Contains(t, l.denies(2, workflow.InProgress), "was completed in another way and does not pass its gates")
}

func TestTheRecordOfADemand(t *testing.T) {
	text, err := workflow.Workflow{Dir: "/p", Steps: []workflow.Step{{ID: 1, Local: 1, Status: workflow.Pending, Do: "notes"}}}.Encode()
	require.NoError(t, err)
	w, err := workflow.ParseWorkflow(text)
	require.NoError(t, err)
	assert.Equal(t, "calls the skill notes", w.Steps[0].Gates()[0].String())
}

// TestACalledSkillIsNotDemandedAgain: an agent that reads again that it has to call the skill would
// begin its workflow anew.
func TestACalledSkillIsNotDemandedAgain(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Write the notes", "description": "In English.", "do": "notes"}, {"id": 2, `+
		`"subject": "Publish", "blockedBy": [1]}]}`)
	demand := "Call the skill notes while this step is in progress"
	l.allows(1, workflow.InProgress)
	assert.Contains(t, resumed(l.state()), demand)
	l.nest(workflow.Workflow{Command: "notes", Parent: 1, Round: 1, Called: true, Steps: []workflow.Step{{ID: 11, Subject: "Collect"}}})
	text := l.text("11")
	assert.Equal(t, `The workflow of notes is done. Go on with #1 "Write the notes" (the skill notes was called): In English.`, text)
	assert.NotContains(t, resumed(l.state()), demand)
	assert.Contains(t, l.state().Step(1).Description, demand, "the list keeps it")
}

// TestACallCountsForOneStep: otherwise an agent that has started the steps for all lines would call the
// skill once.
func TestACallCountsForOneStep(t *testing.T) {
	demanding := func() *list {
		l := hydrated(t, workflow.Step{Do: "notes"}, workflow.Step{Do: "notes"}, workflow.Step{Do: "notes"})
		l.allows(1, workflow.InProgress)
		l.allows(2, workflow.InProgress)
		return l
	}
	called := func(l *list) (ids []int64) {
		for _, c := range l.state().Steps {
			if c.Called {
				ids = append(ids, c.ID)
			}
		}
		return ids
	}
	calls := func(l *list, x state.SkillCall) {
		x.Skill = "notes"
		require.NoError(t, l.Calls(t.Context(), x))
	}
	for name, c := range map[string]struct {
		calls []state.SkillCall
		want  []int64
	}{
		"the step that was started last":            {[]state.SkillCall{{}}, []int64{2}},
		"each call counts for one more":             {[]state.SkillCall{{}, {}}, []int64{1, 2}},
		"not for one that is not in progress":       {[]state.SkillCall{{}, {}, {}}, []int64{1, 2}},
		"the same call counts once":                 {[]state.SkillCall{{Use: "a"}, {Use: "a"}}, []int64{2}},
		"the step that the workflow came under":     {[]state.SkillCall{{Under: 1}}, []int64{1}},
		"a workflow that starts over there":         {[]state.SkillCall{{Under: 1}, {Under: 1}}, []int64{1}},
		"one that came under a step without demand": {[]state.SkillCall{{Under: 99}}, []int64{2}},
	} {
		l := demanding()
		for _, x := range c.calls {
			calls(l, x)
		}
		assert.Equal(t, c.want, called(l), name)
	}
}

// TestASkillComesUnderTheStepThatWaitsForIt: not under the one that was started last, and a check
// that corrects the call comes to the same step.
func TestASkillComesUnderTheStepThatWaitsForIt(t *testing.T) {
	l := hydrated(t, workflow.Step{Do: "notes"}, workflow.Step{}, workflow.Step{Do: "notes"})
	for id := range int64(3) {
		l.allows(id+1, workflow.InProgress)
	}
	under := func(use string) int64 {
		p, err := l.state().Place(state.Calling{Command: "notes", Use: use})
		require.NoError(t, err)
		return p.Parent.ID
	}
	require.EqualValues(t, 3, under("a"))
	require.NoError(t, l.Calls(t.Context(), state.SkillCall{Skill: "notes", Use: "a", Under: 3}))
	require.EqualValues(t, 1, under("b"))
	require.EqualValues(t, 3, under("a"))
	require.NoError(t, l.Calls(t.Context(), state.SkillCall{Skill: "notes", Use: "b", Under: 1}))
	require.EqualValues(t, 3, under("c"), "no step waits for it")
}
