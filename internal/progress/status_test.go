package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/gates"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestTextOfAStep: what a step needs is said until it is started.
func TestTextOfAStep(t *testing.T) {
	full := Full{
		Step: Step{Number: 2, Subject: "Write", State: "ready"}, Description: "How.",
		Needs: []string{"a", "b"}, Produces: []string{"c", "d"}, Check: "make", Approval: "Good?",
	}
	needs := "When it is started, these files must exist: a, b\n"
	rest := "When it is completed, these files must exist: c, d\n" +
		"When it is completed, this command must exit with 0: make\n" +
		"When it is completed, a person has to approve it: Good?"
	assert.Equal(t, "#2 Write (ready)\nHow.\n"+needs+rest, full.text())
	full.approve = "fsmtx step done 2"
	assert.Equal(t, "#2 Write (ready)\nHow.\n"+needs+rest+"\nNobody asks them here: complete it when its work is done, then tell them. "+
		"They approve it in a terminal: fsmtx step done 2", full.text())
	full.approve, full.State = "", "in progress"
	assert.Equal(t, "#2 Write (in progress)\nHow.\n"+rest, full.text())
	assert.Equal(t, "#2 Write (ready)", Full{Step: Step{Number: 2, Subject: "Write", State: "ready"}}.text())
}

// TestNothingIsSaidTwice: the description says which values a step sets and how long it may take, unless somebody has
// written another one.
func TestNothingIsSaidTwice(t *testing.T) {
	full := Full{
		Step: Step{Number: 2, Subject: "Write", State: "ready"}, Description: "How.\nSets: v (matches [0-9]{2}). Time limit: 30m from its start.",
		Sets: []string{"sets v (matches [0-9]{2})"}, TimeLimit: "30m",
	}
	assert.Equal(t, "#2 Write (ready)\n"+message.Block(full.Description), full.text())
	full.TimeLimit = "30m, over by 2m"
	assert.Contains(t, full.text(), "\nTime limit from its start: 30m, over by 2m")
	full.Description = "Mine."
	assert.Contains(t, full.text(), "\nWhen it is completed, it sets v (matches [0-9]{2}): give that when you complete it\n")
}

// TestStatusOfTwoWorkflows: they are named in the order of their steps, and a step waits for
// those that are there and not done.
func TestStatusOfTwoWorkflows(t *testing.T) {
	one, two := recorded(t, "one"), recorded(t, "two")
	s := &state.State{Steps: []*state.Current{
		currentStep(1, one, "pending", false), currentStep(2, one, "completed", true), currentStep(3, two, "in_progress", false),
		currentStep(4, two, "pending", false, 3, 99, 2, 1), currentStep(5, two, "completed", true, 1),
	}}
	got := Way{}.Of(s, "A note.")
	assert.Equal(t, "one, two", got.Skill)
	assert.True(t, strings.HasPrefix(got.Message, "A note. one: 1 of 2 steps are done; two: 1 of 3 steps are done."), got.Message)
	assert.Equal(t, []int64{3, 1}, got.Steps[3].WaitsFor)
	assert.Empty(t, got.Steps[4].WaitsFor, "it is done")
	assert.Contains(t, got.Message, `Ready: #1 "S". In progress: #3 "S"`)
}

// TestNextNamesEveryOpenStep: several agents may ask, and the step in progress may be another's.
func TestNextNamesEveryOpenStep(t *testing.T) {
	f := hydrated(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Collect"}, {"id": 2, "subject": "Ask"},
		{"id": 3, "subject": "Notes", "do": [{"id": 1, "subject": "Draft"}]}, {"id": 4, "subject": "Publish", "blockedBy": [1, 2, 3]}]}`)
	require.True(t, f.Update(t.Context(), gates.Update{Task: "1", Status: workflow.InProgress}).Allowed())
	s, err := state.Load(t.Context(), f.List.Dir)
	require.NoError(t, err)
	text := Way{Kind: Commands}.Next(s)
	assert.Contains(t, text, `Ready: #2 "Ask" and #5 "Draft" (part of #3). In progress: #1 "Collect". `)
	assert.Contains(t, text, `#3 "Notes" waits for #5`)
}

func TestAReportHasAFewStepsInFull(t *testing.T) {
	w, s := recorded(t, "one"), &state.State{}
	for id := range int64(maxFull + 2) {
		s.Steps = append(s.Steps, &state.Current{Step: workflow.Step{ID: id + 1, Subject: "S"}, Workflow: w, Status: "pending",
			Description: "What to do."})
	}
	assert.Equal(t, maxFull, strings.Count(Way{}.Report(s), "What to do."))
	s.Steps = s.Steps[:maxFull]
	assert.Equal(t, maxFull, strings.Count(Way{}.Report(s), "What to do."))
}

// TestABlockedStepNamesWhatItWaitsFor, also if that comes before the step that it is under, or is the
// line before its own.
func TestABlockedStepNamesWhatItWaitsFor(t *testing.T) {
	f := hydrated(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Migrate", "each": {"run": "echo a; echo b", "inTurn": true}},
		{"id": 2, "subject": "Publish", "blockedBy": [1], "do": [{"id": 1, "subject": "Tag"}]}]}`)
	require.True(t, f.Update(t.Context(), gates.Update{Task: "1", Status: workflow.InProgress}).Allowed())
	s, err := state.Load(t.Context(), f.List.Dir)
	require.NoError(t, err)
	for _, step := range (Way{}).Of(s, "").Steps {
		if step.State == "blocked" {
			assert.NotEmpty(t, step.WaitsFor, step.Subject)
		}
	}
}

// recorded returns the workflow of a skill, with another step than those of a test.
func recorded(t *testing.T, command string) *workflow.Workflow {
	text, err := workflow.Workflow{Command: command, Dir: "/p", FSM: `[{"id": 90, "subject": "S"}]`}.Encode()
	require.NoError(t, err)
	w, err := workflow.ParseWorkflow(text)
	require.NoError(t, err)
	return &w
}

// currentStep is a step of a workflow.
func currentStep(id int64, w *workflow.Workflow, status string, passed bool, after ...int64) *state.Current {
	return &state.Current{Step: workflow.Step{ID: id, Subject: "S", BlockedBy: after}, Workflow: w, Status: status,
		Outcome: map[bool]string{true: "done"}[passed]}
}

func TestLine(t *testing.T) {
	w := recorded(t, "one")
	at := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	step := func(id int64, status string, passed bool, after ...int64) *state.Current {
		return currentStep(id, w, status, passed, after...)
	}
	denied := state.Evidence{Time: at, Step: 3, To: "completed", Verdict: state.Deny, Why: "#2 is not done"}
	asked := state.Evidence{Time: at, Step: 2, To: "completed", Verdict: state.Ask}
	allowed := state.Evidence{Time: at.Add(time.Second), Step: 2, To: "in_progress", Verdict: state.Allow}
	working := []*state.Current{step(1, "completed", true), step(2, "in_progress", false), step(3, "pending", false, 2)}
	two := append(working[:2:2], step(3, "in_progress", false))
	done := []*state.Current{step(1, "completed", true)}
	for _, c := range []struct {
		steps    []*state.Current
		evidence []state.Evidence
		want     []Part
	}{
		{nil, nil, nil},
		{done, nil, []Part{{"● 1/1", Done}}},
		{working, nil, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{two, nil, []Part{{"◐ 1/3", Busy}, {"#2 S +1", Plain}}},
		{working, []state.Evidence{denied}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}, {"refused #3: #2 is not done", Bad}}},
		{working, []state.Evidence{denied, allowed}, []Part{{"◐ 1/3", Busy}, {"#2 S", Plain}}},
		{working, []state.Evidence{asked}, []Part{{"! 1/3", Busy}, {"waiting for you", Person}, {"#2 S", Plain}}},
		{[]*state.Current{step(1, "", false)}, nil, []Part{{"✗ 0/1, 1 gone", Bad}}},
		{working[2:], nil, []Part{{"○ 0/1", Plain}, {"#3 S", Plain}}},
	} {
		assert.Equal(t, c.want, Line(&state.State{Steps: c.steps, Evidence: c.evidence, Time: at.Add(time.Minute)}))
	}
}
