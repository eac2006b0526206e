package state

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestBlockersThatTheListHas: a task waits for those only.
func TestBlockersThatTheListHas(t *testing.T) {
	second := stepLine{id: 2, status: workflow.Pending, after: []int64{1}}
	for want, s := range map[string]*State{
		"replaced": stateOf(second), "gone": stateOf(stepLine{id: 1}, second),
	} {
		assert.Empty(t, s.Step(2).blockers(s), want)
	}
	s := stateOf(stepLine{id: 1, status: workflow.Completed}, second)
	assert.Equal(t, []string{"1"}, s.Step(2).blockers(s))
}

// TestSkippedIsNotDone: a person's "done" is not a "skip".
func TestSkippedIsNotDone(t *testing.T) {
	for why, want := range map[string]bool{SkipWord + "x": true, DoneWord + "x": false, "x": false} {
		s := ago(stateOf(stepLine{id: 1, status: workflow.Completed}), 0, 1, workflow.Completed, Override)
		s.Evidence[0].Why = why
		assert.Equal(t, want, s.skipped(1), why)
		s.Evidence[0].Verdict = Allow
		assert.False(t, s.skipped(1), why)
	}
	assert.False(t, stateOf(stepLine{id: 1}).skipped(1))
}

// TestLateNames: names of state files have letters only, and different ids different names.
func TestLateNames(t *testing.T) {
	assert.Equal(t, LatePrefix+"abjz-x", lateName("019Z-X"))
}

// TestBegins: a start that was let through counts for the time limit, in its round.
func TestBegins(t *testing.T) {
	for _, c := range []struct {
		e    Evidence
		want bool
	}{
		{Evidence{Verdict: Allow, To: workflow.InProgress, Round: 1}, true},
		{Evidence{Verdict: Deny, To: workflow.InProgress, Round: 1}, false},
		{Evidence{Verdict: Allow, To: workflow.Completed, Round: 1}, false},
		{Evidence{Verdict: Allow, To: workflow.InProgress}, false},
	} {
		assert.Equal(t, c.want, c.e.begins(), "%+v", c.e)
	}
}

// TestATextThatIsNoTask has no status that counts.
func TestATextThatIsNoTask(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":"1","status":"done"}`, `{"id":"1"}`} {
		assert.Nil(t, parseTask([]byte(text)), text)
	}
}
