package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// If both a plugin and the settings register the hook, the client starts it twice for one
// update. The second process waits until the first one has decided, and says the same: the
// first one may be killed before it answers.
func TestTwoHooksDecideOneUpdateOnce(t *testing.T) {
	l := hydrated(t, workflow.Step{Check: &workflow.Check{Run: "echo >> runs; : > running; read -r answer < go; exit $answer", Timeout: 60}})
	for name, exit := range map[string]string{"passes": "0", "fails": "3"} {
		t.Run(name, func(t *testing.T) {
			path := func(name string) string { return filepath.Join(l.project, name) }
			for _, pipe := range []string{"running", "go"} {
				_ = os.Remove(path(pipe))
				require.NoError(t, syscall.Mkfifo(path(pipe), 0o600))
			}
			first := make(chan Verdict)
			update := Update{Task: "1", Status: workflow.Completed, Use: "toolu_" + name}
			go func() { first <- l.Update(t.Context(), update) }()
			_, err := os.ReadFile(path("running")) // until the check is running
			require.NoError(t, err)

			second, twin := make(chan Verdict), *l.Frame
			twin.Began = time.Now()
			go func() { second <- twin.Update(t.Context(), update) }()
			other := l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed, Use: "toolu_other"})
			require.Equal(t, state.Deny, other.Decision, "another update of the same step")

			before := len(l.state().Evidence)
			require.NoError(t, os.WriteFile(path("go"), []byte(exit+"\n"), 0o600))
			require.Equal(t, exit == "0", (<-first).Allowed())
			require.Equal(t, exit == "0", (<-second).Allowed(), "the same decision")
			require.Len(t, l.state().Evidence, before+1, "only the first one decides")
		})
	}
	runs, err := os.ReadFile(filepath.Join(l.project, "runs"))
	require.NoError(t, err)
	require.Equal(t, "\n\n", string(runs))
}

// A decision that goes forward and was taken before a call began is taken anew.
func TestAnEarlierDecisionIsNotThatOfTheCall(t *testing.T) {
	l := hydrated(t, workflow.Step{Produces: []string{"out"}})
	update := Update{Task: "1", Status: workflow.Completed, Use: "toolu_1"}
	require.Equal(t, state.Deny, l.Update(t.Context(), update).Decision)
	l.write("out", "text")
	require.True(t, l.Update(t.Context(), update).Allowed())
}

// An outcome that leads back, chosen or by a failing check, uses one round, and each hook sends back: at once or
// one after the other, to a step before or to itself.
func TestTwoHooksSendBackOnce(t *testing.T) {
	check := &workflow.Check{Run: "exit 1", Timeout: 20}
	for name, step := range map[string]workflow.Step{
		"to a step before":  {BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{{Name: "again", Back: 1, Max: 3}, {Name: "fine"}}},
		"to itself":         {BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{{Name: "again", Back: 2, Max: 3}, {Name: "fine"}}},
		"a failing check":   {BlockedBy: []int64{1}, Check: check, Outcomes: []workflow.Outcome{{Name: "failed", Back: 1, Max: 3}}},
		"a check of itself": {BlockedBy: []int64{1}, Check: check, Outcomes: []workflow.Outcome{{Name: "failed", Back: 2, Max: 3}}},
	} {
		for _, atOnce := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", atOnce), func(t *testing.T) {
				l := hydrated(t, workflow.Step{}, step)
				l.end(1, "")
				u := Update{Task: "2", Status: workflow.Completed, Use: "toolu_1"}
				if step.Check == nil {
					u.Metadata = []byte(`{"outcome": "again"}`)
				}
				answers := make(chan Verdict, 2)
				for range 2 {
					hook := *l.Frame
					if atOnce {
						go func() { answers <- hook.Update(t.Context(), u) }()
					} else {
						answers <- hook.Update(t.Context(), u)
					}
				}
				for range 2 {
					v := <-answers
					require.NotNil(t, v.Turn, "%+v", v)
					require.Contains(t, v.Turn.Text, ", time 1 of 3. ")
				}
				require.Equal(t, 2, l.state().Step(2).Round)
			})
		}
	}
}

// TestCallsThatStartAStepExpandItOnce: the second call has read the record before the first has expanded the step.
func TestCallsThatStartAStepExpandItOnce(t *testing.T) {
	for name, late := range map[string]string{"a start": workflow.InProgress, "a completion": workflow.Completed} {
		t.Run(name, func(t *testing.T) {
			l := ofSpec(t, migration)
			l.end(1, "")
			l.write("packages.txt", "a\nb")
			c, _ := l.Frame.begin(t.Context(), Update{Task: "2", Status: late, Use: "toolu_2"})
			l.begin(2)
			before := l.all()
			require.Equal(t, late == workflow.InProgress, c.run(t.Context()).Allowed())
			require.Equal(t, before, l.all())
		})
	}
}

// TestTheQuestionOfAnOutcomeIsAskedByBothHooks: the hook that is registered twice asks the same twice.
func TestTheQuestionOfAnOutcomeIsAskedByBothHooks(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok", Approval: "Really?"}, {Name: "no"}}})
	l.allows(1, workflow.InProgress)
	u := Update{Task: "1", Status: workflow.Completed, Metadata: []byte(`{"outcome": "ok"}`), Use: "toolu_1"}
	l.Began = time.Now() // of both processes
	one, two := l.Update(t.Context(), u), l.Update(t.Context(), u)
	require.Equal(t, state.Ask, one.Decision)
	assert.Contains(t, one.Reason, "Really?")
	assert.Equal(t, one.Reason, two.Reason)
}
