package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/txn"
)

// reviewed is implement, test, review, settle, open the pull request. Its project has these files, each a name and its text.
func reviewed(t tb, files ...string) *list {
	l := hydrated(t,
		`{"subject": "Implement"}`,
		`{"subject": "Test", "blockedBy": [1], "check": "test -e pass || { echo broken; exit 1; }",
			"outcomes": {"failed": {"back": 1, "max": 2}}}`,
		`{"subject": "Review", "blockedBy": [2], "produces": ["REVIEW.md"],
			"outcomes": {"approved": {"check": "! grep -q BLOCKER REVIEW.md"}, "changes": {"back": 1, "max": 1, "then": "disputed"},
				"disputed": {}}}`,
		`{"subject": "Settle it", "blockedBy": [3], "when": {"3": "disputed"}, "decides": "person",
			"outcomes": {"merge": {}, "drop": {"stop": true}}}`,
		`{"subject": "Open the pull request", "blockedBy": [3, 4]}`,
	)
	l.writes(files)
	return l
}

func TestABranch(t *testing.T) {
	l := reviewed(t, "pass", "1", "REVIEW.md", "fine")
	l.ended(1, 2)
	v := l.ask(3, completed)
	assert.Equal(t, `#3 "Review" cannot be completed: say how it ends. Complete it with metadata {"outcome": "approved"}, or with changes.
A person can go past this in a terminal outside the client: fsmtx step skip 3 --because "..." --list s1 (or done instead of skip)`,
		v.Reason)
	assert.Contains(t, l.end(3, "aproved").Reason, `it cannot end as "aproved". Complete it with metadata {"outcome": "approved"}`)
	assert.Contains(t, l.end(3, "disputed").Reason, `nobody chooses "disputed"`)
	assert.Contains(t, l.end(3, "skipped").Reason, `nobody chooses "skipped"`)

	v = l.Update(t.Context(), Update{Task: "3", Status: completed, Outcome: "approved"})
	require.True(t, v.Allowed(), "%+v", v)
	assert.Equal(t, "", l.state().Step(3).Outcome, "it counts when the client's update is seen done")
	l.set(3, completed)
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Equal(t, `Not needed: #4 "Settle it". Ready: #5 "Open the pull request": How to do 5.`, l.seen())
	assert.Equal(t, "Implement: completed\nTest: completed\nReview: completed\nSettle it (not needed: #3 ended as approved): "+
		"completed\nOpen the pull request: pending", l.shows())
	assert.Equal(t, state.IsNotNeeded, l.state().Word(l.state().Step(4)))
	assert.Contains(t, l.ask(3, inProgress).Reason,
		`#3 "Review" is done as approved. A person can open it again in a terminal: fsmtx step reopen 3`)
	assert.Contains(t, l.ask(4, pending).Reason, `#4 "Settle it" is not needed: #3 ended as approved`)
	require.True(t, l.ask(3, completed).Allowed(), "completing it again is nothing")
	require.True(t, l.end(3, "approved").Allowed())
	v = l.end(3, "changes")
	require.True(t, v.Allowed(), "as is another word, which changes nothing")
	assert.Contains(t, v.Told, `This changes nothing: #3 "Review" is done as approved. A person can open it again`)
	l.rewrite(3, `{"status": "completed", "metadata": {"fsm": "release", "outcome": "changes"}}`)
	assert.Empty(t, l.seen())
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Equal(t, completed, l.state().Step(3).Status)
	require.True(t, l.end(5, "").Allowed())
	assert.Empty(t, l.state().Ready())
}

func TestACheckThatFailsLeadsBack(t *testing.T) {
	l := reviewed(t)
	l.end(1, "")
	v := l.end(2, "")
	require.NotNil(t, v.Turn, "%+v", v)
	assert.Equal(t, "Test: failed, time 1 of 2. #1 \"Implement\" and #2 \"Test\" are open again. "+
		"Ready: #1 \"Implement\": How to do 1.\nThe check failed (exit status 1): test -e pass || { echo broken; exit 1; }\n"+
		"The end of its output:\nbroken", string(v.Turn.Text))
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
		`#4 "Settle it" is decided by the person. Ask them with AskUserQuestion: `+
			`"How does the step #4 \"Settle it\" of the workflow release end?", with exactly these options: merge, drop.`)
	const question = `How does the step #4 "Settle it" of the workflow release end?`
	for _, c := range []Choice{{}, {Question: question, Chosen: "perhaps"},
		{Question: question, Options: []string{"merge", "later"}, Chosen: "merge"},
		{Question: question, Options: []string{"merge: no, drop it", "drop"}, Chosen: "merge: no, drop it"},
		{Question: question, Options: []string{"Merge – keep it", "drop"}, Chosen: "Merge – keep it"},
		{Question: question, Options: []string{"merge"}, Chosen: "merge"}, {Question: question, Chosen: "merge"},
		{Question: "Is the coffee good?", Options: []string{"yes", "no"}, Chosen: "merge"},
		{Question: "How does #5 end?", Options: []string{"merge", "drop"}, Chosen: "merge"},
		{Question: "How does #40 end?", Options: []string{"merge", "drop"}, Chosen: "merge"}} {
		_, _ = l.Chosen(t.Context(), []Choice{c}, state.ByQuestion, "")
		assert.Empty(t, l.state().LastChoice(l.state().Step(4)).Outcome, "%v does not count", c)
	}
	for _, all := range [][]string{{"merge", "drop"}, {"merge", "later"}, {"red", "blue"}} {
		v := l.Asking(t.Context(), []Choice{{Question: question, Options: all}})
		assert.Equal(t, all[1] != "later", v.Allowed(), all)
		assert.True(t, v.Allowed() || strings.HasPrefix(v.Reason, `The question does not have exactly the outcomes of #4 "Settle it": ask`))
	}
	text, _ := l.Chosen(t.Context(), []Choice{{Question: "Merge it?", Options: []string{"merge", "wait"}, Chosen: "merge"}},
		state.ByQuestion,
		"")
	assert.Equal(t, `This does not count for #4 "Settle it": ask the person "How does the step #4 \"Settle it\" of the workflow release `+
		`end?", with exactly these options: merge, drop.`, text)
	assert.Contains(t, l.end(4, "merge").Reason, "is decided by the person")
	mute := l.beside()
	mute.Questions = ""
	assert.Contains(t, mute.end(4, "merge").Reason,
		`Tell them: it can end as merge or drop, which they say in a terminal outside the client: fsmtx step done 4 --outcome NAME`)
	text, _ = l.Chosen(t.Context(), []Choice{{Question: "Which colour?", Options: []string{"red", "blue"}, Chosen: "red"}},
		state.ByQuestion, "")
	assert.Empty(t, text, "it may be about anything")
	text, v := l.Chosen(t.Context(), []Choice{{Question: question, Options: []string{"Merge ", "drop"}, Chosen: "Merge "}},
		state.ByQuestion, "")
	require.Empty(t, v.Trouble)
	said, _ := l.state().Latest(4)
	assert.Equal(t, state.Evidence{Verdict: state.Chosen, Why: "the person chose merge", Question: question, Outcome: "merge"},
		state.Evidence{Verdict: said.Verdict, Why: said.Why, Question: said.Question, Outcome: said.Outcome})
	assert.Equal(t, `#4 "Settle it" ends as merge: the person chose it. Complete it now.`, text)
	assert.Contains(t, l.end(4, "drop").Reason, `#4 "Settle it" cannot end as "drop": the person chose merge`)
	require.True(t, l.end(4, "").Allowed())
	assert.Equal(t, "merge", l.state().Step(4).Outcome)
	e, _ := l.state().Last(4)
	assert.Equal(t, "merge", e.Outcome)
	all := l.state().Evidence
	e = all[slices.IndexFunc(all, func(e state.Evidence) bool { return e.Step == 4 && e.Verdict == state.Allow })]
	assert.Equal(t, []any{state.ThePerson, state.ByQuestion}, []any{e.By.Who, e.By.How})
	assert.Equal(t, int64(5), l.state().Ready()[0].ID)
	assert.False(t, hydrated(t, `{}`).PersonDecides())
}

// choice is the answer to the question about a step.
func choice(step int64, outcome string) Choice {
	return Choice{Question: fmt.Sprintf("How does #%d end?", step), Step: step, Chosen: outcome}
}

// disputed is the workflow when the person has to settle it.
func disputed(t tb) *list {
	l := reviewed(t, "pass", "1", "REVIEW.md", "BLOCKER")
	for range 2 {
		l.ended(1, 2)
		l.end(3, "changes")
	}
	require.Equal(t, "disputed", l.state().Step(3).Outcome)
	return l
}

func TestAStop(t *testing.T) {
	l := disputed(t)
	_, _ = l.Chosen(t.Context(), []Choice{choice(4, "drop")}, state.ByQuestion, "")
	v := l.Update(t.Context(), Update{Task: "4", Status: completed, Outcome: "drop"})
	require.True(t, v.Allowed(), "%+v", v)
	l.set(4, completed)
	assert.Equal(t, `The workflow is over: #5 "Open the pull request" is not needed.`, l.seen())
	assert.Contains(t, l.shows(), "Open the pull request (not needed): completed")
	assert.Empty(t, l.state().Ready())

	assert.Equal(t, ids(4), ready(l.reopen(4)))
	assert.Contains(t, l.shows(), "Settle it (round 2): pending\nOpen the pull request (round 2): pending")
	assert.Contains(t, l.end(4, "drop").Reason, "is decided by the person", "an answer is for one round")

	s, err := l.End(t.Context(), 4, "enough", state.By{Who: state.ThePerson})
	require.NoError(t, err)
	assert.Empty(t, s.Ready())
	assert.Contains(t, l.shows(), "Settle it (not needed): completed\nOpen the pull request (not needed): completed")
}

// A person may open a step more often than its loop can: then the loop's bound says nothing.
func TestRoundsBeyondTheBoundOfALoop(t *testing.T) {
	l := disputed(t)
	l.reopen(3)
	assert.Contains(t, l.shows(), "Review (round 3): pending\n")
	assert.Zero(t, l.state().Step(3).MaxRounds())
}

// A command decides by the last line of its output.
func TestACommandChooses(t *testing.T) {
	l := hydrated(t,
		`{"subject": "Choose", "decides": {"run": "echo debug >&2; cat kind"}, "outcomes": ["major", "minor"]}`,
		`{"subject": "Migrate", "blockedBy": [1], "when": {"1": "major"}}`,
		`{"subject": "Publish", "blockedBy": [1, 2], "check": "test \"$FSM_OUTCOME_1\" = minor && test \"$FSM_ROUND\" = 1"}`,
	)
	assert.Contains(t, l.end(1, "major").Reason, "ends as its command says: leave the outcome out")
	assert.Contains(t, l.end(1, "").Reason, "the command that decides how it ends failed (exit status 1): echo debug >&2; cat kind\n"+
		"The end of its output:\ndebug\ncat: kind: No such file")
	l.write("kind", "patch\n")
	assert.Contains(t, l.end(1, "").Reason, `the last line of its command has to be major or minor, and is "patch"`)
	l.write("kind", "first\n minor \n")
	require.True(t, l.end(1, "").Allowed())
	assert.Equal(t, "Migrate (not needed: #1 ended as minor): completed", l.shown(2))
	require.True(t, l.end(3, "").Allowed())
}

// The state is what is on record; the list is put right at the next event.
func TestAfterACrash(t *testing.T) {
	l := reviewed(t, "pass", "1", "REVIEW.md", "x")
	l.ended(1, 2)
	require.NotNil(t, l.Update(t.Context(), Update{Task: "3", Status: completed, Outcome: "changes"}).Turn)
	// The hook was killed before it changed the list and answered: the client completes the step.
	l.rewrite(1, `{"status": "completed"}`)
	l.rewrite(2, `{"status": "completed"}`)
	l.rewrite(3, `{"status": "completed", "metadata": {"fsm": "release", "outcome": "changes"}}`)
	assert.Equal(t, int64(1), l.state().Ready()[0].ID, "a status in the list is not believed before it shows what was opened again")
	l.seen()
	assert.Equal(t, "Implement (round 2): pending\nTest (round 2): pending\nReview (round 2 of 2): pending\nSettle it: "+
		"pending\nOpen the pull request: pending", l.shows())
	assert.Equal(t, 2, l.state().Step(3).Round, "the loop counts once")
}

// The hook that counted a loop was killed before its answer, and the client gave up the call: the
// file of the step is left in progress. It has not been started again.
func TestAStepThatACrashLeavesInProgress(t *testing.T) {
	killed := func(event func(l *list)) *list {
		l := hydrated(t, `{"subject": "Try", "within": 900, "outcomes": {"again": {"back": 1, "max": 3}, "good": {}}}`)
		l.begin(1)
		require.NotNil(t, l.Update(t.Context(), Update{Task: "1", Status: completed, Outcome: "again"}).Turn)
		l.rewrite(1, `{"status": "in_progress"}`)
		assert.Equal(t, pending, l.state().Step(1).Status, "whoever only looks sees it open, too")
		event(l)
		l.seen()
		return l
	}
	l := killed(func(l *list) { l.seen() })
	assert.Equal(t, "Try (round 2 of 4): pending", l.shown(1))
	assert.Zero(t, l.state().Step(1).Begun, "its time limit begins when it is started")
	l.set(1, inProgress)
	l.seen()
	assert.Equal(t, "Try (round 2 of 4): in_progress", l.shown(1), "a start that no hook saw is not taken back")

	l = killed(func(l *list) { l.begin(1) })
	assert.Equal(t, "Try (round 2 of 4): in_progress", l.shown(1), "nor is one that came after the crash")
	assert.NotZero(t, l.state().Step(1).Begun)
}

// A step that a script completed is judged by the outcome in its file.
func TestCompletedInAnotherWay(t *testing.T) {
	l := reviewed(t, "pass", "1", "REVIEW.md", "BLOCKER")
	l.set(1, completed)
	l.ended(2) // the only outcome is meant
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	l.set(3, completed)
	assert.Contains(t, l.denies(5, inProgress), `#3 "Review" was completed past the hooks and does not pass its gates, so no other step `+
		`is let through. #3 "Review" cannot be completed: its check failed`, "it can only have gone forward as approved")
	l.write("REVIEW.md", "x")
	l.rewrite(3, `{"status": "completed", "metadata": {"fsm": "release", "outcome": "approved"}}`)
	l.begin(5)
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	assert.Contains(t, l.shows(), "Settle it (not needed: #3 ended as approved): completed")

	// Whatever it does to a step that is done, the record wins.
	l.set(2, pending)
	l.begin(5)
	assert.Contains(t, l.shows(), "Test: completed")
}

// TestWhatIsTakenForASpentOutcomeIsTold: the agent has said one word and the step ends as another.
func TestWhatIsTakenForASpentOutcomeIsTold(t *testing.T) {
	l := reviewed(t, "pass", "1", "REVIEW.md", "BLOCKER")
	for _, told := range []string{"", `changes has led back as often as it may (once): #3 "Review" ends as disputed.`} {
		l.ended(1, 2)
		s := l.state()
		assert.Equal(t, told != "", strings.HasSuffix(s.ToDo(s.Step(3)),
			" changes has led back as often as it may (once): it counts as disputed now."), "before it is chosen")
		assert.EqualValues(t, told, l.end(3, "changes").Told)
	}
	assert.Equal(t, "disputed", l.state().Step(3).Outcome)

	for _, then := range []string{`{}`, `{"back": 1, "max": 1}`} {
		l := hydrated(t, `{"subject": "Write"}`, `{"subject": "Test", "blockedBy": [1], "check": "echo broken; false",
			"outcomes": {"failed": {"back": 2, "max": 1, "then": "stuck"}, "stuck": `+then+`}}`)
		l.ended(1)
		require.NotNil(t, l.end(2, "").Turn)
		v := l.end(2, "")
		text := v.Told
		if v.Turn != nil {
			text = v.Turn.Text
		} else {
			assert.Equal(t, "stuck: its check failed", v.Why)
		}
		assert.Equal(t, then != `{}`, v.Turn != nil)
		assert.Contains(t, text, "failed has led back as often as it may (once)")
		assert.Contains(t, text, "\nThe check failed (exit status 1): echo broken; false\nThe end of its output:\nbroken")
	}
}

// TestASpentOutcomeOfAPersonOrACommand is not chosen in another way by the agent.
func TestASpentOutcomeOfAPersonOrACommand(t *testing.T) {
	l := hydrated(t, `{"subject": "Ask", "decides": "person", "outcomes": {"yes": {}, "no": {"back": 1, "max": 1}}}`,
		`{"subject": "Look", "decides": {"run": "echo more"}, "outcomes": {"nothing": {}, "more": {"back": 2, "max": 1}}}`)
	for _, spent := range []bool{false, true} {
		s := l.state()
		assert.Equal(t, spent, strings.HasSuffix(s.ToDo(s.Step(1)),
			" no has led back as often as it may (once): the step cannot end so any more."), "before it is chosen")
		text, _ := l.Chosen(t.Context(), []Choice{choice(1, "no")}, state.ByQuestion, "")
		v := l.end(1, "")
		if assert.Equal(t, !spent, v.Allowed(), v.Reason); spent {
			assert.Equal(t, `The person chose no for #1 "Ask". It cannot end as "no" any more, `+
				`which has led back as often as it may (once): `+
				`tell them. They have to choose yes: ask them again.`, text)
			assert.Contains(t, v.Reason, `(once): tell them. Ask them with AskUserQuestion: "How does the step #1 \"Ask\" of the `+
				`workflow release end?", with exactly these options: yes, no. `)
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
	ask := func(subject string) string {
		return `{"subject": ` + q(subject) + `, "decides": "person", "outcomes": {"yes": {}, "no": {"stop": true}}}`
	}
	l := hydrated(t, ask("The text"), ask("The date"), ask("The place"))
	beside := l.beside()
	beside.Via = state.By{Who: state.ThePerson, How: state.AtTerminal}
	assert.Contains(t, beside.end(1, "").Reason, `#1 "The text" is decided by the person. Say how it ends:
  fsmtx step done 1 --outcome yes --because "..." --list s1
  fsmtx step done 1 --outcome no --because "..." --list s1`)
	text, _ := l.Chosen(t.Context(), []Choice{choice(1, "yes"), choice(2, "no")}, state.ByQuestion, "")
	assert.Equal(t, "#1 \"The text\" ends as yes: the person chose it. Complete it now.\n"+
		"#2 \"The date\" ends as no: the person chose it. Complete it now.", text)
	text, _ = l.Chosen(t.Context(), []Choice{{Question: "There, as in #12?", Chosen: "yes", Step: 3}}, state.ByElicitation, "")
	assert.Equal(t, `#3 "The place" ends as yes: the person chose it. Complete it now.`, text)
	assert.Contains(t, l.end(2, "yes").Reason, `the person chose no. Complete it with metadata {"outcome": "no"}`)
	l.ended(3, 1)
}

// TestAStopNeedsNoValues: nothing is left that could use them. Its gates may.
func TestAStopNeedsNoValues(t *testing.T) {
	l := hydrated(t, `{"subject": "Triage", "set": {"severity": ["low", "high"]},
		"outcomes": {"fix": {}, "reject": {"stop": true}, "park": {"stop": true, "check": "true"}}}`)
	assert.Contains(t, l.end(1, "fix").Reason, "it has to give severity")
	assert.Contains(t, l.end(1, "park").Reason, "it has to give severity")
	require.True(t, l.end(1, "reject").Allowed())

	l = ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Prepare", "do": [
		{"id": 2, "subject": "Find", "set": {"version": "^[0-9.]+$"}, "outcomes": {"ok": {}, "enough": {"stop": true}}}]},
		{"id": 3, "subject": "Release {version}", "blockedBy": [1]}]}`)
	assert.Contains(t, l.end(5, "enough").Reason, "it has to give version", "only the parts stop, and a step behind them uses it")
}

// versioned is choose, write the version, publish.
func versioned(t tb) *list {
	return hydrated(t,
		`{"subject": "Choose", "outcomes": ["major", "minor"]}`,
		`{"subject": "Write the version", "blockedBy": [1], "produces": ["v/{version}.txt"],
			"check": "echo \"$FSM_VERSION|$FSM_CHANNEL|$FSM_ARGS|$FSM_GOAL|$FSM_OUTCOME_1\" > seen; test ! -e fail",
			"set": {"version": "^[0-9.]+$", "channel": ["beta", "stable"]},
			"outcomes": {"done": {}, "again": {"back": 1, "max": 3}, "failed": {"back": 2, "max": 3}}}`,
		`{"subject": "Publish {version}", "description": "To {channel}, {{version}}.", "activeForm": "Publishing {version}",
			"blockedBy": [2], "produces": ["notes/{version}/*.md"], "approval": "Is {version} out?"}`,
	)
}

func TestValues(t *testing.T) {
	l := versioned(t)
	l.end(1, "major")
	assert.Equal(t, `#2 "Write the version" cannot be completed: it has to give version, which matches ^[0-9.]+$; it has to give channel, `+
		`which is beta or stable. Complete it with metadata {"version": "…", "channel": "…"}`,
		strings.Split(l.gives(2, `{}`).Reason, ".\nA person")[0])
	assert.Contains(t, l.gives(2, `{"version": "1.x", "channel": "beta"}`).Reason,
		`version is "1.x", and it does not match ^[0-9.]+$. Complete it`)
	assert.Contains(t, l.gives(2, `{"version": "..", "channel": "beta"}`).Reason,
		`version is "..", and it stands in a path, and its value is .., which is a directory`)
	assert.Contains(t, l.gives(2, `{"version": [], "channel": "gamma"}`).Reason,
		`version has to be a text, a number or a boolean; channel is "gamma", and it is not one of beta, stable`)
	assert.Contains(t, l.Update(t.Context(), Update{Task: "2", Status: completed, Values: jsontext.Value(`{"verison": "1"}`)}).Reason,
		`has no value "verison": it sets version and channel. Leave the others out`)
	assert.NoFileExists(t, filepath.Join(l.project, "seen"), "values are judged before anything runs")
	v0 := l.gives(2, `{"outcome": "again"}`)
	require.NotNil(t, v0.Turn, "an outcome that leads back needs no values: %+v", v0)
	l.end(1, "major")

	// Then the files, with the value that is given.
	assert.Contains(t, l.gives(2, `{"version": 1.40, "channel": "beta"}`).Reason,
		"it needs v/1.40.txt, which is missing or empty in "+l.project)
	l.write("v/1.40.txt", "x")
	l.write("fail", "x")
	v := l.gives(2, `{"version": 1.40, "channel": "beta"}`)
	require.NotNil(t, v.Turn, "%+v", v)
	assert.Nil(t, l.state().Step(2).Values, "it has led back")
	require.NoError(t, os.Remove(filepath.Join(l.project, "fail")))
	l.write("v/1.40.txt", "y")
	l.Env = append(os.Environ(), "FSM_VERSION=other", "FSM_ITEM=other", "FSM_OUTCOME_7=other", "FSM_MINE=mine")
	v = l.gives(2, `{"version": 1.40, "channel": "beta"}`)
	require.True(t, v.Allowed(), "%+v", v)
	seen, err := os.ReadFile(filepath.Join(l.project, "seen"))
	require.NoError(t, err)
	assert.Equal(t, "1.40|beta|the args|a goal|major\n", string(seen))
	s := l.state()
	assert.Equal(t, map[string]string{"version": "1.40", "channel": "beta"}, s.Step(2).Values)
	assert.Equal(t, map[string]string{"version": "1.40", "channel": "beta", "args": "the args", "goal": "a goal"},
		s.Values(s.Step(2).Workflow))

	// Texts of steps that name them are rewritten, without a word to the person.
	assert.Equal(t, "Publish 1.40", l.file(3, "subject"))
	assert.Equal(t, "Publishing 1.40", l.file(3, "activeForm"))
	assert.Equal(t, "To beta, {version}.", l.file(3, "description"))
	assert.Equal(t, "Is 1.40 out?", s.Step(3).Approval)
	assert.Contains(t, l.gives(3, `{}`).Reason, "it needs notes/1.40/*.md, which is")

	// The workflow is opened again: the last value stays until it is set anew, and has to be.
	l.reopen(2)
	assert.Equal(t, "Publish 1.40", l.file(3, "subject"))
	assert.Contains(t, l.gives(2, `{"channel": "beta"}`).Reason, `it has to give version`)
	l.write("v/2.txt", "x")
	require.True(t, l.gives(2, `{"version": "2", "channel": "stable"}`).Allowed())
	assert.Equal(t, "Publish 2", l.file(3, "subject"))
	assert.Equal(t, "To stable, {version}.", l.file(3, "description"))
}

// A value that stands in a path cannot lead elsewhere, whoever gives it.
func TestValuesInPathsAreSegments(t *testing.T) {
	l := hydrated(t,
		`{"subject": "Specify", "produces": ["specs/{feature}/spec.md"], "set": {"feature": {"run": "echo noise >&2; cat name"}}}`,
		`{"subject": "Check it", "blockedBy": [1], "ready": ["specs/{feature}/*.md"],
			"check": {"run": "test -e spec.md", "dir": "specs/{feature}"}}`,
	)
	l.write("specs/old/spec.md", "an earlier feature")
	l.write("specs/spec.md", "x")
	for name, want := range map[string]string{"../specs": "its value has a /", "..": "its value is ..", "a\nb": "it has line breaks",
		"": "it printed nothing", "new": "it needs specs/new/spec.md, which is", "*": `it needs specs/\*/spec.md, which is`} {
		l.write("name", name+"\n")
		assert.Contains(t, strings.ReplaceAll(l.gives(1, `{}`).Reason, "It ", "it "), want, name)
	}
	assert.Contains(t, l.gives(1, `{"feature": "old"}`).Reason, "a command gives feature. Leave it out")
	l.write("name", "echo >&2; exit 1")
	l.write("name", "  new \n")
	l.write("specs/new/spec.md", "x")
	require.True(t, l.gives(1, `{}`).Allowed())
	l.begin(2)
	require.True(t, l.end(2, "").Allowed())
}

func TestAPathWithoutItsValue(t *testing.T) {
	l := hydrated(t,
		`{"subject": "Specify", "set": {"feature": ".*"}}`,
		`{"subject": "Check it", "blockedBy": [1], "ready": ["specs/{feature}/*.md"]}`,
	)
	l.skip(1)
	assert.Equal(t, `#2 "Check it" cannot be started: in "specs/{feature}/*.md", {feature} stands in a path, `+
		`and has no value yet. #1 "Specify" gives it. `+
		`Tell the person, who can open that step again in a terminal: fsmtx step reopen 1 --because "..." --list s1`,
		strings.Split(l.denies(2, inProgress), "\nA person")[0])
}

func TestAPersonGivesValues(t *testing.T) {
	l := versioned(t)
	l.end(1, "major")
	type values = map[string]string
	for want, given := range map[string]values{
		"say with --set version=TEXT what version is, which matches ^[0-9.]+$": nil,
		`version is "x", and it does not match ^[0-9.]+$`:                      {"version": "x", "channel": "beta"},
		`it does not set "chanel"`:                                             {"version": "1", "channel": "beta", "chanel": "x"},
	} {
		_, err := l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x", Values: given}, state.By{})
		assert.EqualError(t, err, `#2 "Write the version": a value is missing or wrong: `+want)
		assert.ErrorIs(t, err, errNoValue)
		assert.Equal(t, "", l.state().Step(2).Outcome)
	}
	l.past(Past{Step: 2, Done: true, Values: values{"version": "1", "channel": "beta"}})
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
	l.reopen(2)
	s := l.past(Past{Step: 2, Done: true, Values: values{"version": "2"}}) // what was given before may be left out
	assert.Equal(t, values{"version": "2"}, s.Step(2).Values)
	assert.Equal(t, "beta", s.Values(s.Step(2).Workflow)["channel"])
	_, err := l.GoPast(t.Context(), Past{Step: 3, Done: true, Because: "x", Values: values{"version": "2"}}, state.By{})
	assert.ErrorIs(t, err, errNoValue)
}

// A person's yes completes the step with the values that they were asked about.
func TestValuesOfAnApproval(t *testing.T) {
	update := Update{Task: "1", Status: completed}
	for name, yes := range map[string]func(*list) Verdict{
		"client": func(l *list) Verdict { return l.Completed(t.Context(), update) },
		"form":   func(l *list) Verdict { return l.Answered(t.Context(), update, true, state.ByElicitation) },
		"terminal": func(l *list) Verdict {
			l.past(Past{Step: 1, Done: true, Outcome: "tagged"})
			return Verdict{}
		},
	} {
		l := hydrated(t, `{"subject": "Tag", "approval": "Tag {version}?", "set": {"version": ".*"},
			"outcomes": ["tagged", "not-now"]}`, `{"subject": "Announce {version}", "blockedBy": [1]}`)
		v := l.gives(1, `{"version": "3", "outcome": "tagged"}`)
		require.Equal(t, state.Ask, v.Decision, "%+v", v)
		assert.Contains(t, v.Reason, "Tag 3?")
		require.True(t, yes(l).Allowed(), name)
		l.set(1, completed)
		l.seen()
		assert.Equal(t, []string{"tagged", "Announce 3"}, []string{l.state().Step(1).Outcome, l.file(2, "subject")}, name)
	}
}

// The list is put right after a crash behind the evidence, by the next event.
func TestValuesAfterACrash(t *testing.T) {
	l := versioned(t)
	l.end(1, "major")
	l.write("v/1.txt", "x")
	v := l.Update(t.Context(), Update{Task: "2", Status: completed, Values: jsontext.Value(`{"version":"1","channel":"beta"}`)})
	require.True(t, v.Allowed(), "%+v", v)
	l.set(2, completed) // the client's update, and no hook after it
	assert.Equal(t, "Publish 1", l.state().Step(3).Subject, "whoever looks sees it as it will be")
	assert.Equal(t, "Publish {version}", l.file(3, "subject"))
	l.seen()
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
	l.rewrite(3, `{"subject": "Publish {version}", "description": "To {channel}, {version}.", "status": "pending"}`)
	l.seen() // an earlier text is nobody's edit
	l.rewrite(3, `{"subject": "Publish it", "description": "x"}`)
	_, v = l.Seen(t.Context(), "", "")
	assert.Contains(t, v.Trouble, "had been changed behind its workflow, and was put right: subject")
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
}

// A step that a script completed gives the values in its file.
func TestValuesCompletedInAnotherWay(t *testing.T) {
	l := versioned(t)
	l.end(1, "major")
	l.write("v/1.txt", "x")
	l.write("notes/1/a.md", "x")
	l.set(2, completed)
	assert.Contains(t, l.denies(3, inProgress), "it has to give version")
	l.rewrite(2, `{"status": "completed", "metadata": {"fsm": "release", "version": 1, "channel": "beta"}}`)
	l.begin(3)
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
}

// limited is tell the users within fifteen minutes, go on.
func limited(t tb) *list {
	return hydrated(t, `{"subject": "Tell the users", "within": 900, "outcomes": ["late"]}`,
		`{"subject": "Apologise", "blockedBy": [1], "when": {"1": "late"}}`, `{"subject": "Go on", "blockedBy": [1, 2]}`)
}

// began records the start of step 1 so long ago.
func (l *list) began(ago time.Duration) {
	l.t.Helper()
	l.begin(1)
	now := l.state()
	now.Evidence[len(now.Evidence)-1].Time = time.Now().Add(-ago).UTC()
	require.NoError(l.t, os.Remove(l.stateFile("steps.jsonl")))
	require.NoError(l.t, l.Locked(l.t.Context(), func(dir *txn.Dir) error { return l.Record(dir, now, now.Evidence) }))
}

func TestLate(t *testing.T) {
	for name, event := range map[string]func(*list) string{
		"the completion": func(l *list) string {
			v := l.ask(1, completed)
			require.True(t, v.Allowed(), "%+v", v)
			return string(v.Told)
		},
		"another update":      func(l *list) string { return l.denies(3, inProgress) },
		"a look":              func(l *list) string { return l.seen() },
		"the end of the turn": func(l *list) string { l.stops(Stopping{Mode: Remind}); return "" },
	} {
		l := limited(t)
		l.began(16 * time.Minute)
		assert.Equal(t, "late", l.state().Step(1).Outcome, "whoever looks sees it")
		assert.Equal(t, "in_progress", l.file(1, "status"), "looking writes nothing")
		if text := event(l); text != "" {
			assert.Contains(t, text, `#1 "Tell the users" ended as late: its time limit of 15m has passed. Ready: #2 "Apologise"`)
		}
		assert.Equal(t, "completed", l.file(1, "status"), name)
		s := l.state()
		assert.Equal(t, "late", s.Step(1).Outcome)
		assert.Equal(t, int64(2), s.Ready()[0].ID)
		i := slices.IndexFunc(s.Evidence, state.Evidence.IsLate)
		e := s.Evidence[i]
		assert.Equal(t, []any{state.TheClock, state.Late, 1}, []any{e.By.Who, e.Verdict, e.Round}, name)
	}
}

// TestLateLeavesSomethingToDo: what is ready is told behind what is not needed any more.
func TestLateLeavesSomethingToDo(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Ask", "within": "15m", "outcomes": ["answered", "late"]},
		{"id": 2, "subject": "Use the answer", "when": {"1": "answered"}}, {"id": 3, "subject": "Go on without", "when": {"1": "late"}}]}`)
	l.began(16 * time.Minute)
	assert.Equal(t, `#1 "Ask" ended as late: its time limit of 15m has passed. Not needed: #2 "Use the answer". Ready: #3 "Go on without"`,
		l.seen())
}

// TestObserving: what a gate would have refused or asked is on record, and let through; where none was met, that too.
func TestObserving(t *testing.T) {
	const file = `{"fsm": 2, "steps": [{"id": 1, "subject": "Build", "only": ["Bash(git push *)"], "check": "exit 1",
			"outcomes": {"failed": {"back": 1, "max": 1}, "again": {"back": 1, "max": 1}, "fine": {}, "bad": {}}},
		{"id": 2, "subject": "Migrate", "blockedBy": [1], "each": {"lines": "list"}, "do": [{"id": 1, "subject": "Change {item}"}]},
		{"id": 3, "subject": "Ship", "blockedBy": [2], "when": {"1": "fine"}, "approval": "Really?"},
		{"id": 4, "subject": "Tell", "blockedBy": [3]}, {"id": 5, "subject": "Praise", "when": {"1": "fine"}}]}`
	var lines []string
	for _, c := range []struct {
		id          int64
		to, outcome string
	}{
		{1, inProgress, ""}, {4, inProgress, ""}, {1, completed, ""}, {1, completed, "bad"}, {1, completed, "again"}, {2, inProgress, ""},
		{3, completed, ""}, {3, "deleted", ""},
	} {
		l := ofSpec(t, file)
		l.Observe = func() bool { return true }
		v := l.Update(t.Context(), Update{Task: fmt.Sprint(c.id), Status: c.to, Outcome: c.outcome})
		require.True(t, v.Allowed(), v.Reason)
		e := l.lastLine()
		lines = append(lines, fmt.Sprintf("%d %s %s: %s %q, of %q, to %s as %q, not needed %v: %v", c.id, c.to, c.outcome, e.Verdict, e.Why,
			e.Gate, e.To, e.Outcome, e.NotNeeded, e.Gaps))
	}
	l := ofSpec(t, file)
	l.Observe = func() bool { return true }
	for range 2 {
		require.True(t, l.call(push("")).Allowed())
		l.begin(1)
	}
	require.True(t, l.Edit(l.path(1), "/").Allowed())
	for _, e := range l.state().Calls {
		lines = append(lines, fmt.Sprintf("a call: %s %q, of %q: %v", e.Verdict, e.Why, e.Gate, e.Gaps))
	}
	golden(t, "observed.txt", strings.Join(lines, "\n")+"\n")
}

// TestLateLeavesNothingToDo: then nothing is ready.
func TestLateLeavesNothingToDo(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Ask", "within": "15m", "outcomes": ["answered", "late"]}]}`)
	l.began(16 * time.Minute)
	assert.Contains(t, l.ask(1, completed).Told, `#1 "Ask" ended as late: its time limit of 15m has passed.`)
}

// TestLateBesideAWayBack: the agent is told of both.
func TestLateBesideAWayBack(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Ask", "within": "15m", "outcomes": ["answered", "late"]},
		{"id": 2, "subject": "Try", "outcomes": {"again": {"back": 2, "max": 1}, "fine": {}}}]}`)
	l.began(16 * time.Minute)
	assert.Regexp(t, `^#1 "Ask" ended as late: its time limit of 15m has passed\. Ready: .*\nTry: again, time 1 of 1\. #2 "Try" is `,
		l.end(2, "again").Turn.Text)
}

func TestInTime(t *testing.T) {
	l := limited(t)
	l.began(14 * time.Minute)
	require.True(t, l.end(1, "").Allowed())
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	assert.True(t, l.state().Step(2).NotNeeded)

	// A clock that was set back, a pause, and a second start do not make a step late, or early.
	l = limited(t)
	l.began(-time.Hour)
	assert.Zero(t, l.state().Over(l.state().Step(1)))
	require.True(t, l.end(1, "").Allowed())
	l = limited(t)
	l.began(16 * time.Minute)
	assert.Contains(t, l.denies(1, inProgress), `#1 "Tell the users" ended as late`)

	// Each round has the whole time.
	l.reopen(1)
	assert.Equal(t, "", l.state().Step(1).Outcome)
	l.begin(1)
	assert.Equal(t, "", l.state().Step(1).Outcome)
	require.True(t, l.end(1, "").Allowed())
	assert.Equal(t, "done", l.state().Step(1).Outcome)
}

// TestPartsHaveTheWholeTimeInEachRound: the time of a step under one that came round again does not run until it is started.
func TestPartsHaveTheWholeTimeInEachRound(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Try", "do": [{"id": 1, "subject": "Wait", "within": "1m"}]},
		{"id": 2, "subject": "Judge", "blockedBy": [1], "outcomes": {"good": {}, "again": {"back": 1, "max": 3}}}]}`)
	l.begin(3)
	s := l.state()
	s.Time = time.Now().Add(time.Hour)
	assert.Equal(t, "59 min over", s.OverText(s.Step(3)))
	require.True(t, l.end(3, "").Allowed())
	require.True(t, l.end(1, "").Allowed())
	require.True(t, l.end(2, "again").Allowed())
	s = l.state()
	s.Time = time.Now().Add(time.Hour)
	assert.False(t, s.Step(3).Done())
	assert.Empty(t, s.OverText(s.Step(3)))
}

// TestTheClockWasAhead: the person is told that a time limit counts from now, once, and later that it has passed.
func TestTheClockWasAhead(t *testing.T) {
	l := hydrated(t, `{"subject": "Tell the users", "within": 900}`, `{"subject": "Go on", "blockedBy": [1]}`)
	l.began(-time.Hour)
	assert.True(t, l.state().IsAhead(l.state().Step(1)))
	_, v := l.Seen(t.Context(), "", "")
	assert.Equal(t, `#1 "Tell the users": the clock was ahead when it was started, so its time limit of 15m counts from now`,
		string(v.Trouble))
	s := l.state()
	assert.False(t, s.IsAhead(s.Step(1)))
	assert.WithinDuration(t, time.Now(), s.Step(1).Begun, time.Minute)
	_, v = l.Seen(t.Context(), "", "")
	assert.Empty(t, v.Trouble, "once")
	s.Time = time.Now().Add(40 * time.Minute)
	_, told := s.TellOver(state.By{})
	assert.Equal(t, `#1 "Tell the users" is 25 min over its time limit of 15m`, told)
}

// TestLateBesideAnExpansion: the agent is told of both, the step that the clock has ended and the tasks for the lines.
func TestLateBesideAnExpansion(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Wait", "within": "15m", "outcomes": {"late": {}, "done": {}}},
		{"id": 2, "subject": "Migrate", "each": {"run": "echo a"}, "do": [{"id": 1, "subject": "Change {item}"}]}]}`)
	l.began(16 * time.Minute)
	told := l.begin(2)
	assert.Contains(t, told, `#1 "Wait"`)
	assert.Contains(t, told, "late")
	assert.Contains(t, told, `Their tasks are in the list now: #3 "Change a"`)
}

func TestOver(t *testing.T) {
	l := hydrated(t, `{"subject": "Tell the users", "within": 900}`, `{"subject": "Go on", "blockedBy": [1]}`)
	l.began(40 * time.Minute)
	s := l.state()
	assert.Equal(t, "25 min over", s.OverText(s.Step(1)))
	agent, person := l.stops(Stopping{Mode: Remind})
	assert.Contains(t, agent, `#1 "Tell the users" is in progress, 25 min over its time limit of 15m.`)
	assert.Contains(t, person, `the agent was sent back to #1 "Tell the users", 25 min over its time limit of 15m`)
	text := l.resumes()
	assert.Contains(t, text, `In progress, 25 min over its time limit of 15m: #1 "Tell the users"`)

	// The person of each session that shares the list is told once.
	for _, l.Session = range []string{"other", "s1"} {
		_, v := l.Seen(t.Context(), "", "")
		assert.EqualValues(t, `#1 "Tell the users" is 25 min over its time limit of 15m`, v.Trouble, l.Session)
		_, v = l.Seen(t.Context(), "", "")
		assert.Empty(t, v.Trouble, l.Session)
	}
	require.True(t, l.end(1, "").Allowed(), "it ends as it would have")
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	assert.Empty(t, l.state().OverText(l.state().Step(1)))
}

// TestAYesCountsWhenTheLimitHasPassed while the person was being asked.
func TestAYesCountsWhenTheLimitHasPassed(t *testing.T) {
	l := hydrated(t, `{"subject": "Publish", "approval": "Really?", "within": 900}`, `{"subject": "Next", "blockedBy": [1]}`)
	l.began(40 * time.Minute)
	require.Equal(t, state.Ask, l.Update(t.Context(), Update{Task: "1", Status: completed}).Decision)
	_, v := l.Seen(t.Context(), "", "")
	require.Contains(t, v.Trouble, "25 min over")
	v = l.Completed(t.Context(), Update{Task: "1", Status: completed})
	assert.True(t, v.Allowed(), v.Reason)
}

func TestOverTexts(t *testing.T) {
	s := flowState(t, `{"subject": "A", "within": 60}`)
	for d, want := range map[time.Duration]string{
		0: "", time.Minute: "", 61 * time.Second: "less than 1 min over", 2 * time.Minute: "1 min over", 61 * time.Minute: "1 h over",
		126 * time.Minute: "2 h 5 min over", -time.Hour: "",
	} {
		s.Step(1).Begun = s.Time.Add(-d)
		assert.Equal(t, want, s.OverText(s.Step(1)), d)
	}
}

// inReview is a list whose review is next.
func inReview(t tb) *list {
	l := reviewed(t, "pass", "1", "REVIEW.md", "fine")
	l.ended(1, 2)
	return l
}

// says is the agent's completion of the review in a call. over has the ids of its calls that are
// over.
func (l *list) says(outcome, use string, over ...string) Verdict {
	return l.Update(l.t.Context(), Update{Task: "3", Status: completed, Outcome: outcome, Use: use,
		Calls: calls(over)})
}

// calls are the ids of the calls that are over; of every other it is known that it is not.
type calls []string

func (c calls) Over(use string) (over, known bool) { return slices.Contains(c, use), true }

func (c calls) Rejected(string) bool { return false }

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
		"at a pause": func(l *list) { l.lapse(Pause{}) },
		"at a stop":  func(l *list) { l.stops(Stopping{Mode: StopOff}) },
		"at the next prompt, if its call is over": func(l *list) {
			l.lapse(Pause{Calls: calls{"one"}})
		},
	} {
		l := inReview(t)
		require.True(t, l.says("approved", "one").Allowed())
		pause(l)
		pause(l)
		require.Equal(t, 1, l.lapses(), "it is recorded once: %s", name)
		l.write("REVIEW.md", "BLOCKER")
		l.set(3, completed)
		assert.Empty(t, l.state().Step(3).Outcome, "a script has completed it, and nobody has decided that: %s", name)
		assert.Contains(t, l.denies(5, inProgress), `#3 "Review" was completed past the hooks and does not pass its gates`)
		l.write("REVIEW.md", "fine")
		l.begin(5)
		assert.Equal(t, "approved", l.state().Step(3).Outcome, name)
	}
}

func TestADecisionStands(t *testing.T) {
	for name, pause := range map[string]Pause{
		"another agent pauses":        {Agent: "helper"},
		"its call is still in flight": {Calls: calls{}},
	} {
		l := inReview(t)
		require.True(t, l.says("approved", "one").Allowed())
		l.lapse(pause)
		require.Zero(t, l.lapses(), name)
		l.set(3, completed)
		assert.Equal(t, "approved", l.state().Step(3).Outcome, name)
		l.lapse(Pause{})
		require.Zero(t, l.lapses(), "it was carried out")
		l.Session = "another"
		l.lapse(Pause{})
		require.Zero(t, l.lapses(), "it is another session's")
	}
}

// A question that nobody said yes to lapses as well: a later completion is asked about again.
// Until the agent tries again, Stop does not send it back to the step.
func TestAQuestionLapses(t *testing.T) {
	l := hydrated(t, `{"subject": "Ship", "approval": "May it ship?"}`)
	require.Equal(t, state.Ask, l.ask(1, completed).Decision)
	l.lapse(Pause{})
	require.Equal(t, 1, l.lapses())
	assert.True(t, l.state().AwaitsPerson(l.state().Step(1)))
	l.ask(1, completed)
	e, _ := l.state().Last(1)
	assert.Equal(t, 2, e.Times, "how often it was asked is still known")
	l.lapse(Pause{})
	v := l.Completed(t.Context(), Update{Task: "1", Status: completed})
	assert.Equal(t, state.Deny, v.Decision, "nobody was asked about this one: %+v", v)
}

// TestAQuestionThatNobodyCanBeAskedIsOver: where a command or the MCP server asks for approval, the
// call has ended with the refusal, and no hook may follow at which the decision lapses. The agent may
// then say that the step ends in another way.
func TestAQuestionThatNobodyCanBeAskedIsOver(t *testing.T) {
	for _, way := range []state.How{state.ByShell, state.ByMCP} {
		l := hydrated(t, `{"outcomes": {"approved": {"approval": "Merge it?"}, "changes": {"back": 1, "max": 2}}}`)
		l.Apply, l.Via = true, state.By{How: way}
		require.Equal(t, state.Ask, l.Update(t.Context(), Update{Task: "1", Status: completed, Outcome: "approved"}).Decision)
		v := l.Update(t.Context(), Update{Task: "1", Status: completed, Outcome: "changes"})
		require.True(t, v.Allowed(), v.Reason)
		assert.NotNil(t, v.Turn, way)
	}
}

// TestTheCommandOfAnApprovalSaysTheOutcome: without it a person would be refused.
func TestTheCommandOfAnApprovalSaysTheOutcome(t *testing.T) {
	for _, tt := range []struct {
		more  string // besides the one that needs approval
		asked bool
		want  string
	}{
		{`"changes": {"back": 1, "max": 2}, "other": {}`, true, " --outcome approved"},
		{`"other": {}`, false, " --outcome NAME"},
		{``, true, ""},
		{`"changes": {"back": 1, "max": 2}`, true, " --outcome approved"},
		{`"done": {}`, false, ""},
	} {
		l := hydrated(t, strings.Replace(`{"subject": "Review",
			"outcomes": {"approved": {"approval": "Merge it?"}, `+tt.more+`}}`, ", }", "}", 1))
		if tt.asked {
			v := l.end(1, "approved")
			require.Equal(t, state.Ask, v.Decision, "%+v", tt)
			assert.Contains(t, v.Reason, "fsmtx step done 1"+tt.want+` --because "..."`, "%+v", tt)
		}
		s := l.state()
		assert.Equal(t, "fsmtx step done 1"+tt.want+` --because "..."`, doneCommand(s, s.Step(1), ""), "%+v", tt)
		if tt.want == " --outcome NAME" {
			_, err := l.GoPast(t.Context(), Past{Step: 1, Done: true, Outcome: "nope", Because: "x"}, state.By{Who: state.ThePerson})
			assert.EqualError(t, err, `#1 "Review": the outcome is missing or unknown: "nope"; it ends as approved or other`)
		}
	}
}

// TestASpentWordRunsNothing: it is judged before the step's check runs, and no outcome is offered that is spent, too.
func TestASpentWordRunsNothing(t *testing.T) {
	l := hydrated(t, `{}`,
		`{"blockedBy": [1], "check": "echo ran >> ran; exit 1",
			"outcomes": {"a": {"back": 1, "max": 1}, "b": {"back": 1, "max": 1}, "fine": {}, "failed": {"back": 1, "max": 1}}}`)
	for _, outcome := range []string{"a", "b"} {
		l.ended(1)
		require.NotNil(t, l.end(2, outcome).Turn)
	}
	l.ended(1)
	reason := l.end(2, "a").Reason
	assert.Contains(t, reason, `cannot end as "a" any more`)
	assert.Contains(t, reason, `{"outcome": "fine"}`)
	assert.NotContains(t, reason, `"b"`)
	assert.NoFileExists(t, l.project+"/ran")
}

// lapse is a pause of the agent.
func (l *list) lapse(p Pause) {
	l.t.Helper()
	require.NoError(l.t, l.Lapse(l.t.Context(), p))
}

// TestTwoSessionsEndOneStep: what one is about to end, the other cannot end in another way, and the stop of one is no sign that the
// other's call is over.
func TestTwoSessionsEndOneStep(t *testing.T) {
	l := inReview(t)
	other := l.beside()
	other.Session = "s2"
	require.True(t, l.says("approved", "one").Allowed())
	assert.Contains(t, other.says("changes", "two", "one", "two").Reason, "is being let through as approved")
	other.stops(Stopping{Mode: Remind})
	require.Zero(t, l.lapses())
	l.set(3, completed)
	l.seen()
	assert.Equal(t, "approved", l.state().Step(3).Outcome)
	v := other.says("changes", "three")
	assert.True(t, v.Allowed(), "completing it again is nothing")
	assert.Nil(t, v.Turn)
	assert.Equal(t, 1, l.state().Step(3).Round)
}
