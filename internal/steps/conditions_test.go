package steps

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAnAnswerToAQuestionThatIsOutOfDate: a yes counts for the update that the person was
// asked about, and for the step as it was then.
func TestAnAnswerToAQuestionThatIsOutOfDate(t *testing.T) {
	asked := func(to string, v Decision, from string) *State {
		return stateFrom(ago(stateOf(stepLine{id: 1, status: inProgress}), 0, 1, to, v), from)
	}
	for name, c := range map[string]struct {
		s  *State
		ok bool
	}{
		"as it was":                  {asked(completed, Ask, inProgress), true},
		"nobody was asked":           {stateOf(stepLine{id: 1, status: inProgress}), false},
		"it was let through since":   {asked(completed, Allow, inProgress), false},
		"asked about another status": {asked(inProgress, Ask, inProgress), false},
		"its status is another now":  {asked(completed, Ask, pending), false},
		"another step was asked about": {stateFrom(ago(stateOf(stepLine{id: 1, status: inProgress}, stepLine{id: 2}), 0, 2, completed,
			Ask), inProgress), false},
	} {
		v := answered(c.s, c.s.Step(1), Update{Status: completed}, true, ByElicitation)
		assert.Equal(t, c.ok, v.Allowed(), "%s: %s", name, v.Why)
		if !c.ok {
			assert.Equal(t, "the question is out of date", v.Why, name)
		}
	}
}

// TestUpdatesWithoutAGate: each reason for which no gate applies is enough by itself, and
// only for this update.
func TestUpdatesWithoutAGate(t *testing.T) {
	open := func(t *testing.T) *list {
		return hydrated(t, Step{}, Step{BlockedBy: []int64{1}})
	}
	t.Run("a step that is gone", func(t *testing.T) {
		l := open(t)
		require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(2))))
		assert.True(t, l.ask(2, inProgress).Allowed())
	})
	t.Run("back to pending", func(t *testing.T) {
		l := open(t)
		l.set(2, inProgress)
		assert.True(t, l.ask(2, pending).Allowed())
		assert.False(t, l.ask(2, completed).Allowed())
	})
	t.Run("done already", func(t *testing.T) {
		l := open(t)
		l.allows(1, completed)
		l.allows(2, completed)
		l.set(1, pending)
		assert.True(t, l.ask(2, completed).Allowed())
		assert.False(t, l.ask(2, inProgress).Allowed(), "it would be open again, after a step that is not done")
	})
}

// TestAStepThatWasStartedIsNotCompletedUnseen: the decision that let it start does not count
// for its completion.
func TestAStepThatWasStartedIsNotCompletedUnseen(t *testing.T) {
	l := hydrated(t, Step{Approval: "Good?"}, Step{Check: &Check{Run: "exit 1", Timeout: 60}})
	for id := range int64(2) {
		l.allows(id+1, inProgress)
		v := l.Completed(t.Context(), Update{Task: itoa(id + 1), Status: completed})
		assert.Equal(t, Deny, v.Decision, "%+v", v)
	}
}

// TestATaskThatCannotBeRead counts as pending: so its gates apply.
func TestATaskThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":"1","status":"done"}`, `{"id":"1"}`} {
		assert.Nil(t, parseTask([]byte(text)), text)
		l := hydrated(t, Step{}, Step{BlockedBy: []int64{1}})
		l.put(1, text)
		s := l.state()
		assert.Equal(t, pending, s.Step(1).Status, text)
		assert.False(t, s.Step(1).Gone(), text)
		assert.Empty(t, s.Troubles, text)
		assert.Contains(t, l.denies(2, inProgress), "must be done first", text)
	}
	l := hydrated(t, Step{})
	path := filepath.Join(l.List.Dir, fileName(1))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	s := l.state()
	assert.Equal(t, pending, s.Step(1).Status)
	assert.Len(t, s.Troubles, 1)
}

// TestBlockersThatTheListHas: a task waits for those only.
func TestBlockersThatTheListHas(t *testing.T) {
	second := stepLine{id: 2, status: pending, after: []int64{1}}
	for want, s := range map[string]*State{
		"replaced": stateOf(second), "gone": stateOf(stepLine{id: 1}, second),
	} {
		assert.Empty(t, s.Step(2).blockers(s), want)
	}
	s := stateOf(stepLine{id: 1, status: completed}, second)
	assert.Equal(t, []string{"1"}, s.Step(2).blockers(s))
}

// TestSkippedIsNotDone: a person's "done" is not a "skip".
func TestSkippedIsNotDone(t *testing.T) {
	for why, want := range map[string]bool{skipWord + "x": true, doneWord + "x": false, "x": false} {
		s := ago(stateOf(stepLine{id: 1, status: completed}), 0, 1, completed, Override)
		s.Evidence[0].Why = why
		assert.Equal(t, want, s.skipped(1), why)
		s.Evidence[0].Verdict = Allow
		assert.False(t, s.skipped(1), why)
	}
	assert.False(t, stateOf(stepLine{id: 1}).skipped(1))
}

func TestSentence(t *testing.T) {
	for want, words := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		assert.Equal(t, want, sentence(words))
	}
}

func TestTheGateOfACheckNamesItsEnvironment(t *testing.T) {
	g := Gate{kind: checkPasses, check: &Check{Run: "make", Timeout: 60, Env: &[]string{"CI", "PATH"}}}
	assert.Equal(t, "check (at most 1m0s, with CI, PATH, no other variable): make", g.String())
	g.check.Env = nil
	assert.Equal(t, "check (at most 1m0s): make", g.String())
}

// TestLateNames: names of state files have letters only, and different ids different names.
func TestLateNames(t *testing.T) {
	assert.Equal(t, latePrefix+"abjz-x", lateName("019Z-X"))
}

// TestAnsweredAppliesAYesOnce: to the step that was asked about; a task that is not a step
// needs no answer, and without the record nothing is let through.
func TestAnsweredAppliesAYesOnce(t *testing.T) {
	l := hydrated(t, Step{Approval: "Good?"})
	answer := func(id int64) Verdict {
		return l.Answered(t.Context(), Update{Task: itoa(id), Status: completed}, true, ByElicitation)
	}
	assert.True(t, answer(99).Allowed(), "it is not a step")
	assert.False(t, answer(1).Allowed(), "nobody was asked")
	require.Equal(t, Ask, l.ask(1, completed).Decision)
	assert.True(t, answer(1).Allowed())
	assert.True(t, l.state().Step(1).Done() || l.state().aboutToBeCompleted(l.state().Step(1)))
	assert.False(t, answer(1).Allowed(), "the answer is used up")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, silent(l.Answered(ctx, Update{Task: "1", Status: completed}, true, ByElicitation)))
}
