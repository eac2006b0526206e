package gates

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestEveryDecisionIsPassedOn to Store.Log, and notes are not: who decided, about what, and how many
// steps are open then.
func TestEveryDecisionIsPassedOn(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "a", Check: &workflow.Check{Run: "true", Timeout: 9}},
		workflow.Step{Subject: "b", BlockedBy: []int64{1}}, workflow.Step{Subject: "c"})
	var all []decisions.Record
	l.Log = func(r decisions.Record) { all = append(all, r) }
	type line struct {
		decision, from, to string
		step               int64
		open               int
		finished           bool
	}
	logged := func() (lines []line) {
		for _, r := range all {
			require.Equal(t, [5]string{"release", "/skills/release/fsm.json", l.project, "s1", l.List.Dir},
				[5]string{r.Workflow, r.Spec, r.Project, r.Session, r.List})
			require.Equal(t, []int64{1, r.Step}, []int64{r.Run, r.Task})
			require.Equal(t, 3, r.Steps)
			lines = append(lines, line{r.Decision, r.From, r.To, r.Step, *r.Open, r.Finished})
		}
		all = nil
		return lines
	}
	l.denies(2, workflow.InProgress)
	require.Equal(t, []line{{"deny", "pending", "in_progress", 2, 3, false}}, logged())
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
	check := all[len(all)-1]
	require.Equal(t, "true", check.Check)
	require.Equal(t, 0, *check.Exit)
	require.Equal(t, []line{{"allow", "pending", "in_progress", 1, 3, false}, {"allow", "in_progress", "completed", 1, 2, false}}, logged())
	_, err := l.GoPast(t.Context(), Past{Step: 2, Because: "it is done"}, state.By{Who: state.ThePerson, How: state.AtTerminal})
	require.NoError(t, err)
	require.Equal(t, [2]string{string(state.ThePerson), string(state.AtTerminal)}, [2]string{all[0].Who, all[0].How})
	require.Equal(t, []line{{"override", "pending", "completed", 2, 1, false}}, logged())

	_, _, err = l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	require.Equal(t, []line{{"sent back", "", "", 3, 1, false}}, logged())
	_, _, err = l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	require.Equal(t, []line{{"left", "", "", 3, 1, false}}, logged())
	_, _, err = l.Stop(t.Context(), Stopping{Mode: Remind, Agent: "sub"})
	require.NoError(t, err)
	require.Empty(t, logged(), "a subagent leaves nothing open")

	l.allows(3, workflow.InProgress)
	l.allows(3, workflow.Completed)
	lines := logged()
	require.Equal(t, line{"allow", "in_progress", "completed", 3, 0, true}, lines[len(lines)-1])

	read, troubles, err := state.Decided(l.List.Dir)
	require.NoError(t, err)
	require.Empty(t, troubles)
	var kept []string
	for _, r := range read {
		require.Equal(t, l.List.Dir, r.List)
		kept = append(kept, r.Decision+" "+r.Subject+" "+r.To)
	}
	require.Equal(t, []string{"deny b in_progress", "allow a in_progress", "allow a completed", "override b completed",
		"allow c in_progress", "allow c completed"}, kept)
	none, troubles, err := state.Decided(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, troubles)
	require.Empty(t, none)
}

// TestWhatDecisionsAreAbout: subjects have the values of their time, also in the copies of a step, and what
// another program completed is a decision, too.
func TestWhatDecisionsAreAbout(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "vars": {"goal": "g"}, "steps": [
 {"id": 1, "subject": "Name {goal} {round}", "set": {"v": "^.$"}, "outcomes": {"again": {"back": 1, "max": 1}, "ok": {}}},
 {"id": 2, "subject": "Do {v}", "blockedBy": [1], "each": {"lines": "lines"}, "do": [{"id": 1, "subject": "{item} of {v}, {goal}"}]}]}`)
	l.write("lines", "a\n")
	require.NotNil(t, l.end(1, "again").Turn)
	l.gives(1, `{"outcome":"ok","v":"x"}`)
	l.begin(2)
	l.set(3, workflow.Completed)
	l.seen()
	read, troubles, err := state.Decided(l.List.Dir)
	require.NoError(t, err)
	require.Empty(t, troubles)
	var kept []string
	for _, r := range read {
		kept = append(kept, r.Decision+" "+r.Subject+": "+r.Why)
	}
	require.Equal(t, []string{"allow Name g 1: again, time 1 of 1", "allow Name g 2: ok: in order", "expand Do x: 1 item",
		"allow Do x: in order", "done a of x, g: seen: it was completed in another way"}, kept)
}
