package gates

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// inReview is a list whose review is next.
func inReview(t testing.TB) *list {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "fine")
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "").Allowed())
	return l
}

// says is the agent's completion of the review in a call. over has the ids of its calls that are
// over.
func (l *list) says(outcome, use string, over ...string) Verdict {
	return l.Update(l.t.Context(), Update{Task: "3", Status: workflow.Completed, Outcome: outcome, Use: use, Over: func(other string) bool {
		for _, o := range over {
			if o == other {
				return true
			}
		}
		return false
	}})
}

// lapses returns how often a decision is on record as lapsed.
func (l *list) lapses() (n int) {
	for _, e := range l.state().Evidence {
		if e.Verdict == state.Lapsed {
			n++
		}
	}
	return n
}

func TestAStandingDecisionDeniesAnotherOutcome(t *testing.T) {
	l := inReview(t)
	require.True(t, l.says("approved", "one").Allowed())
	v := l.says("changes", "two")
	assert.Contains(t, v.Reason, `#3 "Review" is being let through as approved: another update of it is on its way.`)
	require.True(t, l.says("approved", "three").Allowed(), "the same again is nothing new")
	require.Zero(t, l.lapses())

	v = l.says("changes", "four", "one", "two", "three")
	require.NotNil(t, v.Turn, "the calls are over and were not carried out: %+v", v)
	assert.Equal(t, 1, l.lapses())
	assert.Equal(t, 2, l.state().Step(3).Round)
}

func TestADecisionLapses(t *testing.T) {
	for name, pause := range map[string]func(l *list){
		"at a pause": func(l *list) { require.NoError(l.t, l.Lapse(l.t.Context(), Pause{})) },
		"at a stop": func(l *list) {
			_, _, err := l.Stop(l.t.Context(), Stopping{Mode: StopOff})
			require.NoError(l.t, err)
		},
		"at the next prompt, if its call is over": func(l *list) {
			require.NoError(l.t, l.Lapse(l.t.Context(), Pause{InFlight: func(use string) bool { return use != "one" }}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := inReview(t)
			require.True(t, l.says("approved", "one").Allowed())
			pause(l)
			pause(l)
			require.Equal(t, 1, l.lapses(), "it is recorded once")
			l.write("REVIEW.md", "BLOCKER")
			l.set(3, workflow.Completed)
			assert.Empty(t, l.state().Step(3).Outcome, "a script has completed it, and nobody has decided that")
			assert.Contains(t, l.denies(5, workflow.InProgress), `#3 "Review" was completed in another way and does not pass its gates`)
			l.write("REVIEW.md", "fine")
			l.allows(5, workflow.InProgress)
			assert.Equal(t, "approved", l.state().Step(3).Outcome)
		})
	}
}

func TestADecisionStands(t *testing.T) {
	for name, pause := range map[string]Pause{
		"another agent pauses":        {Agent: "helper"},
		"its call is still in flight": {InFlight: func(use string) bool { return use == "one" }},
	} {
		t.Run(name, func(t *testing.T) {
			l := inReview(t)
			require.True(t, l.says("approved", "one").Allowed())
			require.NoError(t, l.Lapse(t.Context(), pause))
			require.Zero(t, l.lapses())
			l.set(3, workflow.Completed)
			assert.Equal(t, "approved", l.state().Step(3).Outcome)
		})
	}
	l := inReview(t)
	require.True(t, l.says("approved", "one").Allowed())
	l.set(3, workflow.Completed)
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	require.Zero(t, l.lapses(), "it was carried out")
	l.Session = "another"
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	require.Zero(t, l.lapses(), "it is another session's")
}

// A question that nobody said yes to lapses as well: a later completion is asked about again.
// Until the agent tries again, Stop does not send it back to the step.
func TestAQuestionLapses(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Ship", Approval: "May it ship?"})
	v := l.ask(1, workflow.Completed)
	require.Equal(t, state.Ask, v.Decision)
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	require.Equal(t, 1, l.lapses())
	assert.True(t, l.state().AwaitsPerson(l.state().Step(1)))
	l.ask(1, workflow.Completed)
	e, _ := l.state().Last(1)
	assert.Equal(t, 2, e.Times, "how often it was asked is still known")
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	v = l.Completed(t.Context(), Update{Task: "1", Status: workflow.Completed})
	assert.Equal(t, state.Deny, v.Decision, "nobody was asked about this one: %+v", v)
}

// What lapses in a plain workflow has to pass its gates again, too.
func TestADecisionOfAPlainWorkflowLapses(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Test", Check: &workflow.Check{Run: "test -e pass", Timeout: 9}},
		workflow.Step{Subject: "Publish", BlockedBy: []int64{1}})
	l.write("pass", "1")
	require.True(t, l.ask(1, workflow.Completed).Allowed())
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	require.Equal(t, 1, l.lapses())
	require.NoError(t, os.Remove(filepath.Join(l.project, "pass")))
	l.set(1, workflow.Completed)
	assert.Contains(t, l.denies(2, workflow.InProgress), `#1 "Test" was completed in another way and does not pass its gates`)
}

// TestAQuestionThatNobodyCanBeAskedIsOver: where a command or the MCP server asks for approval, the
// call has ended with the refusal, and no hook may follow at which the decision lapses. The agent may
// then say that the step ends in another way.
func TestAQuestionThatNobodyCanBeAskedIsOver(t *testing.T) {
	for _, way := range []state.How{state.ByShell, state.ByMCP} {
		t.Run(string(way), func(t *testing.T) {
			l := hydrated(t, workflow.Step{Subject: "Write"}, workflow.Step{Subject: "Review", BlockedBy: []int64{1},
				Outcomes: []workflow.Outcome{{Name: "approved", Approval: "Merge it?"}, {Name: "changes", Back: 1, Max: 2}}})
			l.Apply, l.Via = true, state.By{How: way}
			ends := func(id, outcome string) Verdict {
				return l.Update(t.Context(), Update{Task: id, Status: workflow.Completed, Outcome: outcome})
			}
			require.True(t, ends("1", "").Allowed())
			require.Equal(t, state.Ask, ends("2", "approved").Decision)
			v := ends("2", "changes")
			require.True(t, v.Allowed(), v.Reason)
			assert.NotNil(t, v.Turn)
		})
	}
}

// TestTheCommandOfAnApprovalSaysTheOutcome: without it a person would be refused.
func TestTheCommandOfAnApprovalSaysTheOutcome(t *testing.T) {
	one := []workflow.Outcome{{Name: "approved", Approval: "Merge it?"}}
	for name, tt := range map[string]struct {
		outcomes []workflow.Outcome
		asked    bool
		want     string
	}{
		"several, and asked": {append(one, workflow.Outcome{Name: "changes", Back: 1, Max: 2}, workflow.Outcome{Name: "other"}), true,
			" --outcome approved"},
		"several, not asked":    {append(one, workflow.Outcome{Name: "other"}), false, " --outcome NAME"},
		"one":                   {one, true, ""},
		"one that goes forward": {append(one, workflow.Outcome{Name: "changes", Back: 1, Max: 2}), true, " --outcome approved"},
		"done can be chosen":    {append(one, workflow.Outcome{Name: "done"}), false, ""},
	} {
		l := hydrated(t, workflow.Step{Subject: "Review", Outcomes: tt.outcomes})
		if tt.asked {
			v := l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed, Outcome: "approved"})
			require.Equal(t, state.Ask, v.Decision, name)
			assert.Contains(t, v.Reason, "fsmtx step done 1"+tt.want+` --because "..."`, name)
		}
		s := l.state()
		assert.Equal(t, "fsmtx step done 1"+tt.want+` --because "..."`, DoneCommand(s, s.Step(1)), name)
		if tt.want == " --outcome NAME" {
			_, err := l.GoPast(t.Context(), Past{Step: 1, Done: true, Outcome: "nope", Because: "x"}, state.By{Who: state.ThePerson})
			assert.EqualError(t, err, `#1 "Review": the outcome is missing or unknown: "nope"; it ends as approved or other`)
		}
	}
}
