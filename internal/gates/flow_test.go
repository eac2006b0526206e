package gates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// reviewed is implement, test, review, settle, open the pull request.
func reviewed(t testing.TB) *list {
	return hydrated(t,
		workflow.Step{Subject: "Implement"},
		workflow.Step{Subject: "Test", BlockedBy: []int64{1}, Check: &workflow.Check{Run: "test -e pass || { echo broken; exit 1; }", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "failed", Back: 1, Max: 2}}},
		workflow.Step{Subject: "Review", BlockedBy: []int64{2}, Produces: []string{"REVIEW.md"}, Outcomes: []workflow.Outcome{
			{Name: "approved", Check: &workflow.Check{Run: "! grep -q BLOCKER REVIEW.md", Timeout: 9}},
			{Name: "changes", Back: 1, Max: 1, Then: "disputed"}, {Name: "disputed"}}},
		workflow.Step{Subject: "Settle it", BlockedBy: []int64{3}, When: []workflow.Condition{{Step: 3, Outcomes: []string{"disputed"}}},
			Decides:  "person",
			Outcomes: []workflow.Outcome{{Name: "merge"}, {Name: "drop", Stop: true}}},
		workflow.Step{Subject: "Open the pull request", BlockedBy: []int64{3, 4}},
	)
}

// end requests a completion with an outcome and, if it is allowed, does what the client does:
// it sets the status, or carries out the rewritten update.
func (l *list) end(id int64, outcome string) Verdict {
	l.t.Helper()
	if outcome == "" {
		return l.gives(id, "")
	}
	return l.gives(id, `{"outcome":"`+outcome+`"}`)
}

// seen is what the hook does after an update.
func (l *list) seen() string {
	l.t.Helper()
	text, v := l.Seen(l.t.Context(), "", "")
	require.Empty(l.t, v.Trouble)
	return text
}

// shows returns what the list shows: the subject and the status of each step.
func (l *list) shows() string {
	l.t.Helper()
	var all []string
	for id := range int64(5) {
		data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(id+1)))
		if err != nil {
			all = append(all, "gone")
			continue
		}
		all = append(all, jsonx.StringMember(data, "subject")+": "+jsonx.StringMember(data, "status"))
	}
	return strings.Join(all, "\n")
}

func TestABranch(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "fine")
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "").Allowed())
	v := l.Update(t.Context(), Update{Task: "3", Status: workflow.Completed})
	assert.Equal(t, `#3 "Review" cannot be completed: say how it ends. Complete it with metadata {"outcome": "approved"}, or with changes.
A person can go past this in a terminal outside the client: fsmtx step skip 3 --because "..." --session s1 (or: fsmtx step done ...)`,
		v.Reason)
	assert.Contains(t, l.end(3, "aproved").Reason, `it cannot end as "aproved". Complete it with metadata {"outcome": "approved"}`)
	assert.Contains(t, l.end(3, "disputed").Reason, `nobody chooses "disputed"`)
	assert.Contains(t, l.end(3, "skipped").Reason, `nobody chooses "skipped"`)

	v = l.Update(t.Context(), Update{Task: "3", Status: workflow.Completed, Outcome: "approved"})
	require.True(t, v.Allowed(), "%+v", v)
	assert.Equal(t, "", l.state().Step(3).Outcome, "it counts when the client's update is seen done")
	l.set(3, workflow.Completed)
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Equal(t, `Not needed: #4 "Settle it". Ready: #5 "Open the pull request": How to do 5.`, l.seen())
	assert.Equal(t, "Implement: completed\nTest: completed\nReview: completed\nSettle it (not needed: #3 ended as approved): "+
		"completed\nOpen the pull request: pending", l.shows())
	assert.Equal(t, "not needed", l.state().Word(l.state().Step(4)))
	assert.Contains(t, l.ask(3, workflow.InProgress).Reason,
		`#3 "Review" ended as approved and is done. A person can open it again in a terminal: fsmtx step reopen 3`)
	assert.Contains(t, l.ask(4, workflow.Pending).Reason, `#4 "Settle it" is not needed and is done`)
	require.True(t, l.ask(3, workflow.Completed).Allowed(), "completing it again is nothing")
	require.True(t, l.end(3, "approved").Allowed())
	v = l.end(3, "changes")
	require.True(t, v.Allowed(), "as is another word, which changes nothing")
	assert.Contains(t, v.Told, `This changes nothing: #3 "Review" ended as approved and is done. A person can open it again`)
	l.put(3, `{"id":"3","subject":"Review","status":"completed","blocks":["4","5"],"blockedBy":["2"],`+
		`"metadata":{"fsm":"release","outcome":"changes"}}`)
	assert.Empty(t, l.seen())
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Equal(t, workflow.Completed, l.state().Step(3).Status)
	require.True(t, l.end(5, "").Allowed())
	assert.Empty(t, l.state().Ready())
}

func TestALoop(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "BLOCKER")
	l.end(1, "")
	l.end(2, "")
	l.allows(3, workflow.InProgress)
	assert.Contains(t, l.end(3, "approved").Reason, `its check failed (exit status 1): ! grep -q BLOCKER REVIEW.md`)
	v := l.end(3, "changes")
	require.NotNil(t, v.Turn, "%+v", v)
	assert.Equal(t, `Review: changes, time 1 of 1. #1 "Implement", #2 "Test" and #3 "Review" are open again. `+
		`Ready: #1 "Implement": How to do 1.`, v.Turn.Text)
	assert.Equal(t, "Implement (round 2): pending\nTest (round 2): pending\nReview (round 2 of 2): pending\nSettle it: "+
		"pending\nOpen the pull request: pending", l.shows())
	assert.Contains(t, l.end(2, "").Reason, `#1 "Implement" must be done first`)
	l.end(1, "")
	l.end(2, "")

	v = l.end(3, "changes")
	require.True(t, v.Allowed(), "%+v", v)
	require.Nil(t, v.Turn, "the budget is spent, so it ends as disputed, whose gates are not asked")
	assert.Equal(t, "disputed", l.state().Step(3).Outcome)
	assert.Equal(t, int64(4), l.state().Ready()[0].ID)
}

func TestACheckThatFailsLeadsBack(t *testing.T) {
	l := reviewed(t)
	l.end(1, "")
	v := l.end(2, "")
	require.NotNil(t, v.Turn, "%+v", v)
	assert.Equal(t, "Test: failed, time 1 of 2. #1 \"Implement\" and #2 \"Test\" are open again. "+
		"Ready: #1 \"Implement\": How to do 1.\nThe check failed (exit status 1): test -e pass || { echo broken; exit 1; }\n"+
		"The end of its output:\nbroken", v.Turn.Text)
	silent := state.Failure("failed", &state.Result{Run: "test -e pass", Exit: 2})
	assert.Equal(t, "\nThe check failed (exit status 2): test -e pass\nIt printed nothing.", silent)
	l.end(1, "")
	require.NotNil(t, l.end(2, "").Turn)
	l.end(1, "")
	assert.Contains(t, l.end(2, "").Reason, "its check failed (exit status 1)", "the budget is spent: refused like any failing check")
	assert.Contains(t, l.end(2, "failed").Reason, `nobody chooses "failed"`)
	l.write("pass", "1")
	require.Nil(t, l.end(2, "").Turn)
	assert.Equal(t, "done", l.state().Step(2).Outcome)
	assert.Equal(t, 3, l.state().Step(2).Round)
}

// A check for which there is no time left has not failed.
func TestACheckThatCannotRunLeadsNowhere(t *testing.T) {
	l := reviewed(t)
	l.end(1, "")
	l.Limit = callMargin + time.Second
	v := l.end(2, "")
	assert.Equal(t, state.Deny, v.Decision, "%+v", v)
	assert.Equal(t, 1, l.state().Step(2).Round)
}

func TestAPersonChooses(t *testing.T) {
	l := disputed(t)
	assert.Contains(t, l.end(4, "merge").Reason,
		`#4 "Settle it" is decided by the person. Ask them with AskUserQuestion: "How does #4 end?", with exactly these options: merge, drop.`)
	const question = "How does #4 end?"
	for _, c := range []Choice{{}, {Question: question, Chosen: "perhaps"},
		{Question: question, Options: []string{"merge", "later"}, Chosen: "merge"},
		{Question: question, Options: []string{"merge: no, drop it", "drop"}, Chosen: "merge: no, drop it"},
		{Question: question, Options: []string{"Merge – keep it", "drop"}, Chosen: "Merge – keep it"},
		{Question: "Is the coffee good?", Chosen: "merge"}, {Question: "How does #5 end?", Chosen: "merge"}} {
		text, _ := l.Chosen(t.Context(), []Choice{c}, state.ByQuestion, "")
		assert.Empty(t, text, "%v is about another question", c)
	}
	text, _ := l.Chosen(t.Context(), []Choice{{Question: "Merge it?", Options: []string{"merge", "drop"}, Chosen: "merge"}}, state.ByQuestion,
		"")
	assert.Equal(t, `This does not count for #4 "Settle it": ask the person "How does #4 end?", with exactly these options: merge, drop.`,
		text)
	assert.Contains(t, l.end(4, "merge").Reason, "is decided by the person")
	text, v := l.Chosen(t.Context(), []Choice{{Question: question, Options: []string{"merge", "drop"}, Chosen: "merge"}}, state.ByQuestion, "")
	require.Empty(t, v.Trouble)
	said, _ := l.state().Latest(4)
	assert.Equal(t, state.Evidence{Verdict: state.Answer, Why: "the person chose merge", Question: question, Outcome: "merge"},
		state.Evidence{Verdict: said.Verdict, Why: said.Why, Question: said.Question, Outcome: said.Outcome})
	assert.Equal(t, `#4 "Settle it" ends as merge: the person chose it. Complete it now.`, text)
	assert.Contains(t, l.end(4, "drop").Reason, `#4 "Settle it" cannot end as "drop": the person chose merge`)
	require.True(t, l.end(4, "").Allowed())
	assert.Equal(t, "merge", l.state().Step(4).Outcome)
	e, _ := l.state().Last(4)
	assert.Equal(t, "merge", e.Outcome)
	assert.Equal(t, int64(5), l.state().Ready()[0].ID)
}

// choice is the answer to the question about a step.
func choice(step int64, outcome string) Choice {
	return Choice{Question: fsmspec.Question(step), Chosen: outcome}
}

// disputed is the workflow when the person has to settle it.
func disputed(t testing.TB) *list {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "BLOCKER")
	for range 2 {
		l.end(1, "")
		l.end(2, "")
		l.end(3, "changes")
	}
	require.Equal(t, "disputed", l.state().Step(3).Outcome)
	return l
}

func TestAStop(t *testing.T) {
	l := disputed(t)
	_, _ = l.Chosen(t.Context(), []Choice{choice(4, "drop")}, state.ByQuestion, "")
	v := l.Update(t.Context(), Update{Task: "4", Status: workflow.Completed, Outcome: "drop"})
	require.True(t, v.Allowed(), "%+v", v)
	l.set(4, workflow.Completed)
	assert.Equal(t, `The workflow is over: #5 "Open the pull request" is not needed.`, l.seen())
	assert.Contains(t, l.shows(), "Open the pull request (not needed): completed")
	assert.Empty(t, l.state().Ready())

	s, err := l.Reopen(t.Context(), 4, "I was wrong", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	assert.Equal(t, int64(4), s.Ready()[0].ID)
	assert.Contains(t, l.shows(), "Settle it (round 2): pending\nOpen the pull request (round 2): pending")
	assert.Contains(t, l.end(4, "drop").Reason, "is decided by the person", "an answer is for one round")

	s, err = l.End(t.Context(), 4, "enough", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	assert.Empty(t, s.Ready())
	assert.Contains(t, l.shows(), "Settle it (not needed): completed\nOpen the pull request (not needed): completed")
}

// A person may open a step more often than its loop can: then the loop's bound says nothing.
func TestRoundsBeyondTheBoundOfALoop(t *testing.T) {
	l := disputed(t)
	_, err := l.Reopen(t.Context(), 3, "once more", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	assert.Contains(t, l.shows(), "Review (round 3): pending\n")
	assert.Zero(t, l.state().Step(3).MaxRounds())
}

// A command decides by the last line of its output.
func TestACommandChooses(t *testing.T) {
	l := hydrated(t,
		workflow.Step{Subject: "Choose", Decides: "command", Chooser: &workflow.Check{Run: "echo debug >&2; cat kind", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "major"}, {Name: "minor"}}},
		workflow.Step{Subject: "Migrate", BlockedBy: []int64{1}, When: []workflow.Condition{{Step: 1, Outcomes: []string{"major"}}}},
		workflow.Step{Subject: "Publish", BlockedBy: []int64{1, 2},
			Check: &workflow.Check{Run: `test "$FSM_OUTCOME_1" = minor && test "$FSM_ROUND" = 1`,
				Timeout: 9}},
	)
	assert.Contains(t, l.end(1, "major").Reason, "ends as its command says: leave the outcome out")
	assert.Contains(t, l.end(1, "").Reason, "the command that decides how it ends failed (exit status 1): echo debug >&2; cat kind\n"+
		"The end of its output:\ndebug\ncat: kind: No such file")
	l.write("kind", "patch\n")
	assert.Contains(t, l.end(1, "").Reason, `the last line of its command has to be major or minor, and is "patch"`)
	l.write("kind", "first\n minor \n")
	require.True(t, l.end(1, "").Allowed())
	assert.Contains(t, l.shows(), "Migrate (not needed: #1 ended as minor): completed")
	require.True(t, l.end(3, "").Allowed())
}

// The state is what is on record; the list is put right at the next event.
func TestAfterACrash(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "x")
	l.end(1, "")
	l.end(2, "")
	before := l.shows()
	v := l.Update(t.Context(), Update{Task: "3", Status: workflow.Completed, Outcome: "changes"})
	require.NotNil(t, v.Turn)
	// The hook was killed before it changed the list and answered: the client completes the step.
	for id, line := range strings.Split(before, "\n")[:3] {
		subject, status, _ := strings.Cut(line, ": ")
		l.put(int64(id+1), strings.NewReplacer("SUBJECT", subject, "STATUS", status, "ID", message.Itoa(int64(id+1))).Replace(
			`{"id":"ID","subject":"SUBJECT","description":"How to do `+
				`ID.","status":"STATUS","blocks":[],"blockedBy":BLOCKERS,"metadata":{"fsm":"release"}}`))
	}
	l.put(1, `{"id":"1","subject":"Implement","description":"How to do `+
		`1.","status":"completed","blocks":[],"blockedBy":[],"metadata":{"fsm":"release"}}`)
	l.put(2, `{"id":"2","subject":"Test","description":"How to do `+
		`2.","status":"completed","blocks":[],"blockedBy":["1"],"metadata":{"fsm":"release"}}`)
	l.put(3, `{"id":"3","subject":"Review","description":"How to do `+
		`3.","status":"completed","blocks":[],"blockedBy":["2"],"metadata":{"fsm":"release","outcome":"changes"}}`)
	assert.Equal(t, int64(1), l.state().Ready()[0].ID, "a status in the list is not believed before it shows what was opened again")
	l.seen()
	assert.Equal(t, "Implement (round 2): pending\nTest (round 2): pending\nReview (round 2 of 2): pending\nSettle it: "+
		"pending\nOpen the pull request: pending", l.shows())
	assert.Equal(t, 2, l.state().Step(3).Round, "the loop counts once")
}

// The hook that counted a loop was killed before its answer, and the client gave up the call: the
// file of the step is left in progress. It has not been started again.
func TestAStepThatACrashLeavesInProgress(t *testing.T) {
	killed := func(t *testing.T, event func(l *list)) *list {
		l := hydrated(t, workflow.Step{Subject: "Try", Within: 900,
			Outcomes: []workflow.Outcome{{Name: "again", Back: 1, Max: 3}, {Name: "good"}}})
		l.allows(1, workflow.InProgress)
		require.NotNil(t, l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed, Outcome: "again"}).Turn)
		l.put(1, `{"id":"1","subject":"Try","description":"How to do 1.","status":"in_progress","blocks":[],"blockedBy":[],`+
			`"metadata":{"fsm":"release"}}`)
		assert.Equal(t, workflow.Pending, l.state().Step(1).Status, "whoever only looks sees it open, too")
		event(l)
		return l
	}
	shown := func(l *list) string { return strings.Split(l.shows(), "\n")[0] }

	l := killed(t, func(l *list) { l.seen() })
	assert.Equal(t, "Try (round 2 of 4): pending", shown(l))
	assert.Zero(t, l.state().Step(1).Begun, "its time limit begins when it is started")

	l = killed(t, func(l *list) { l.allows(1, workflow.InProgress) })
	l.seen()
	assert.Equal(t, "Try (round 2 of 4): in_progress", shown(l), "a start that came after the crash is not taken back")
	assert.NotZero(t, l.state().Step(1).Begun)

	l = killed(t, func(l *list) { l.seen() })
	l.seen() // the list shows that it is open
	l.set(1, workflow.InProgress)
	l.seen()
	assert.Equal(t, "Try (round 2 of 4): in_progress", shown(l), "nor is one that no hook saw")
}

// A step that a script completed is judged by the outcome in its file.
func TestCompletedInAnotherWay(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "x")
	l.set(1, workflow.Completed)
	require.True(t, l.end(2, "").Allowed(), "the only outcome is meant")
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	l.write("REVIEW.md", "BLOCKER")
	l.set(3, workflow.Completed)
	assert.Contains(t, l.denies(5, workflow.InProgress),
		"#3 \"Review\" was completed in another way and does not pass its gates, so no other step is let through. #3 \"Review\" cannot be "+
			"completed: its check failed",
		"it can only have gone forward as approved")
	l.write("REVIEW.md", "x")
	l.put(3, `{"id":"3","subject":"Review","description":"How to do `+
		`3.","status":"completed","blocks":[],"blockedBy":["2"],"metadata":{"fsm":"release","outcome":"approved"}}`)
	l.allows(5, workflow.InProgress)
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Contains(t, l.shows(), "Settle it (not needed: #3 ended as approved): completed")

	// Whatever it does to a step that is done, the record wins.
	l.set(2, workflow.Pending)
	l.allows(5, workflow.InProgress)
	assert.Contains(t, l.shows(), "Test: completed")
}

// TestWhatIsTakenForASpentOutcomeIsTold: the agent has said one word and the step ends as another.
func TestWhatIsTakenForASpentOutcomeIsTold(t *testing.T) {
	l := reviewed(t)
	l.write("pass", "1")
	l.write("REVIEW.md", "BLOCKER")
	for _, told := range []string{"", `changes has led back as often as it may (once): #3 "Review" ends as disputed.`} {
		l.end(1, "")
		l.end(2, "")
		s := l.state()
		assert.Equal(t, told != "", strings.HasSuffix(s.ToDo(s.Step(3)),
			" changes has led back as often as it may (once): it counts as disputed now."), "before it is chosen")
		assert.Equal(t, told, l.end(3, "changes").Told)
	}
	assert.Equal(t, "disputed", l.state().Step(3).Outcome)

	for name, then := range map[string]workflow.Outcome{"forward": {Name: "stuck"}, "back": {Name: "stuck", Back: 1, Max: 1}} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, workflow.Step{Subject: "Write"}, workflow.Step{Subject: "Test", BlockedBy: []int64{1},
				Check:    &workflow.Check{Run: "echo broken; false", Timeout: 9},
				Outcomes: []workflow.Outcome{{Name: "failed", Back: 2, Max: 1, Then: "stuck"}, then}})
			l.end(1, "")
			require.NotNil(t, l.end(2, "").Turn)
			v := l.end(2, "")
			text := v.Told
			if v.Turn != nil {
				text = v.Turn.Text
			}
			if then.Back == 0 {
				assert.Equal(t, "stuck: its check failed", v.Why)
			}
			assert.Contains(t, text, "failed has led back as often as it may (once)")
			assert.Contains(t, text, "\nThe check failed (exit status 1): echo broken; false\nThe end of its output:\nbroken")
		})
	}
}

// TestASpentOutcomeOfAPersonOrACommand is not chosen in another way by the agent.
func TestASpentOutcomeOfAPersonOrACommand(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Ask", Decides: "person",
		Outcomes: []workflow.Outcome{{Name: "yes"}, {Name: "no", Back: 1, Max: 1}}},
		workflow.Step{Subject: "Look", Decides: "command", Chooser: &workflow.Check{Run: "echo more", Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "nothing"}, {Name: "more", Back: 2, Max: 1}}})
	for _, spent := range []bool{false, true} {
		s := l.state()
		assert.Equal(t, spent, strings.HasSuffix(s.ToDo(s.Step(1)),
			" no has led back as often as it may (once): the step cannot end so any more."), "before it is chosen")
		text, _ := l.Chosen(t.Context(), []Choice{choice(1, "no")}, state.ByQuestion, "")
		v := l.end(1, "")
		if assert.Equal(t, !spent, v.Allowed(), v.Reason); spent {
			assert.Equal(t, `The person chose no for #1 "Ask". It cannot end as "no" any more, which has led back as often as it may (once): `+
				`tell them. They have to choose yes: ask them again.`, text)
			assert.Contains(t, v.Reason, `(once): tell them. Ask them with AskUserQuestion: "How does #1 end?", with exactly these `+
				`options: yes, no. `)
		}
		v = l.end(2, "")
		if assert.Equal(t, !spent, v.Allowed(), v.Reason); spent {
			assert.Contains(t, v.Reason, "(once). It can still end as nothing, when its command says so")
		}
	}
}

// TestQuestionsAboutStepsWithTheSameOutcomes in one call are each about a step of its own. One that names
// its step is about that.
func TestQuestionsAboutStepsWithTheSameOutcomes(t *testing.T) {
	ask := func(subject string) workflow.Step {
		return workflow.Step{Subject: subject, Decides: "person", Outcomes: []workflow.Outcome{{Name: "yes"}, {Name: "no", Stop: true}}}
	}
	l := hydrated(t, ask("The text"), ask("The date"), ask("The place"))
	text, _ := l.Chosen(t.Context(), []Choice{choice(1, "yes"), choice(2, "no")}, state.ByQuestion, "")
	assert.Equal(t, "#1 \"The text\" ends as yes: the person chose it. Complete it now.\n"+
		"#2 \"The date\" ends as no: the person chose it. Complete it now.", text)
	text, _ = l.Chosen(t.Context(), []Choice{{Chosen: "yes", Step: 3}}, state.ByElicitation, "")
	assert.Equal(t, `#3 "The place" ends as yes: the person chose it. Complete it now.`, text)
	assert.Contains(t, l.end(2, "yes").Reason, `the person chose no. Complete it with metadata {"outcome": "no"}`)
	require.True(t, l.end(3, "").Allowed())
	require.True(t, l.end(1, "").Allowed())
}

// TestALoopAroundAStepThatIsNotNeeded opens it again, and it is not needed at once: the list has nothing to
// show of that. The next completion counts.
func TestALoopAroundAStepThatIsNotNeeded(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Choose", Outcomes: []workflow.Outcome{{Name: "a"}, {Name: "b"}}},
		workflow.Step{Subject: "Extra", BlockedBy: []int64{1}, When: []workflow.Condition{{Step: 1, Outcomes: []string{"b"}}}},
		workflow.Step{Subject: "Review", BlockedBy: []int64{2}, Outcomes: []workflow.Outcome{{Name: "fine"}, {Name: "again", Back: 2, Max: 2}}},
		workflow.Step{Subject: "Next", BlockedBy: []int64{3}})
	require.True(t, l.end(1, "a").Allowed())
	for range 2 {
		require.NotNil(t, l.end(3, "again").Turn)
		assert.Equal(t, "completed", l.file(2, "status"))
	}
	require.True(t, l.end(3, "fine").Allowed())
	_, v := l.Seen(t.Context(), "3", "")
	assert.Empty(t, v.Trouble)
	assert.Equal(t, "completed", l.file(3, "status"))
	assert.Equal(t, "fine", l.state().Step(3).Outcome)
	l.allows(4, workflow.InProgress)
}

// TestAStopNeedsNoValues: nothing is left that could use them. Its gates may.
func TestAStopNeedsNoValues(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Triage", Set: []workflow.Value{{Name: "severity", OneOf: []string{"low", "high"}}},
		Outcomes: []workflow.Outcome{{Name: "fix"}, {Name: "reject", Stop: true},
			{Name: "park", Stop: true, Check: &workflow.Check{Run: "true", Timeout: 9}}}})
	assert.Contains(t, l.end(1, "fix").Reason, "it has to give severity")
	assert.Contains(t, l.end(1, "park").Reason, "it has to give severity")
	require.True(t, l.end(1, "reject").Allowed())

	l = ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Prepare", "do": [
		{"id": 2, "subject": "Find", "set": {"version": "^[0-9.]+$"}, "outcomes": {"ok": {}, "enough": {"stop": true}}}]},
		{"id": 3, "subject": "Release {version}", "blockedBy": [1]}]}`)
	assert.Contains(t, l.end(5, "enough").Reason, "it has to give version", "only the parts stop, and a step behind them uses it")
}

// TestAPersonIsToldThatAnOutcomeIsSpent, and not that the step has no such outcome.
func TestAPersonIsToldThatAnOutcomeIsSpent(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Review", Outcomes: []workflow.Outcome{{Name: "fine"}, {Name: "changes", Back: 1, Max: 1}}})
	end := func() error {
		_, err := l.GoPast(t.Context(), Past{Step: 1, Done: true, Outcome: "changes", Because: "x"}, state.By{Who: state.ThePerson})
		return err
	}
	require.NoError(t, end())
	err := end()
	require.ErrorIs(t, err, errSpent)
	assert.EqualError(t, err, `#1 "Review": changes: the outcome has led back as often as it may (once)`)
	assert.Equal(t, 2, l.state().Step(1).Round)
}

// TestEveryOutcomeIsSpent: no outcome is offered that cannot be chosen either.
func TestEveryOutcomeIsSpent(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}, Outcomes: []workflow.Outcome{
		{Name: "a", Back: 1, Max: 1}, {Name: "b", Back: 1, Max: 1}, {Name: "fine"}}})
	for _, outcome := range []string{"a", "b"} {
		l.end(1, "")
		require.NotNil(t, l.end(2, outcome).Turn)
	}
	l.end(1, "")
	reason := l.end(2, "a").Reason
	assert.Contains(t, reason, `{"outcome": "fine"}`)
	assert.NotContains(t, reason, `"b"`)
}
