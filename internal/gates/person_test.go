package gates

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/shell"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhatAPersonCannotDo: each refusal says why, and changes nothing.
func TestWhatAPersonCannotDo(t *testing.T) {
	plain := hydrated(t, `{"subject": "Build"}`, `{"subject": "Test"}`)
	flow, under := reviewed(t), nested(t)
	flow.ended(1)
	under.skip(2)
	spent := hydrated(t, `{"subject": "Review", "outcomes": {"fine": {}, "changes": {"back": 1, "max": 1}}}`)
	spent.past(Past{Step: 1, Done: true, Outcome: "changes"})
	spent.seen()
	past := func(l *list, p Past) error { _, err := l.GoPast(t.Context(), p, state.By{}); return err }
	reopen := func(l *list, p Past) error { _, err := l.Reopen(t.Context(), p.Step, "x", state.By{}); return err }
	end := func(l *list, p Past) error { _, err := l.End(t.Context(), p.Step, "x", state.By{}); return err }
	plain.past(Past{Step: 1, Done: true})
	plain.remove(2)
	for _, c := range []struct {
		do   func(*list, Past) error
		l    *list
		past Past
		is   error
		says string
	}{
		{past, plain, Past{Step: 1}, errEnded, `#1 "Build": the step is not open: it is done`},
		{past, plain, Past{Step: 2}, errGone, `#2 "Test": its task is gone from the list, and nothing waits for it`},
		{past, plain, Past{Step: 99}, errNoStep, `#99: not a step of a workflow in this task list`},
		{reopen, plain, Past{Step: 2}, errGone, `#2 "Test": its task is gone from the list, and nothing waits for it`},
		{reopen, plain, Past{Step: 99}, errNoStep, `#99: not a step of a workflow in this task list`},
		{end, plain, Past{Step: 99}, errNoStep, `#99: not a step of a workflow in this task list`},
		{reopen, flow, Past{Step: 2}, errIsOpen, `#2 "Test": the step is open`},
		{past, flow, Past{Step: 1}, errEnded, `#1 "Implement": the step is not open: it is done`},
		{past, flow, Past{Step: 3, Done: true, Outcome: "approved"}, errBlocked, `#3 "Review": the steps before it are open: #2 "Test"`},
		{past, flow, Past{Step: 3, Done: true, WithBlockers: true}, ErrNoOutcome,
			`#3 "Review": the outcome is missing or unknown: say with --outcome whether it ends as approved or changes`},
		{past, flow, Past{Step: 3, Done: true, WithBlockers: true, Outcome: "no"}, ErrNoOutcome,
			`#3 "Review": the outcome is missing or unknown: "no"; it ends as approved, changes or disputed`},
		{past, flow, Past{Step: 2, Values: map[string]string{"a": "b"}, Done: true}, errNoValue,
			`#2 "Test": a value is missing or wrong: it does not set "a"`},
		{past, under, Past{Step: 11}, errEnded, `#11 "Collect": the step is not open: it is not needed: #2 was skipped`},
		{past, spent, Past{Step: 1, Done: true, Outcome: "changes"}, errSpent,
			`#1 "Review": changes: the outcome has led back as often as it may (once)`},
	} {
		before, n := c.l.all(), len(c.l.state().Evidence)
		err := c.do(c.l, c.past)
		assert.ErrorIs(t, err, c.is)
		assert.EqualError(t, err, c.says)
		assert.Equal(t, before, c.l.all())
		assert.Len(t, c.l.state().Evidence, n)
	}
}

// TestTheOnlyWorkflowThatIsOpen is ended without a number of a step.
func TestTheOnlyWorkflowThatIsOpen(t *testing.T) {
	l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Test"}`)
	only := func() string {
		step, err := OnlyOpen(l.state())
		if err != nil {
			return fmt.Sprint(err, "; ", message.Hint(err))
		}
		return fmt.Sprint(step)
	}
	l.ended(1)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2}, `{"id": 11}`)
	assert.Equal(t, "1", only(), "by any of its steps")
	l.nest(workflow.Workflow{Command: "ship"}, `{"id": 21, "subject": "Ship"}`)
	list := shell.Join(l.state().ListName())
	assert.Equal(t, `several workflows are open: #1 "Build" of release, #21 "Ship" of ship; fsmtx step end 1 --because "..." --list `+list+
		` ends release; fsmtx step end 21 --because "..." --list `+list+" ends ship", only())
	l.ended(21, 11, 2)
	assert.Equal(t, "no workflow is open in this task list; fsmtx status lists the steps", only())
	_, err := OnlyOpen(&state.State{Departed: state.Departed{First: map[string]string{"1": "it goes on in the task list s2"}}})
	assert.EqualError(t, err, "no workflow is open in this task list: it goes on in the task list s2")
	assert.Equal(t, "name that list: fsmtx status --all shows them", message.Hint(err))
}

// TestApprove: a person's yes or choice in a terminal, for which the other gates of the step have to hold. What it is not is for GoPast.
func TestApprove(t *testing.T) {
	tty := "/dev/pts/1"
	terminal := state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty}
	for _, c := range []struct {
		step string
		past Past
		by   state.By
		want string // what is done, or why not
	}{
		{`{"approval": "Good?"}`, Past{}, terminal, "allow as done by person"},
		{`{"approval": "Good?"}`, Past{}, state.By{Who: state.ThePerson, How: state.ByShell}, "false"},
		{`{"approval": "Good?"}`, Past{}, state.By{Who: state.TheAgent, How: state.AtTerminal, TTY: &tty}, "false"},
		{`{"approval": "Good?", "check": "exit 1"}`, Past{}, terminal, "false check failed: exit status 1"},
		{`{"approval": "Good?", "set": {"v": ".*"}}`, Past{Values: map[string]string{"v": "1"}}, terminal, "allow as done by person"},
		{`{"approval": "Good?", "set": {"v": ".*"}}`, Past{}, terminal, "false values: it has to give v, which matches .*"},
		{`{"decides": "person", "outcomes": ["a", "b"]}`, Past{Outcome: "b"}, terminal, "allow as b by person"},
		{`{"decides": "person", "outcomes": ["a", "b"]}`, Past{Outcome: "c"}, terminal, "false"},
		{`{"decides": "person", "outcomes": ["a", "b"]}`, Past{}, terminal, "false"},
		{`{"outcomes": {"a": {"approval": "Good?"}, "b": {}}}`, Past{Outcome: "a"}, terminal, "allow as a by person"},
		{`{"outcomes": {"a": {"approval": "Good?"}, "b": {}}}`, Past{Outcome: "b"}, terminal, "false"},
		{`{}`, Past{}, terminal, "false"},
	} {
		l := hydrated(t, c.step)
		c.past.Step, c.past.Done, c.past.Because = 1, true, "so"
		done, why, err := l.Approve(t.Context(), c.past, "", c.by)
		require.NoError(t, err)
		got := strings.TrimSpace(fmt.Sprint(done, " ", why))
		if done {
			e := l.lastLine()
			got = fmt.Sprint(e.Verdict, " as ", l.state().Step(1).Outcome, " by ", e.By.Who)
		}
		assert.Equal(t, c.want, got, "%s %+v", c.step, c.past)
	}
	l := hydrated(t, `{"approval": "Good?"}`, `{"blockedBy": [1], "approval": "Good?"}`)
	for _, p := range []Past{{Step: 1, Because: "so"}, {Step: 2, Done: true, Because: "so"}} {
		done, why, err := l.Approve(t.Context(), p, "", terminal)
		assert.Equal(t, []any{false, "", nil}, []any{done, why, err})
	}
}

// logger is a log that calls a function.
type logger func(decisions.Record)

func (l logger) Add(r decisions.Record) { l(r) }

// TestWhatIsLogged: each decision of a workflow with outcomes, and of one under a step of it: who decided, about what, and how many
// steps are open then.
func TestWhatIsLogged(t *testing.T) {
	l := reviewed(t)
	var all []string
	l.Log = logger(func(r decisions.Record) {
		require.Equal(t, []string{l.List.Dir, l.project, "s1"}, []string{r.List, r.Project, r.Session})
		r.List, r.Project, r.Session, r.Time, r.CheckTime = "", "", "", time.Time{}, 0
		text, err := json.Marshal(r, jsonx.Tolerant)
		require.NoError(t, err)
		all = append(all, string(text))
	})
	tty := "/dev/pts/1"
	l.denies(2, inProgress)
	for _, agent := range []string{"", "", "sub"} { // sent back, then left; a subagent leaves nothing open
		l.stops(Stopping{Mode: Remind, Agent: agent})
	}
	l.end(1, "")
	l.write("pass", "1")
	l.begin(2)
	l.nest(workflow.Workflow{Command: "notes", Parent: 2}, `{"id": 11, "subject": "Collect"}`)
	l.ended(11, 2)
	l.write("REVIEW.md", "BLOCKER")
	l.end(3, "changes")
	_, err := l.GoPast(t.Context(), Past{Step: 3, Done: true, Outcome: "approved", Because: "so", WithBlockers: true},
		state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty})
	require.NoError(t, err)
	l.nest(workflow.Workflow{Command: "ship"}, `{"id": 21}`)
	l.nest(workflow.Workflow{Command: "plan"}, `{"id": 31}`)
	l.nest(workflow.Workflow{Command: "tell"}, `{"id": 41}`)
	l.nest(workflow.Workflow{Command: "notes", Parent: 41}, `{"id": 51}`)
	l.ended(31)
	l.stops(Stopping{Mode: StopOff}) // two workflows have open steps, and what is under a step is a part of one
	_, err = l.End(t.Context(), 5, "enough", state.By{Who: state.ThePerson, How: state.ByShell, Agent: "sub"})
	require.NoError(t, err)
	golden(t, "log.jsonl", strings.Join(all, "\n")+"\n")
}

// TestTheStateAfterAPerson: what a command gets is the state after the decision, on record in the session that is named or that of
// the list. An outcome that leads back opens the steps of its loop again.
func TestTheStateAfterAPerson(t *testing.T) {
	l := hydrated(t, `{"subject": "Build", "produces": ["out"]}`, `{"subject": "Test"}`)
	l.set(1, completed)
	s := l.past(Past{Step: 1, Done: true})
	require.Equal(t, ids(2), ready(s))
	assert.True(t, s.Step(1).Done())
	e, _ := l.state().Last(1)
	assert.Equal(t, [4]string{"x", completed, completed, "s1"}, [4]string{e.Why, e.From, e.To, e.By.Session})
	s, err := l.GoPast(t.Context(), Past{Step: 2, Because: "y"}, state.By{Session: "s2"})
	require.NoError(t, err)
	e, _ = s.Last(2)
	assert.Equal(t, [4]string{"y", pending, completed, "s2"}, [4]string{e.Why, e.From, e.To, e.By.Session})
	assert.Equal(t, completed, l.file(2, "status"))
	assert.True(t, s.Step(2).Done())

	l = reviewed(t)
	l.write("pass", "1")
	l.ended(1, 2)
	e, _ = l.past(Past{Step: 3, Done: true, Outcome: "changes"}).LastEver(3)
	assert.Equal(t, []any{pending, "changes", ids(1, 2, 3)}, []any{e.To, e.Outcome, e.Reopens})
	assert.Equal(t, ids(1), ready(l.state()))
	assert.Equal(t, "Implement (round 2): pending\nTest (round 2): pending\nReview (round 2 of 2): pending\nSettle it: "+
		"pending\nOpen the pull request: pending", l.shows())
}

// TestWhoStartedAStep is the subagent whose start was let through, as long as the step is in progress.
func TestWhoStartedAStep(t *testing.T) {
	s := startedIn(stateOf(stepLine{id: 1, status: pending}), "a", 1)
	assert.Equal(t, []bool{true, false}, []bool{startedBy(s, s.Step(1), "a"), startedBy(s, s.Step(1), "b")})
	s.Step(1).Status = pending
	assert.False(t, startedBy(s, s.Step(1), "a"))
	s = startedIn(stateOf(stepLine{id: 1, status: pending}), "a", 1)
	s.Evidence[0].To, s.Evidence[0].Verdict = completed, state.Ask
	assert.False(t, startedBy(s, s.Step(1), "a"))
}

// TestRulesThatNobodyKnows: the person is told once that the record of tasks with a mark is gone.
func TestRulesThatNobodyKnows(t *testing.T) {
	l := hydrated(t, `{"only": ["Bash(git push *)"]}`)
	require.NoError(t, os.RemoveAll(state.StateDir(l.List.Dir)))
	v := l.call(push(""))
	assert.True(t, v.Allowed())
	assert.Contains(t, v.Trouble, "it is not known which calls belong to the steps of the task list "+l.Name())
	assert.Contains(t, v.Trouble, state.ErrUnrecorded.Error())
	assert.Equal(t, Verdict{}, l.call(push("")))
	l.remove(1)
	l.Session = "s2"
	assert.Equal(t, Verdict{}, l.call(push("")), "a list without marked tasks has no rules")
}

// TestTheTimeOfAStepThatWaitsAgainDoesNotRun: a person has opened a step before it again.
func TestTheTimeOfAStepThatWaitsAgainDoesNotRun(t *testing.T) {
	l := hydrated(t, `{"outcomes": ["ok"]}`, `{"blockedBy": [1], "within": 3600, "outcomes": ["late"]}`,
		`{"blockedBy": [2]}`)
	l.end(1, "ok")
	l.begin(2)
	require.False(t, l.state().Step(2).Begun.IsZero())
	l.reopen(1)
	c := l.state().Step(2)
	require.Equal(t, pending, c.Status)
	require.True(t, c.Begun.IsZero())
	require.Equal(t, pending, l.file(2, "status"))
	l.end(1, "ok")
	l.begin(2)
	require.False(t, l.state().Step(2).Begun.IsZero())
	require.Equal(t, 1, l.state().Step(2).Round)
}

// TestWhoIsSentBack: only the session that called the skill, by its record or its transcript.
func TestWhoIsSentBack(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	x := Stopping{Mode: Remind}
	sent := func(session string, x Stopping) bool {
		other := l.beside()
		other.Session = session
		agent, person := other.stops(x)
		require.Equal(t, agent == "", person == "")
		return agent != ""
	}
	require.False(t, sent("stranger", x))
	require.True(t, sent("s1", x), "the stranger did not use up the reminder")
	require.False(t, sent("s1", x), "once for each stall")
	called := Stopping{Mode: Remind, Transcript: filepath.Join(t.TempDir(), "t.jsonl")}
	require.NoError(t, os.WriteFile(called.Transcript,
		[]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Skill","id":"1",`+
			`"input":{"skill":"release"}}]}}`), 0o600))
	require.True(t, sent("second", called), "it called the skill, whose steps were in the list already")
	require.False(t, sent("second", called))

	l.begin(1)
	require.False(t, sent("stranger", x))
	require.True(t, sent("s1", x), "progress")
}

// TestThePersonEndsATurn: by their word, by a limit to the work, and with Remind by being
// asked.
func TestThePersonEndsATurn(t *testing.T) {
	const prompt = `{"type":"user","promptId":"p","message":{"content":%q}}`
	said := func(text string) []string { return []string{fmt.Sprintf(prompt, text)} }
	asked := `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"AskUserQuestion","id":"1","input":{}}]}}`
	for name, c := range map[string]struct {
		lines        []string
		message      string
		remind, hold bool // is sent back
	}{
		"a request":                        {said("make the release"), "Done.", true, true},
		"stop":                             {said("Thanks, that's enough for today, please stop here."), "Done.", false, false},
		"stop the server":                  {said("stop the server"), "Done.", true, true},
		"abort the workflow by its name":   {said("abort the release"), "Done.", false, false},
		"a prompt that is not written yet": {[]string{`{"type":"user","promptId":"o","message":{"content":"go"}}`}, "Done.", false, false},
		"a question":                       {said("make the release"), "It is built.\nShall I publish it?", false, true},
		"a question of the client":         {append(said("make the release"), asked), "I will wait.", true, false},
		"a question before other work": {append(said("make the release"), asked,
			`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"2","input":{}}]}}`), "Done.", true, true},
		"a part that is done":        {said("make the release, but only step 1"), "Done.", false, false},
		"a part that is not done":    {said("make the release, but only steps 1 and 3"), "Done.", true, true},
		"a part, and a later answer": {append(said("only step 1 please"), said("blue")...), "Done.", false, false},
		"a part, and then the rest":  {append(said("only step 1 please"), said("ok, go on")...), "Done.", true, true},
		"a part in a command": {said("<command-message>release</command-message>\n<command-name>/release</command-name>\n" +
			"<command-args>only " +
			"step 1</command-args>"),
			"Done.", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"blockedBy": [2]}`)
			l.allows(1, completed)
			x := Stopping{Message: c.message, Prompt: "p", Transcript: filepath.Join(t.TempDir(), "t.jsonl")}
			require.NoError(t, os.WriteFile(x.Transcript, []byte(strings.Join(c.lines, "\n")), 0o600))
			for mode, want := range map[StopMode]bool{Hold: c.hold, Remind: c.remind} {
				require.NoError(t, l.changeReminders(t.Context(), l.reminder(x), reminder{}.String()))
				x.Mode = mode
				agent, _ := l.stops(x)
				require.Equal(t, want, agent != "", "%s: %s", mode, agent)
			}
		})
	}
}

// TestAStopIsHeardOnce: in the turns that follow there is no reminder either, until the work
// goes on.
func TestAStopIsHeardOnce(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	x := Stopping{Mode: Remind, Transcript: filepath.Join(t.TempDir(), "t.jsonl")}
	turn := func(text string) string {
		require.NoError(t, os.WriteFile(x.Transcript, []byte(fmt.Sprintf(`{"type":"user","message":{"content":%q}}`, text)), 0o600))
		agent, _ := l.stops(x)
		return agent
	}
	require.Empty(t, turn("please stop"))
	require.Empty(t, turn("what does a.go do?"))
	l.begin(1)
	require.NotEmpty(t, turn("what does b.go do?"))
	l.begin(2)
	x.Words = func() client.Words { return client.Words{Stop: []string{"basta"}} }
	require.Empty(t, turn("basta"))
}

// TestWhatAStopLeftOut stays without a reason of the step that it is under.
func TestWhatAStopLeftOut(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Review", "do": [
		{"id": 1, "subject": "Read",
			"outcomes": {"ok": {}, "enough": {"stop": true}}}, {"id": 2, "subject": "Thank", "blockedBy": [1]}]}]}`)
	require.True(t, l.end(2, "enough").Allowed())
	l.seen()
	before := l.all()
	require.Contains(t, before, "Thank (not needed): completed")
	require.True(t, l.end(1, "").Allowed())
	l.seen()
	require.Equal(t, strings.Replace(before, "1 Review: pending", "1 Review: completed", 1), l.all())
}

// TestStanding: which steps of the session are done with evidence, and which one is being worked on.
func TestStanding(t *testing.T) {
	l := hydrated(t, `{"subject": "a"}`, `{"subject": "b"}`, `{"subject": "c", "blockedBy": [2]}`,
		`{"subject": "d", "status": "completed"}`,
		`{"subject": "e", "blockedBy": [6]}`, `{"subject": "f"}`)
	// stands has a word for each step: done, now, or neither.
	stands := func(sentBack bool, words string) {
		t.Helper()
		got, err := l.TurnEnd(t.Context())
		require.NoError(t, err)
		want := TurnEnd{SentBack: sentBack}
		for i, word := range strings.Fields(words) {
			want.Steps = append(want.Steps, StepAtTurnEnd{Command: "release", Subject: string(rune('a' + i)),
				Done: word == "done", Current: word == "now"})
		}
		require.Equal(t, want, got)
	}
	stands(false, "now - - done - -")
	l.begin(2)
	stands(false, "- now - done - -")
	l.stops(Stopping{Mode: Remind})
	stands(true, "- now - done - -")
	l.allows(2, completed)
	stands(false, "now done - done - -")
	l.begin(1)
	l.set(1, completed)
	l.remove(3)
	stands(false, "- done - done - now") // the first that waits for none
	l.skip(6)
	stands(false, "done done - done now done") // a person said so; the first was looked at then
	l.Session = "another"
	stands(false, "")
	none, err := newList(t).TurnEnd(t.Context())
	require.NoError(t, err)
	require.Zero(t, none)
}

// TestStandingOfStepsThatAreNotNeeded: what is on record shows it.
func TestStandingOfStepsThatAreNotNeeded(t *testing.T) {
	l := hydrated(t, `{"decides": {"run": "echo minor"}, "outcomes": ["major", "minor"]}`,
		`{"blockedBy": [1], "when": {"1": "major"}}`, `{"blockedBy": [1]}`)
	l.begin(1)
	l.allows(1, completed)
	got, err := l.TurnEnd(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bool{true, true, false}, []bool{got.Steps[0].Done, got.Steps[1].Done, got.Steps[2].Done})
}

// TestRefusalIsTheLatestThatIsNotPast: of updates and calls alike.
func TestRefusalIsTheLatestThatIsNotPast(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(1700000000+second), 0).UTC() }
	deny := func(second int, step int64) state.Evidence {
		return state.Evidence{Time: at(second), Step: step, From: pending, To: inProgress, Verdict: state.Deny}
	}
	l := hydrated(t, `{}`, `{}`, `{"status": "completed"}`)
	for name, c := range map[string]struct {
		evidence, calls []state.Evidence
		want            int // its second, -1 if there is none
	}{
		"none":                      {nil, nil, -1},
		"one":                       {[]state.Evidence{deny(1, 1)}, nil, 1},
		"the later of two":          {[]state.Evidence{deny(1, 1), deny(2, 2)}, nil, 2},
		"a call":                    {[]state.Evidence{deny(1, 1)}, []state.Evidence{deny(3, 2)}, 3},
		"an earlier call":           {[]state.Evidence{deny(4, 1)}, []state.Evidence{deny(3, 2)}, 4},
		"of a step that is done":    {[]state.Evidence{deny(1, 3)}, nil, -1},
		"of a step that is unknown": {[]state.Evidence{deny(1, 7)}, nil, -1},
		"something was allowed since": {
			[]state.Evidence{deny(1, 1), {Time: at(2), Step: 2, To: inProgress, Verdict: state.Allow}}, nil, -1},
		"something was allowed before": {
			[]state.Evidence{{Time: at(0), Step: 2, To: inProgress, Verdict: state.Allow}, deny(1, 1)}, nil, 1},
	} {
		s := l.state()
		s.Evidence, s.Calls = c.evidence, c.calls
		e, ok := s.Refusal()
		require.Equal(t, c.want >= 0, ok, name)
		if ok {
			require.Equal(t, at(c.want), e.Time, name)
		}
	}
}

// TestWhatIsHeardOfASession: the last prompt says whether to stop, and a limit holds until the
// person asks to go on.
func TestWhatIsHeardOfASession(t *testing.T) {
	l := hydrated(t, `{}`, `{}`, `{}`)
	var h state.Heard
	for _, c := range []struct {
		prompt string
		ends   bool
		limit  string
	}{
		{"make the release", false, ""},
		{"only step 1 please", false, "only step 1 please"},
		{"blue", false, "only step 1 please"},
		{"only steps 1 and 2", false, "only steps 1 and 2"},
		{"please stop here", true, "only steps 1 and 2"},
		{"abort the release", true, "only steps 1 and 2"},
		{"please continue", false, ""},
	} {
		h = Hears(h, l.state(), c.prompt, client.DefaultWords())
		require.Equal(t, state.Heard{Stop: c.ends, On: c.prompt == "please continue", Limit: c.limit}, h, c.prompt)
		p := toldBy(&h, l.state())
		require.Equal(t, c.ends, p.ends, c.prompt)
		require.Equal(t, c.limit != "", p.limited, c.prompt)
		require.False(t, p.asked)
	}
}

// TestHeardIsKeptBySession is written only if something changes, and is limited.
func TestHeardIsKeptBySession(t *testing.T) {
	l := hydrated(t, `{}`)
	hear := func(session string, change func(state.Heard) state.Heard) {
		t.Helper()
		require.NoError(t, l.Hear(t.Context(), session, change))
	}
	heard := func(session string) state.Heard {
		t.Helper()
		h, err := l.Heard(session)
		require.NoError(t, err)
		return h
	}
	file := func() map[string]state.Heard {
		m, err := (&state.Store{List: l.List}).Memory()
		require.NoError(t, err)
		return m.Heard
	}
	hear("a", func(h state.Heard) state.Heard { return h })
	require.Nil(t, file(), "nothing changes")
	hear("a", func(h state.Heard) state.Heard { h.Works = true; return h })
	hear("b", func(h state.Heard) state.Heard { h.Stop = true; return h })
	hear("a", func(h state.Heard) state.Heard { h.Limit = "only step 1"; return h })
	require.Equal(t, state.Heard{Works: true, Limit: "only step 1"}, heard("a"))
	require.Equal(t, state.Heard{Stop: true}, heard("b"))
	require.Zero(t, heard("c"))

	for i := range maxReminders {
		require.NoError(t, l.Hear(t.Context(), "x"+strconv.Itoa(i), func(h state.Heard) state.Heard { h.Works = true; return h }))
	}
	require.Len(t, file(), maxReminders)
	last := "x" + strconv.Itoa(maxReminders-1)
	require.True(t, heard(last).Works)
	hear("0 sorts first", func(h state.Heard) state.Heard { h.Stop = true; return h })
	require.True(t, heard("0 sorts first").Stop, "what was just heard is not what is forgotten")
	require.Len(t, file(), maxReminders)
}

// TestAnAgentWithoutATranscriptIsNotSentBackAgainstThePersonsWord.
func TestAnAgentWithoutATranscriptIsNotSentBackAgainstThePersonsWord(t *testing.T) {
	for prompt, want := range map[string]string{
		"make the release": `#3 "Tell" is ready. 1 more can be done`, "please stop here": "", "only step 1.1 please": `#4 "Read"`,
		"only step 1 please": `#4 "Read" (part of #1) is ready. Go on`, "only step 2 please": `#4 "Read" (part of #1) is ready. Go on`,
		"only step 3 please": `#3 "Tell" is ready. Go on`,
	} {
		l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Review", "do": [{"id": 1, "subject": "Read"}]},
			{"id": 2, "subject": "Ship", "blockedBy": [1]}, {"id": 3, "subject": "Tell"}]}`)
		h := Hears(state.Heard{Works: true}, l.state(), prompt, client.DefaultWords())
		agent, _ := l.stops(Stopping{Mode: Remind, Heard: &h})
		require.Equal(t, want != "", agent != "", prompt)
		require.Contains(t, agent, want, prompt)
	}
}

// TestTheReminderComesAfterGoOn: "Stop." keeps it back, and so does any word after that, but for one to go on. Then it comes once.
func TestTheReminderComesAfterGoOn(t *testing.T) {
	for _, reads := range []bool{true, false} { // the client's transcript, or what hooks have heard
		l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"blockedBy": [2]}`)
		h, transcript := state.Heard{Works: true}, filepath.Join(t.TempDir(), "transcript.jsonl")
		sent := func(prompt string) bool {
			x := Stopping{Mode: Remind}
			if h = Hears(h, l.state(), prompt, client.DefaultWords()); reads {
				line, _ := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}})
				file, err := os.OpenFile(transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				require.NoError(t, err)
				_, err = file.Write(append(line, '\n'))
				require.NoError(t, errors.Join(err, file.Close()))
				x.Transcript = transcript
			} else {
				x.Heard = &h
			}
			agent, _ := l.stops(x)
			return agent != ""
		}
		require.False(t, sent("Stop."))
		require.False(t, sent("What is left?"))
		require.True(t, sent("go on"))
		require.False(t, sent("go on"), "once")
		require.False(t, sent("What is left?"))
		l.begin(1)
		require.False(t, sent("Stop after step 0. Stop."))
		require.True(t, sent("ok, go on"))
	}
}

// TestHoldSendsBackAsOftenAsItSays: an agent whose client never stops it, until a step changes or
// the person sends a prompt.
func TestHoldSendsBackAsOftenAsItSays(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	x := Stopping{Mode: Hold, Turns: 2}
	var got []bool
	sent := func() {
		agent, _ := l.stops(x)
		got = append(got, agent != "")
	}
	sent()
	require.NoError(t, l.BeginTurn(t.Context(), x))
	sent()
	sent()
	require.NoError(t, l.BeginTurn(t.Context(), x))
	sent()
	sent()
	sent()
	l.begin(1)
	sent()
	require.Equal(t, []bool{true, true, false, true, true, false, true}, got)
}

// TestSkillsOfASession: a session works what it called, or everything if one of its skills is not
// known, as on records of earlier versions.
func TestSkillsOfASession(t *testing.T) {
	require.False(t, state.Heard{}.Called("a"))
	require.True(t, state.Heard{Works: true}.Called("a"))
	one := state.Heard{}.Calls("a").Calls("a")
	require.Equal(t, state.Heard{Works: true, Skills: "a"}, one)
	require.True(t, one.Called("a"))
	require.False(t, one.Called("b"))
	two := one.Calls("b")
	require.True(t, two.Called("a") && two.Called("b") && !two.Called("c"))
	require.True(t, two.Calls("").Calls("d").Called("c"), "one that is not known")
	for i := range 30 {
		two = two.Calls(strconv.Itoa(i))
	}
	require.True(t, two.Called("a") && two.Called("x"), "too many to keep")
}

// TestResumeNamesEveryStepInProgress: the first two in full, the others by name. A report says the same.
func TestResumeNamesEveryStepInProgress(t *testing.T) {
	l := hydrated(t, `{}`, `{}`, `{}`, `{}`, `{}`)
	l.begin(1, 2, 3, 4)
	text := l.resumes()
	require.Contains(t, text, "How to do 2.")
	require.NotContains(t, text, "How to do 3.")
	require.Regexp(t, `Also in progress: .*"Step 3".*"Step 4"`, text)
	require.Contains(t, text, "Ready: ")
	report, err := l.Report(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, text, report)
}

// TestTheRefusalOfAToolIsTold: the terminal shows only that a call of the server has failed, so the person is told why, once.
func TestTheRefusalOfAToolIsTold(t *testing.T) {
	l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Publish", "blockedBy": [1]}`)
	l.Apply, l.Via = true, state.By{How: state.ByMCP}
	v := l.Update(t.Context(), Update{Task: "2", Status: completed, Use: "toolu_1"})
	require.Equal(t, state.Deny, v.Decision)
	require.EqualValues(t, `release: #2 "Publish" was refused: #1 is not done`, l.News(t.Context(), false))
	require.Empty(t, l.News(t.Context(), false))
}

// TestNews: what the person is told after each of these, once.
func TestNews(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [
 {"id": 1, "subject": "Build", "produces": ["notes.md"], "check": "test -e built"},
 {"id": 2, "subject": "Review", "blockedBy": [1], "outcomes": {"changes": {"back": 1, "max": 1}, "fine": {}, "bad": {}}},
 {"id": 3, "subject": "Rescue", "blockedBy": [2], "when": {"2": "bad"}},
 {"id": 4, "subject": "Migrate", "blockedBy": [2], "each": {"run": "echo a"}, "do": [{"id": 1, "subject": "Change {item}"}]},
 {"id": 5, "subject": "Name", "blockedBy": [2], "set": {"version": {"run": "echo 1"}}},
 {"id": 6, "subject": "Choose", "blockedBy": [2], "outcomes": ["a", "b"], "decides": {"run": "echo a"}},
 {"id": 7, "subject": "Publish", "blockedBy": [2], "approval": "Really?"},
 {"id": 8, "subject": "Wait", "blockedBy": [4]},
 {"id": 9, "subject": "Check", "blockedBy": [2], "check": "true"},
 {"id": 10, "subject": "Name again", "blockedBy": [9], "set": {"name": {"run": "echo 1"}}}
]}`, "notes.md", "old")
	other := l.beside()
	other.Session = "s2"
	var all []string
	news := func(turnEnds bool) string { return string(l.News(t.Context(), turnEnds)) }
	told := func(after string, turnEnds bool) {
		t.Helper()
		all = append(all, "== "+after, news(turnEnds))
		require.Empty(t, news(turnEnds), after)
	}
	told("nothing", true)
	l.begin(1)
	l.denies(1, completed)
	l.denies(2, inProgress)
	l.denies(2, completed)
	other.denies(8, completed)
	l.denies(7, completed)
	l.Forged = func() bool { return true }
	require.Empty(t, news(true))
	l.Forged = nil
	told("refusals, the same also for another status, and one in another session", true)
	l.denies(2, completed)
	told("the same again", true)
	l.denies(1, completed)
	told("a check that fails", true)
	l.denies(1, completed)
	l.begin(1)
	l.write("built", "1")
	l.allows(1, completed)
	told("a check that has passed in the end, and a file that is as it was", true)
	require.NotNil(t, l.end(2, "changes").Turn)
	told("a way back", true)
	l.denies(2, inProgress)
	l.write("notes.md", "new")
	l.ended(1)
	l.begin(2)
	require.True(t, l.end(2, "fine").Allowed())
	told("two steps, a refusal that is over, and a step that is not needed", true)
	require.Equal(t, state.Ask, other.ask(7, completed).Decision)
	l.denies(8, completed)
	require.True(t, l.ask(9, completed).Allowed())
	l.denies(10, completed)
	told("an update that has not reached the list, and a question in another session", true)
	l.set(9, completed)
	told("it has", true)
	l.NoChecks = func() bool { return true }
	l.denies(4, inProgress)
	l.denies(5, completed)
	l.denies(6, completed)
	l.denies(10, completed)
	require.Equal(t, state.Ask, l.ask(7, completed).Decision)
	told("in the middle of a turn", false)
	l.NoChecks = nil
	told("at its end, where commands are run", true)
	l.NoChecks = func() bool { return true }
	l.reopen(9)
	told("at its end, where none is", true)
	l.NoChecks = nil
	l.SayLater(t.Context(), "what a command has said")
	told("what was kept", true)
	l.skip(7)
	l.end(9, "")
	l.reopen(9)
	l.end(9, "")
	_, err := l.GoPast(t.Context(), Past{Step: 5, Because: "so"}, state.By{Who: state.ThePerson, How: state.AtTerminal})
	require.NoError(t, err)
	told("a step that a person has skipped, another in a terminal, and one that was done twice", true)
	l.begin(4)
	l.nest(workflow.Workflow{Command: "notes", Parent: 11, Session: "s1"}, `{"id": 21, "subject": "Collect"}`)
	end := func(id int64) {
		_, err := l.End(t.Context(), id, "enough", state.By{Who: state.ThePerson, How: state.ByShell})
		require.NoError(t, err)
	}
	end(21)
	told("the end of what is under a step", true)
	end(1)
	told("the end of the workflow", true)
	l.reopen(1)
	end(1)
	l.reopen(1)
	told("what was ended and is open again", true)
	golden(t, "news.txt", strings.Join(all, "\n")+"\n")
}

// TestWhatIsKeptForThePerson is what they cannot have read; and they are told of events that no hook saw.
func TestWhatIsKeptForThePerson(t *testing.T) {
	l := hydrated(t, `{}`)
	l.SayLater(t.Context(), "")
	l.Via.Who = state.ThePerson
	l.SayLater(t.Context(), "they have read it")
	l.Via.Who, l.Session = "", ""
	l.SayLater(t.Context(), "of an unknown session")
	require.NoFileExists(t, l.stateFile(state.SessionFile))
	l.Session = "s1"
	require.NoError(t, os.WriteFile(l.stateFile("missed"), fmt.Appendln(nil, time.Now().Unix()), 0o600))
	require.Contains(t, l.News(t.Context(), false), "fsmtx: fsmtx could not be run at ")
	require.Empty(t, l.News(t.Context(), false))
	require.NoError(t, os.WriteFile(l.stateFile(state.SessionFile), []byte("{"), 0o600))
	lost := l.ask(1, inProgress).Trouble
	require.Contains(t, lost, "what was kept for the sessions of this list is lost")
	require.NotContains(t, lost, "not fully enforced")
	none := newList(t)
	require.NoError(t, os.MkdirAll(none.List.Dir, 0o700))
	none.SayLater(t.Context(), "of a workflow that is not in the list any more")
	require.Empty(t, none.News(t.Context(), true))
}

// TestWhatTheAgentHasBegun is told once: what has changed in a definition at once, and what was replaced at the end of the turn.
func TestWhatTheAgentHasBegun(t *testing.T) {
	l := hydrated(t, `{}`)
	l.nest(workflow.Workflow{Command: "ship", Changed: "ship runs other commands"}, `{"id": 11}`)
	l.nest(workflow.Workflow{Command: "notes", Lost: []string{"plan of s0"}}, `{"id": 21}`)
	l.nest(workflow.Workflow{Command: "tell", Lost: []string{"a", "b"}, Changed: "tell runs other commands"}, `{"id": 31}`)
	begun := l.Begun(t.Context())
	assert.EqualValues(t, `ship runs other commands
tell runs other commands; tell has replaced a and b; in a terminal, not with !: fsmtx undo --list s1 4 brings them back`, begun)
	assert.Empty(t, l.Begun(t.Context()))
	_, person := l.stops(Stopping{Mode: StopOff})
	assert.Equal(t, "notes has replaced plan of s0; in a terminal, not with !: fsmtx undo --list s1 3 brings it back", person)
	_, person = l.stops(Stopping{Mode: StopOff})
	assert.Empty(t, person)
}

// TestWhatIsMissing is told at the end of a turn, once, with what brings it back.
func TestWhatIsMissing(t *testing.T) {
	l := hydrated(t, `{"approval": "Good?"}`, `{"blockedBy": [1]}`)
	l.ask(1, completed)
	missing := func() string { _, person := l.stops(Stopping{Mode: StopOff}); return person }
	assert.Empty(t, missing())
	const gone = "release: gone from the task list, and not on record as done: "
	l.remove(2)
	assert.Equal(t, gone+`#2 "Step 2". Invoke the skill again: that replaces its steps, with a new record`, missing())
	assert.Empty(t, missing())
	l.remove(1)
	assert.Equal(t, gone+`#1 "Step 1" and #2 "Step 2". fsmtx continue release --list s1 --to s1 brings them back, in a terminal, not with !`,
		missing())
	assert.Empty(t, missing())
	require.NoError(t, os.RemoveAll(state.StateDir(l.List.Dir)))
	l.put(1, taskText("1", "Build", pending, "[]"))
	_, person := l.beside().stops(Stopping{Mode: StopOff, Heard: &state.Heard{}})
	assert.Empty(t, person, "it works nothing here")
	_, person = l.beside().stops(Stopping{Mode: StopOff})
	assert.Contains(t, person, "nothing about it is on record")
}

// TestNobodyIsLookedForAfterAnUpdate: who has started the hook is found out for a decision, and for what the person is told, and not
// at every event.
func TestNobodyIsLookedForAfterAnUpdate(t *testing.T) {
	l := hydrated(t, `{"within": "1h"}`, `{}`)
	l.begin(1)
	l.News(t.Context(), false) // what begin has left to tell
	nobody := func() bool { require.Fail(t, "somebody is looked for"); return false }
	l.Forged, l.Unseen = nobody, nobody
	l.Seen(t.Context(), "1", "")
	require.NoError(t, l.Lapse(t.Context(), Pause{}))
	require.Empty(t, l.News(t.Context(), false))
}
