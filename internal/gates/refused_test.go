package gates

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhyACallIsRefused: in each state of the steps that list it.
func TestWhyACallIsRefused(t *testing.T) {
	only := []string{"Bash(git push *)"}
	l := hydrated(t, workflow.Step{Subject: "Review", Outcomes: []workflow.Outcome{{Name: "yes"}, {Name: "no"}}},
		workflow.Step{Subject: "Push", BlockedBy: []int64{1}, When: []workflow.Condition{{Step: 1, Outcomes: []string{"yes"}}}, Only: only},
		workflow.Step{Subject: "Again", BlockedBy: []int64{1, 2}, Only: only, Check: &workflow.Check{Run: "true", Timeout: 9}},
		workflow.Step{Subject: "End", BlockedBy: []int64{3}})
	var all []string
	refused := func() {
		v := l.call(push(""))
		e := l.state().Calls[len(l.state().Calls)-1]
		all = append(all, fmt.Sprintf("%d %s %d times %d %s: %s", v.Step, v.Decision, e.Step, e.Times, v.Why, v.Reason))
	}
	refused()
	refused()
	refused()
	l.end(1, "no")
	refused()
	own := state.Pending{Step: 3, Call: "x", PID: os.Getpid(), Start: state.StartOf(os.Getpid())}
	require.NoError(t, os.WriteFile(filepath.Join(stateDirOf(l.Frame), state.PendingFile), fmt.Appendf(nil,
		`[{"step":3,"call":"x","pid":%d,"start":%q}]`, own.PID, own.Start), 0o600))
	refused()
	require.NoError(t, os.Remove(filepath.Join(stateDirOf(l.Frame), state.PendingFile)))
	l.end(3, "")
	refused()
	assert.Equal(t, `
2 deny 2 times 0 only: git push: git push belongs to #2 "Push", which waits for #1 "Review"; and to #3 "Again", which waits for #1 "Review" and #2 "Push". Ready: #1 "Review".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1
2 deny 2 times 2 only: git push: git push belongs to #2 "Push", which waits for #1 "Review"; and to #3 "Again", which waits for #1 "Review" and #2 "Push". Ready: #1 "Review".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1
2 deny 2 times 3 only: git push: git push belongs to #2 "Push", which waits for #1 "Review"; and to #3 "Again", which waits for #1 "Review" and #2 "Push". Ready: #1 "Review".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1.
This is the same refusal for the 3rd time: stop trying, and ask the person what to do
3 deny 3 times 0 only: git push: git push belongs to #2 "Push", which is not needed this time; and to #3 "Again", which is not in progress: start it first. Ready: #3 "Again".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1
3 deny 3 times 2 only: git push: git push belongs to #2 "Push", which is not needed this time; and to #3 "Again", whose check is running. Ready: #3 "Again".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1
2 deny 2 times 4 only: git push: git push belongs to #2 "Push", which is not needed this time; and to #3 "Again", which is done. Ready: #4 "End".
A person can let one such call through, in a terminal outside the client: fsmtx step allow 'Bash(git push *)' --because "..." --session s1.
This is the same refusal for the 4th time: stop trying, and ask the person what to do`, "\n"+strings.Join(all, "\n"))

	var many []workflow.Step
	for range message.MaxNamed + 2 {
		many = append(many, workflow.Step{Only: only})
	}
	l = hydrated(t, many...)
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
	reason := l.call(push("")).Reason
	assert.Contains(t, reason, `#10 "Step 10", which is not in progress: start it first; and to 2 more.`)
	assert.Contains(t, reason, `git push belongs to #1 "Step 1", which is done; and to #2`)
}

// TestACallWaitsForItsStep as long as the step may be in progress soon.
func TestACallWaitsForItsStep(t *testing.T) {
	for name, w := range map[string]struct {
		waited time.Duration
		use    string
		status string // of the step
		state  func(*state.State)
		want   bool
	}{
		"nothing is on record yet":      {waited: grace - 1, use: "u", status: workflow.Pending, want: true},
		"nothing is on record":          {waited: grace, use: "u", status: workflow.Pending},
		"it is not a call of a message": {status: workflow.Pending},
		"its start was let through": {waited: patience, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, time.Second, 2, workflow.InProgress, state.Allow) }, want: true},
		"for too long": {waited: patience + 1, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, time.Second, 2, workflow.InProgress, state.Allow) }},
		"and never came": {waited: grace, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, patience, 2, workflow.InProgress, state.Allow) }},
		"before the clock": {waited: grace, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, -state.ClockSkew, 2, workflow.InProgress, state.Allow) }},
		"it was completed": {waited: grace, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, 0, 2, workflow.Completed, state.Allow) }},
		"it was refused": {waited: grace, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, 0, 2, workflow.InProgress, state.Deny) }},
		"a person is asked": {waited: grace, use: "u", status: workflow.Pending,
			state: func(s *state.State) { ago(s, 0, 2, workflow.InProgress, state.Ask) }},
		"it is in progress": {waited: grace, use: "u", status: workflow.InProgress,
			state: func(s *state.State) { ago(s, 0, 2, workflow.InProgress, state.Allow) }},
		"it is done": {use: "u", status: workflow.Completed, state: func(s *state.State) { s.Step(2).Outcome = machine.Done }},
		"it waits": {use: "u", status: workflow.Pending,
			state: func(s *state.State) { s.Step(1).Status, s.Step(1).Outcome = workflow.Pending, "" }},
		"it waits again": {waited: grace, use: "u", status: workflow.Pending, state: func(s *state.State) {
			s.Step(1).Status, s.Step(1).Outcome = workflow.Pending, ""
			ago(s, 0, 2, workflow.InProgress, state.Allow)
		}},
		"for one that is being completed": {use: "u", status: workflow.Pending, state: func(s *state.State) {
			s.Step(1).Status, s.Step(1).Outcome = workflow.Pending, ""
			s.Pending = []state.Pending{{Step: 1}}
		}, want: true},
	} {
		s := stateOf(stepLine{id: 1, status: workflow.Completed}, stepLine{id: 2, status: w.status, after: []int64{1}})
		s.Step(1).Outcome = machine.Done
		if w.state != nil {
			w.state(s)
		}
		c := &call{Frame: &Frame{}, update: Update{Use: w.use}, begun: s.Time.Add(-w.waited)}
		assert.Equal(t, w.want, c.mayStart(s, []owner{{s.Step(2), "Bash"}}), name)
	}
}

// TestRulesInAMessage: each once.
func TestRulesInAMessage(t *testing.T) {
	l := hydrated(t, workflow.Step{Only: []string{"Bash(a *)", "WebFetch"}}, workflow.Step{Only: []string{"Bash(a *)"}})
	_, err := l.Permit(t.Context(), "Bash(b)", "x", state.By{})
	assert.EqualError(t, err, "Bash(b): no step of this task list lists such calls. They list Bash(a *) and WebFetch")
	_, err = hydrated(t, workflow.Step{}).Permit(t.Context(), "Bash(b)", "x", state.By{})
	assert.EqualError(t, err, "Bash(b): no step of this task list lists such calls")
	l = hydrated(t, workflow.Step{Only: []string{"Write(src/**)"}}, workflow.Step{Only: []string{"Bash(a *)"}})
	_, err = l.Permit(t.Context(), "Write("+l.project+"/src/x)", "x", state.By{})
	assert.NoError(t, err, "a path of one file")
	_, err = l.Permit(t.Context(), "Write(src/*/x)", "x", state.By{})
	assert.ErrorIs(t, err, errNoRule, "it is not known whether all of them are covered")
	_, err = l.GoPast(t.Context(), Past{Step: 1, Because: "x"}, state.By{})
	require.NoError(t, err)
	_, err = l.Permit(t.Context(), "Write(src/**)", "x", state.By{})
	assert.EqualError(t, err, "Write(src/**): these calls are not refused now: the workflow is over, or the step was skipped")
	assert.Equal(t, "", RuleFault("Bash(a)"))
	assert.NotEqual(t, "", RuleFault("Bash("))
}

// TestAStepInOneSpelling: as the client's TaskUpdate finds its tasks.
func TestAStepInOneSpelling(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
	for id, want := range map[string]bool{"2": true, "02": false, "+2": false, " 2": false, "0": false, "-2": false, "x": false, "": false,
		"../2": false} {
		assert.Equal(t, want, l.Update(t.Context(), Update{Task: id, Status: workflow.InProgress}).Decision == state.Deny, id)
		task, err := state.TaggedTask(l.List.Dir, id)
		assert.NoError(t, err)
		assert.Equal(t, want, task != nil, id)
	}
}

// TestWhatIsPutRight: each thing that a program changes in a task's file, and what the person reads.
func TestWhatIsPutRight(t *testing.T) {
	const task = `{"id":"2","subject":"Test","description":"How.","status":"pending","blocks":[],"blockedBy":["1"],` +
		`"metadata":{"fsm":"release","mine":1}}`
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"subject":"Test"`, `"subject":"Rest"`, "subject"},
		{`"description":"How."`, `"description":"No."`, "description"},
		{`["1"]`, `[]`, "blockedBy"},
		{`["1"]`, `["1","3"]`, "blockedBy"},
		{`"fsm":"release"`, `"fsm":"other"`, "metadata"},
		{`"fsm":"release",`, ``, "metadata"},
		{`"mine":1`, `"mine":1,"_internal":true`, "metadata"},
		{`{"fsm":"release","mine":1}`, `[]`, "metadata"},
		{`"subject":"Test","description":"How."`, `"subject":"","description":""`, "subject and description"},
	} {
		l := hydrated(t, workflow.Step{Subject: "Build"}, workflow.Step{Subject: "Test", Description: "How.", BlockedBy: []int64{1}},
			workflow.Step{Subject: "Other"})
		l.put(2, strings.Replace(task, c.old, c.new, 1))
		trouble := message.Join(l.ask(1, workflow.InProgress).Trouble,
			l.ask(1, workflow.Completed).Trouble) // what could not be put right in time is at the next update
		want := ""
		if c.want != "" {
			want = `the task of #2 "Test" had been changed behind its workflow, and was put right: ` + c.want
		}
		assert.Equal(t, want, trouble, c.new)
		data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(2)))
		require.NoError(t, err)
		if !strings.HasPrefix(c.old, `"fsm":"release",`) && !strings.HasPrefix(c.old, `{"fsm"`) {
			assert.JSONEq(t, task, string(data), c.new)
		}
	}
	l := hydrated(t, workflow.Step{Subject: "A"}, workflow.Step{Subject: "B"})
	for id := range int64(2) {
		l.put(id+1, fmt.Sprintf(`{"id":"%d","subject":"x","description":"","status":"pending","blocks":[],"blockedBy":[],`+
			`"metadata":{"fsm":"release"}}`, id+1))
	}
	assert.Equal(t, `the task of #1 "A" had been changed behind its workflow, and was put right: subject
the task of #2 "B" had been changed behind its workflow, and was put right: subject`, l.ask(1, workflow.InProgress).Trouble)
}

// TestAnOverdueStepThatHolds is not the end of the decision: the target has to pass its own gates.
func TestAnOverdueStepThatHolds(t *testing.T) {
	l := hydrated(t, workflow.Step{Produces: []string{"a"}}, workflow.Step{Produces: []string{"b"}},
		workflow.Step{BlockedBy: []int64{1, 2}, Ready: []string{"c"}})
	l.write("a", "x")
	l.set(1, workflow.Completed)
	l.set(2, workflow.Completed)
	assert.Contains(t, l.denies(3, workflow.InProgress),
		`#2 "Step 2" was completed in another way and does not pass its gates, so no other step is `+
			`let through. #2 "Step 2" cannot be completed: it needs b`)
	l.write("b", "x")
	assert.Contains(t, l.denies(3, workflow.InProgress), `#3 "Step 3" cannot be started: it needs c`)
	l.write("c", "x")
	l.allows(3, workflow.InProgress)
}

// TestAStateThatCannotBeRead: the steps are those of the list, and that is said.
func TestAStateThatCannotBeRead(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}})
	require.NoError(t, os.RemoveAll(stateDirOf(l.Frame)))
	require.NoError(t, os.WriteFile(stateDirOf(l.Frame), nil, 0o600))
	for _, load := range []func() (*state.State, error){
		func() (*state.State, error) { return state.Load(t.Context(), l.List.Dir) },
		func() (*state.State, error) { return state.LoadNow(t.Context(), l.List.Dir) },
	} {
		s, err := load()
		require.NoError(t, err)
		require.Equal(t, []int64{1}, ready(s))
		assert.Len(t, s.Troubles, 1)
		assert.False(t, s.Interrupted)
	}
	v := l.ask(2, workflow.InProgress)
	assert.Equal(t, state.Deny, v.Decision, "%+v", v)
}

// TestACallIsRefusedWhenTheTimeIsOver: the start of its step was let through, and something else may have stopped it. The
// client ends the hook soon, so it cannot wait longer; nor can it for the lock of the list.
func TestACallIsRefusedWhenTheTimeIsOver(t *testing.T) {
	l := released(t)
	l.allows(1, workflow.InProgress)
	l.allows(1, workflow.Completed)
	require.True(t, l.ask(2, workflow.InProgress).Allowed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := l.Call(ctx, push("toolu_1"))
	assert.Equal(t, state.Deny, v.Decision, v.Trouble)
	assert.Contains(t, v.Reason, "which is not in progress: start it first")
}
