package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhatAPersonCannotDo: each refusal says why, and changes nothing.
func TestWhatAPersonCannotDo(t *testing.T) {
	plain := hydrated(t, workflow.Step{Subject: "Build"}, workflow.Step{Subject: "Test"})
	flow := reviewed(t)
	flow.end(1, "")
	under := nested(t)
	_, err := under.GoPast(t.Context(), Past{Step: 2, Because: "x"}, state.By{})
	require.NoError(t, err)
	past := func(l *list, p Past) func() error {
		return func() error { _, err := l.GoPast(t.Context(), p, state.By{}); return err }
	}
	reopen := func(l *list, id int64) func() error {
		return func() error { _, err := l.Reopen(t.Context(), id, "x", state.By{}); return err }
	}
	end := func(l *list, id int64) func() error {
		return func() error { _, err := l.End(t.Context(), id, "x", state.By{}); return err }
	}
	require.NoError(t, past(plain, Past{Step: 1, Done: true})())
	require.NoError(t, os.Remove(filepath.Join(plain.List.Dir, fileName(2))))
	var all []string
	for _, c := range []struct {
		list *list
		do   func() error
		is   error
	}{
		{plain, past(plain, Past{Step: 1}), errIsDone},
		{plain, past(plain, Past{Step: 2}), errNoStep},
		{plain, past(plain, Past{Step: 99}), errNoStep},
		{plain, reopen(plain, 2), errNoStep},
		{plain, reopen(plain, 99), errNoStep},
		{plain, end(plain, 99), errNoStep},
		{flow, reopen(flow, 2), errIsOpen},
		{flow, past(flow, Past{Step: 1}), errIsDone},
		{flow, past(flow, Past{Step: 3, Done: true, Outcome: "approved"}), errBlocked},
		{flow, past(flow, Past{Step: 3, Done: true, WithBlockers: true}), errNoOutcome},
		{flow, past(flow, Past{Step: 3, Done: true, WithBlockers: true, Outcome: "no"}), errNoOutcome},
		{flow, past(flow, Past{Step: 2, Values: map[string]string{"a": "b"}, Done: true}), errNoValue},
		{under, past(under, Past{Step: 11}), errIsDone},
	} {
		before, n := c.list.all(), len(c.list.state().Evidence)
		err := c.do()
		assert.ErrorIs(t, err, c.is)
		all = append(all, fmt.Sprint(err))
		assert.Equal(t, before, c.list.all())
		assert.Len(t, c.list.state().Evidence, n)
	}
	assert.Equal(t, `
#1 "Build": the step is done already
#2: not a step of a workflow in this task list: it is gone from the list
#99: not a step of a workflow in this task list
#2: not a step of a workflow in this task list: it is gone from the list
#99: not a step of a workflow in this task list
#99: not a step of a workflow in this task list
#2 "Test": the step is open
#1 "Implement": the step is done already
#3 "Review": the steps before it are open: #2 "Test"
#3 "Review": the outcome is missing or unknown: say with --outcome whether it ends as approved or changes
#3 "Review": the outcome is missing or unknown: "no"; it ends as approved, changes or disputed
#2 "Test": a value is missing or wrong: it does not set "a"
#11 "Collect": the step is done already`, "\n"+strings.Join(all, "\n"))
}

// TestWhatIsLoggedOfATree: a workflow with outcomes, and one under a step of it.
func TestWhatIsLoggedOfATree(t *testing.T) {
	l := reviewed(t)
	var all []string
	l.Log = func(r decisions.Record) {
		r.List, r.Project, r.Time, r.CheckTime, r.Spec, r.Session = "", "", time.Time{}, 0, "", ""
		text, err := json.Marshal(r, jsonx.Tolerant)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	tty := "/dev/pts/1"
	l.end(1, "")
	l.write("pass", "1")
	l.allows(2, workflow.InProgress)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2, Steps: []workflow.Step{{ID: 11, Subject: "Collect"}}})
	l.end(11, "")
	l.end(2, "")
	l.write("REVIEW.md", "BLOCKER")
	l.end(3, "changes")
	_, err := l.GoPast(t.Context(), Past{Step: 3, Done: true, Outcome: "approved", Because: "so", WithBlockers: true},
		state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty})
	require.NoError(t, err)
	_, err = l.End(t.Context(), 5, "enough", state.By{Who: state.ThePerson, How: state.ByShell, Agent: "sub"})
	require.NoError(t, err)
	assert.Equal(t, `
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"allow","why":"in order","who":"agent","how":"update","workflow":"release","run":1,"step":1,"task":1,"subject":"Implement","from":"pending","to":"completed","round":1,"steps":5,"open":4}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"allow","why":"in order","who":"agent","how":"update","workflow":"release","run":1,"step":2,"task":2,"subject":"Test","from":"pending","to":"in_progress","steps":5,"open":4}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"allow","why":"in order","who":"agent","how":"update","workflow":"notes","run":11,"parent":2,"step":11,"task":1,"subject":"Collect","from":"pending","to":"completed","round":1,"steps":1,"open":0,"finished":true}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"allow","why":"done: its check passed","who":"agent","how":"update","workflow":"release","run":1,"step":2,"task":2,"subject":"Test","from":"in_progress","to":"completed","outcome":"done","round":1,"check":"test -e pass || { echo broken; exit 1; }","exit":0,"steps":5,"open":3}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"allow","why":"changes, time 1 of 1","who":"agent","how":"update","workflow":"release","run":1,"step":3,"task":3,"subject":"Review","from":"pending","to":"pending","outcome":"changes","round":1,"reopens":[1,2,3],"steps":5,"open":5}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"override","why":"skip: so","who":"person","how":"terminal","tty":"/dev/pts/1","workflow":"release","run":1,"step":1,"task":1,"subject":"Implement","from":"pending","to":"completed","round":2}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"override","why":"skip: so","who":"person","how":"terminal","tty":"/dev/pts/1","workflow":"release","run":1,"step":2,"task":2,"subject":"Test","from":"pending","to":"completed","outcome":"skipped","round":2}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"override","why":"done: so","who":"person","how":"terminal","tty":"/dev/pts/1","workflow":"release","run":1,"step":3,"task":3,"subject":"Review","from":"pending","to":"completed","outcome":"approved","round":2,"not_needed":[4],"steps":5,"open":1}
{"time":"0001-01-01T00:00:00Z","v":0,"source":"step","decision":"override","why":"end: enough","who":"person","how":"shell","agent":"sub","workflow":"release","run":1,"step":5,"task":5,"subject":"Open the pull request","from":"pending","to":"pending","round":1,"not_needed":[5],"steps":5,"open":0}`, "\n"+strings.Join(all, "\n"))
}

// TestTheStateAfterAPerson: what a command gets is the state after the decision.
func TestTheStateAfterAPerson(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Build", Produces: []string{"out"}}, workflow.Step{Subject: "Test"})
	l.set(1, workflow.Completed)
	s, err := l.GoPast(t.Context(), Past{Step: 1, Done: true, Because: "x"}, state.By{Who: state.ThePerson})
	require.NoError(t, err)
	require.Equal(t, []int64{2}, ready(s))
	assert.True(t, s.Step(1).Done())
	e, _ := l.state().Last(1)
	assert.Equal(t, [4]string{"done: x", workflow.Completed, workflow.Completed, "s1"}, [4]string{e.Why, e.From, e.To, e.By.Session})
	s, err = l.GoPast(t.Context(), Past{Step: 2, Because: "y"}, state.By{Session: "s2"})
	require.NoError(t, err)
	e, _ = s.Last(2)
	assert.Equal(t, [4]string{"skip: y", workflow.Pending, workflow.Completed, "s2"}, [4]string{e.Why, e.From, e.To, e.By.Session})
	assert.Equal(t, workflow.Completed, l.file(2, "status"))
	assert.True(t, s.Step(2).Done())
}

// TestAPersonLeadsBack: an outcome that leads back opens the steps of its loop again.
func TestAPersonLeadsBack(t *testing.T) {
	l := reviewed(t)
	l.end(1, "")
	l.write("pass", "1")
	l.end(2, "")
	s, err := l.GoPast(t.Context(), Past{Step: 3, Done: true, Outcome: "changes", Because: "x"}, state.By{Who: state.ThePerson})
	require.NoError(t, err)
	e, _ := s.LastEver(3)
	assert.Equal(t, []any{workflow.Pending, "changes", []int64{1, 2, 3}}, []any{e.To, e.Outcome, e.Reopens})
	assert.Equal(t, []int64{1}, ready(l.state()))
	assert.Equal(t, "Implement (round 2): pending\nTest (round 2): pending\nReview (round 2 of 2): pending\nSettle it: "+
		"pending\nOpen the pull request: pending", l.shows())
}

// TestWhoStartedAStep, and which steps are done with evidence.
func TestWhoStartedAStep(t *testing.T) {
	for want, e := range map[bool]state.Evidence{true: {Step: 1, To: workflow.InProgress, Verdict: state.Allow, Agent: "a"},
		false: {Step: 1, To: workflow.Completed, Verdict: state.Ask, Agent: "a"}} {
		s := stateOf(stepLine{id: 1, status: workflow.InProgress})
		s.Evidence = []state.Evidence{e}
		assert.Equal(t, want, startedBy(s, s.Step(1), "a"))
		assert.False(t, startedBy(s, s.Step(1), "b"))
		s.Step(1).Status = workflow.Pending
		assert.False(t, startedBy(s, s.Step(1), "a"))
	}
	l := hydrated(t, workflow.Step{Status: workflow.Completed}, workflow.Step{BlockedBy: []int64{1}})
	standing, err := l.Standing(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false, false, true}, []bool{standing.Steps[0].Done, standing.Steps[1].Done, standing.Steps[0].Current,
		standing.Steps[1].Current})
}

// TestRulesThatNobodyKnows: the person is told once that the record of tasks with a mark is gone.
func TestRulesThatNobodyKnows(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(git push *)"}})
	require.NoError(t, os.RemoveAll(stateDirOf(l.Frame)))
	v := l.call(push(""))
	assert.True(t, v.Allowed())
	assert.Contains(t, v.Trouble, "it is not known which calls belong to the steps of the task list "+l.List.Dir)
	assert.Contains(t, v.Trouble, state.ErrUnrecorded.Error())
	assert.Equal(t, Verdict{}, l.call(push("")))
	require.NoError(t, os.Remove(filepath.Join(l.List.Dir, fileName(1))))
	l.Session = "s2"
	assert.Equal(t, Verdict{}, l.call(push("")), "a list without marked tasks has no rules")
}

// TestTheTimeOfAStepThatWaitsAgainDoesNotRun: a person has opened a step before it again.
func TestTheTimeOfAStepThatWaitsAgainDoesNotRun(t *testing.T) {
	l := hydrated(t, workflow.Step{Outcomes: []workflow.Outcome{{Name: "ok"}}},
		workflow.Step{BlockedBy: []int64{1}, Within: 3600, Outcomes: []workflow.Outcome{{Name: "late"}}},
		workflow.Step{BlockedBy: []int64{2}})
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	require.False(t, l.state().Step(2).Begun.IsZero())
	_, err := l.Reopen(t.Context(), 1, "the tests were missing", state.By{})
	require.NoError(t, err)
	c := l.state().Step(2)
	require.Equal(t, workflow.Pending, c.Status)
	require.True(t, c.Begun.IsZero())
	require.Equal(t, workflow.Pending, l.file(2, "status"))
	l.end(1, "ok")
	l.allows(2, workflow.InProgress)
	require.False(t, l.state().Step(2).Begun.IsZero())
	require.Equal(t, 1, l.state().Step(2).Round)
}
