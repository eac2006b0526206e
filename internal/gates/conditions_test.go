package gates

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestAnAnswerToAQuestionThatIsOutOfDate: a yes counts for the update that the person was
// asked about, and for the step as it was then.
func TestAnAnswerToAQuestionThatIsOutOfDate(t *testing.T) {
	asked := func(to string, v state.Decision, from string) *state.State {
		return stateFrom(ago(stateOf(stepLine{id: 1, status: workflow.InProgress}), 0, 1, to, v), from)
	}
	for name, c := range map[string]struct {
		s  *state.State
		ok bool
	}{
		"as it was":                  {asked(workflow.Completed, state.Ask, workflow.InProgress), true},
		"nobody was asked":           {stateOf(stepLine{id: 1, status: workflow.InProgress}), false},
		"it was let through since":   {asked(workflow.Completed, state.Allow, workflow.InProgress), false},
		"asked about another status": {asked(workflow.InProgress, state.Ask, workflow.InProgress), false},
		"its status is another now":  {asked(workflow.Completed, state.Ask, workflow.Pending), false},
		"another step was asked about": {stateFrom(ago(stateOf(stepLine{id: 1, status: workflow.InProgress}, stepLine{id: 2}), 0, 2,
			workflow.Completed,
			state.Ask), workflow.InProgress), false},
	} {
		v := answered(c.s, c.s.Step(1), Update{Status: workflow.Completed}, true, state.ByElicitation)
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
		return hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
	}
	t.Run("a step that is gone", func(t *testing.T) {
		l := open(t)
		require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(2))))
		assert.True(t, l.ask(2, workflow.InProgress).Allowed())
	})
	t.Run("back to pending", func(t *testing.T) {
		l := open(t)
		l.set(2, workflow.InProgress)
		assert.True(t, l.ask(2, workflow.Pending).Allowed())
		assert.False(t, l.ask(2, workflow.Completed).Allowed())
	})
	t.Run("done already", func(t *testing.T) {
		l := open(t)
		l.allows(1, workflow.Completed)
		l.allows(2, workflow.Completed)
		l.set(1, workflow.Pending)
		assert.True(t, l.ask(2, workflow.Completed).Allowed())
		assert.False(t, l.ask(2, workflow.InProgress).Allowed(), "it would be open again, after a step that is not done")
	})
}

// TestAStepThatWasStartedIsNotCompletedUnseen: the decision that let it start does not count
// for its completion.
func TestAStepThatWasStartedIsNotCompletedUnseen(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Good?"}, workflow.Step{Check: &workflow.Check{Run: "exit 1", Timeout: 60}})
	for id := range int64(2) {
		l.allows(id+1, workflow.InProgress)
		v := l.Completed(t.Context(), Update{Task: message.Itoa(id + 1), Status: workflow.Completed})
		assert.Equal(t, state.Deny, v.Decision, "%+v", v)
	}
}

// TestATaskThatCannotBeRead counts as pending: so its gates apply.
func TestATaskThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "{", `{"id":"1","status":"done"}`, `{"id":"1"}`} {
		l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
		l.put(1, text)
		s := l.state()
		assert.Equal(t, workflow.Pending, s.Step(1).Status, text)
		assert.False(t, s.Step(1).Gone(), text)
		assert.Empty(t, s.Troubles, text)
		assert.Contains(t, l.denies(2, workflow.InProgress), "must be done first", text)
	}
	l := hydrated(t, workflow.Step{})
	path := filepath.Join(l.List.Dir, fileName(1))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	s := l.state()
	assert.Equal(t, workflow.Pending, s.Step(1).Status)
	assert.Len(t, s.Troubles, 1)
}

func TestSentence(t *testing.T) {
	for want, words := range map[string][]string{
		"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"},
	} {
		assert.Equal(t, want, message.Sentence(words))
	}
}

func TestTheGateOfACheckNamesItsEnvironment(t *testing.T) {
	g := workflow.Gate{Kind: workflow.CheckPasses, Check: &workflow.Check{Run: "make", Timeout: 60, Env: &[]string{"CI", "PATH"}}}
	assert.Equal(t, "check (at most 1m0s, with CI, PATH, no other variable): make", g.String())
	g.Check.Env = nil
	assert.Equal(t, "check (at most 1m0s): make", g.String())
}

// TestAnsweredAppliesAYesOnce: to the step that was asked about; a task that is not a step
// needs no answer, and without the record nothing is let through.
func TestAnsweredAppliesAYesOnce(t *testing.T) {
	l := hydrated(t, workflow.Step{Approval: "Good?"})
	answer := func(id int64) Verdict {
		return l.Answered(t.Context(), Update{Task: message.Itoa(id), Status: workflow.Completed}, true, state.ByElicitation)
	}
	assert.True(t, answer(99).Allowed(), "it is not a step")
	assert.False(t, answer(1).Allowed(), "nobody was asked")
	require.Equal(t, state.Ask, l.ask(1, workflow.Completed).Decision)
	assert.True(t, answer(1).Allowed())
	all := l.state().Evidence
	assert.Equal(t, state.Allow, all[len(all)-1].Verdict)
	assert.False(t, answer(1).Allowed(), "the answer is used up")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, silent(l.Answered(ctx, Update{Task: "1", Status: workflow.Completed}, true, state.ByElicitation)))
}
