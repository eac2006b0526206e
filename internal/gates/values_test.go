package gates

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/jsonx"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// versioned is choose, write the version, publish.
func versioned(t testing.TB) *list {
	return hydrated(t,
		workflow.Step{Subject: "Choose", Outcomes: []workflow.Outcome{{Name: "major"}, {Name: "minor"}}},
		workflow.Step{Subject: "Write the version", BlockedBy: []int64{1}, Set: []workflow.Value{{Name: "version", Pattern: "^[0-9.]+$"},
			{Name: "channel", OneOf: []string{"beta", "stable"}}},
			Produces: []string{"v/{version}.txt"},
			Check:    &workflow.Check{Run: `echo "$FSM_VERSION|$FSM_CHANNEL|$FSM_ARGS|$FSM_GOAL|$FSM_OUTCOME_1" > seen; test ! -e fail`, Timeout: 9},
			Outcomes: []workflow.Outcome{{Name: "done"}, {Name: "again", Back: 1, Max: 3}, {Name: "failed", Back: 2, Max: 3}}},
		workflow.Step{Subject: "Publish {version}", Description: "To {channel}, {{version}}.", ActiveForm: "Publishing {version}",
			BlockedBy: []int64{2}, Produces: []string{"notes/{version}/*.md"}, Approval: "Is {version} out?"},
	)
}

// gives completes a step with this metadata, as the client does.
func (l *list) gives(id int64, metadata string) Verdict {
	l.t.Helper()
	v := l.Update(l.t.Context(), Update{Task: message.Itoa(id), Status: workflow.Completed, Metadata: jsontext.Value(metadata)})
	switch {
	case !v.Allowed():
		return v
	case v.Turn != nil:
		l.set(id, workflow.Pending)
	default:
		l.set(id, workflow.Completed)
	}
	l.seen()
	return v
}

func (l *list) file(id int64, member string) string {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.List.Dir, fileName(id)))
	require.NoError(l.t, err)
	return jsonx.StringMember(data, member)
}

func TestValues(t *testing.T) {
	l := versioned(t)
	l.put(3, `{"id":"3","subject":"Publish {version}","description":"To {channel}, {version}.","activeForm":"Publishing `+
		`{version}","status":"pending","blocks":[],"blockedBy":["2"],"metadata":{"fsm":"release"}}`)
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
	_, err = l.Reopen(t.Context(), 2, "wrong", state.By{})
	require.NoError(t, err)
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
		workflow.Step{Subject: "Specify", Set: []workflow.Value{{Name: "feature", Command: &workflow.Check{Run: "cat name", Timeout: 9}}},
			Produces: []string{"specs/{feature}/spec.md"}},
		workflow.Step{Subject: "Check it", BlockedBy: []int64{1},
			Check: &workflow.Check{Run: "test -e spec.md", Timeout: 9, Dir: "specs/{feature}"},
			Ready: []string{"specs/{feature}/*.md"}},
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
	l.allows(2, workflow.InProgress)
	require.True(t, l.end(2, "").Allowed())
}

func TestAPathWithoutItsValue(t *testing.T) {
	l := hydrated(t,
		workflow.Step{Subject: "Specify", Set: []workflow.Value{{Name: "feature", Pattern: ".*"}}},
		workflow.Step{Subject: "Check it", BlockedBy: []int64{1}, Ready: []string{"specs/{feature}/*.md"}},
	)
	_, err := l.GoPast(t.Context(), Past{Step: 1, Because: "x"}, state.By{})
	require.NoError(t, err)
	assert.Equal(t, `#2 "Check it" cannot be started: in "specs/{feature}/*.md", {feature} stands in a path, `+
		`and has no value yet. #1 "Specify" gives it. `+
		`Tell the person, who can open that step again in a terminal: fsmtx step reopen 1 --because "..." --session s1`,
		strings.Split(l.denies(2, workflow.InProgress), ".\nA person")[0])
}

func TestAPersonGivesValues(t *testing.T) {
	for name, c := range map[string]struct {
		values map[string]string
		want   string
	}{
		"none": {nil, `#2 "Write the version": a value is missing or wrong: say with --set version=TEXT what version is, ` +
			`which matches ^[0-9.]+$`},
		"wrong": {map[string]string{"version": "x", "channel": "beta"},
			`#2 "Write the version": a value is missing or wrong: version is "x", and it does not match ^[0-9.]+$`},
		"not there": {map[string]string{"version": "1", "channel": "beta", "chanel": "x"},
			`#2 "Write the version": a value is missing or wrong: it does not set "chanel"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := versioned(t)
			l.end(1, "major")
			_, err := l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x", Values: c.values}, state.By{})
			assert.EqualError(t, err, c.want)
			assert.ErrorIs(t, err, errNoValue)
			assert.Equal(t, "", l.state().Step(2).Outcome)
		})
	}
	l := versioned(t)
	l.end(1, "major")
	_, err := l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x",
		Values: map[string]string{"version": "1", "channel": "beta"}}, state.By{})
	require.NoError(t, err)
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
	_, err = l.Reopen(t.Context(), 2, "y", state.By{})
	require.NoError(t, err)
	_, err = l.GoPast(t.Context(), Past{Step: 2, Done: true, Because: "x", Values: map[string]string{"version": "2"}}, state.By{})
	require.NoError(t, err, "what was given before may be left out")
	s := l.state()
	assert.Equal(t, map[string]string{"version": "2"}, s.Step(2).Values)
	assert.Equal(t, "beta", s.Values(s.Step(2).Workflow)["channel"])
	_, err = l.GoPast(t.Context(), Past{Step: 3, Done: true, Because: "x", Values: map[string]string{"version": "2"}}, state.By{})
	assert.ErrorIs(t, err, errNoValue)
}

// A person's yes completes the step with the values that they were asked about.
func TestValuesOfAnApproval(t *testing.T) {
	steps := []workflow.Step{{Subject: "Tag", Set: []workflow.Value{{Name: "version", Pattern: ".*"}}, Approval: "Tag {version}?",
		Outcomes: []workflow.Outcome{{Name: "tagged"}, {Name: "not-now"}}}, {Subject: "Announce {version}", BlockedBy: []int64{1}}}
	for name, yes := range map[string]func(*list) Verdict{
		"client": func(l *list) Verdict {
			return l.Completed(l.t.Context(), Update{Task: "1", Status: workflow.Completed})
		},
		"form": func(l *list) Verdict {
			return l.Answered(l.t.Context(), Update{Task: "1", Status: workflow.Completed}, true, state.ByElicitation)
		},
		"terminal": func(l *list) Verdict {
			_, err := l.GoPast(l.t.Context(), Past{Step: 1, Done: true, Outcome: "tagged", Because: "yes"}, state.By{Who: state.ThePerson})
			require.NoError(l.t, err)
			return Verdict{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, steps...)
			v := l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed,
				Metadata: jsontext.Value(`{"version": "3", "outcome": "tagged"}`)})
			require.Equal(t, state.Ask, v.Decision, "%+v", v)
			assert.Contains(t, v.Reason, "Tag 3?")
			v = yes(l)
			require.True(t, v.Allowed(), "%+v", v)
			l.set(1, workflow.Completed)
			l.seen()
			assert.Equal(t, "tagged", l.state().Step(1).Outcome)
			assert.Equal(t, "Announce 3", l.file(2, "subject"))
		})
	}
}

// The list is put right after a crash behind the evidence, by the next event.
func TestValuesAfterACrash(t *testing.T) {
	l := versioned(t)
	l.end(1, "major")
	l.write("v/1.txt", "x")
	v := l.Update(t.Context(), Update{Task: "2", Status: workflow.Completed, Values: jsontext.Value(`{"version":"1","channel":"beta"}`)})
	require.True(t, v.Allowed(), "%+v", v)
	l.set(2, workflow.Completed) // the client's update, and no hook after it
	assert.Equal(t, "Publish 1", l.state().Step(3).Subject, "whoever looks sees it as it will be")
	assert.Equal(t, "Publish {version}", l.file(3, "subject"))
	l.seen()
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
	l.put(3, `{"id":"3","subject":"Publish {version}","description":"To {channel}, `+
		`{version}.","status":"pending","blocks":[],"blockedBy":["2"],"metadata":{"fsm":"release"}}`)
	_, v = l.Seen(t.Context(), "", "")
	assert.Empty(t, v.Trouble, "an earlier text is nobody's edit")
	l.put(3, `{"id":"3","subject":"Publish it","description":"","status":"pending","blocks":[],"blockedBy":["2"],`+
		`"metadata":{"fsm":"release"}}`)
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
	l.set(2, workflow.Completed)
	assert.Contains(t, l.denies(3, workflow.InProgress), "it has to give version")
	l.put(2, `{"id":"2","subject":"Write the version","description":"How to do `+
		`2.","status":"completed","blocks":[],"blockedBy":["1"],"metadata":{"fsm":"release","version":1,"channel":"beta"}}`)
	l.allows(3, workflow.InProgress)
	assert.Equal(t, "Publish 1", l.file(3, "subject"))
}

// limited is tell the users within fifteen minutes, go on.
func limited(t testing.TB, outcomes ...workflow.Outcome) *list {
	return hydrated(t, workflow.Step{Subject: "Tell the users", Within: 900, Outcomes: outcomes},
		workflow.Step{Subject: "Apologise", BlockedBy: []int64{1},
			When: []workflow.Condition{{Step: 1, Outcomes: []string{"late"}}}}, workflow.Step{Subject: "Go on", BlockedBy: []int64{1, 2}})
}

// began records the start of step 1 so long ago.
func (l *list) began(ago time.Duration) {
	l.t.Helper()
	l.allows(1, workflow.InProgress)
	now := l.state()
	now.Evidence[len(now.Evidence)-1].Time = time.Now().Add(-ago).UTC()
	require.NoError(l.t, os.Remove(filepath.Join(stateDirOf(l.Frame), "steps.jsonl")))
	require.NoError(l.t, l.Locked(l.t.Context(), func(dir *txn.Dir) error { return l.Record(dir, now, now.Evidence) }))
}

func TestLate(t *testing.T) {
	for name, event := range map[string]func(*list) string{
		"the completion": func(l *list) string {
			v := l.Update(l.t.Context(), Update{Task: "1", Status: workflow.Completed})
			require.True(l.t, v.Allowed(), "%+v", v)
			return v.Told
		},
		"another update": func(l *list) string { return l.denies(3, workflow.InProgress) },
		"a look":         func(l *list) string { return l.seen() },
		"the end of the turn": func(l *list) string {
			_, _, err := l.Stop(context.Background(), Stopping{Mode: Remind})
			require.NoError(l.t, err)
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := limited(t, workflow.Outcome{Name: "late"})
			l.began(16 * time.Minute)
			assert.Equal(t, "late", l.state().Step(1).Outcome, "whoever looks sees it")
			assert.Equal(t, "in_progress", l.file(1, "status"), "looking writes nothing")
			if text := event(l); text != "" {
				assert.Contains(t, text, `#1 "Tell the users" ended as late: its time limit of 15m has passed. Ready: #2 "Apologise"`)
			}
			assert.Equal(t, "completed", l.file(1, "status"))
			s := l.state()
			assert.Equal(t, "late", s.Step(1).Outcome)
			assert.Equal(t, int64(2), s.Ready()[0].ID)
			e := s.Evidence[len(s.Evidence)-1]
			for i := len(s.Evidence) - 1; i >= 0 && !e.IsLate(); i-- {
				e = s.Evidence[i]
			}
			assert.Equal(t, state.TheClock, e.By.Who)
			assert.Equal(t, state.SeenDone, e.Verdict)
			assert.Equal(t, 1, e.Round)
		})
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

func TestInTime(t *testing.T) {
	l := limited(t, workflow.Outcome{Name: "late"})
	l.began(14 * time.Minute)
	require.True(t, l.end(1, "").Allowed())
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	assert.True(t, l.state().Step(2).NotNeeded)

	// A clock that was set back, a pause, and a second start do not make a step late, or early.
	l = limited(t, workflow.Outcome{Name: "late"})
	l.began(-time.Hour)
	assert.Zero(t, l.state().Over(l.state().Step(1)))
	require.True(t, l.end(1, "").Allowed())
	l = limited(t, workflow.Outcome{Name: "late"})
	l.began(16 * time.Minute)
	assert.Contains(t, l.denies(1, workflow.InProgress), `#1 "Tell the users" ended as late`)

	// Each round has the whole time.
	_, err := l.Reopen(t.Context(), 1, "again", state.By{})
	require.NoError(t, err)
	assert.Equal(t, "", l.state().Step(1).Outcome)
	l.allows(1, workflow.InProgress)
	assert.Equal(t, "", l.state().Step(1).Outcome)
	require.True(t, l.end(1, "").Allowed())
	assert.Equal(t, "done", l.state().Step(1).Outcome)
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
	l := hydrated(t, workflow.Step{Subject: "Tell the users", Within: 900}, workflow.Step{Subject: "Go on", BlockedBy: []int64{1}})
	l.began(40 * time.Minute)
	s := l.state()
	assert.Equal(t, "25 min over", s.OverText(s.Step(1)))
	agent, person, err := l.Stop(t.Context(), Stopping{Mode: Remind})
	require.NoError(t, err)
	assert.Contains(t, agent, `#1 "Tell the users" is in progress, 25 min over its time limit of 15m.`)
	assert.Contains(t, person, `the agent was sent back to #1 "Tell the users", 25 min over its time limit of 15m`)
	text, err := l.Resume(t.Context(), "")
	require.NoError(t, err)
	assert.Contains(t, text, `In progress, 25 min over its time limit of 15m: #1 "Tell the users"`)

	// The person is told once.
	_, v := l.Seen(t.Context(), "", "")
	assert.Equal(t, `#1 "Tell the users" is 25 min over its time limit of 15m`, v.Trouble)
	_, v = l.Seen(t.Context(), "", "")
	assert.Empty(t, v.Trouble)
	require.True(t, l.end(1, "").Allowed(), "it ends as it would have")
	assert.Equal(t, "done", l.state().Step(1).Outcome)
	assert.Empty(t, l.state().OverText(l.state().Step(1)))
}

// TestAYesCountsWhenTheLimitHasPassed while the person was being asked.
func TestAYesCountsWhenTheLimitHasPassed(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Publish", Within: 900, Approval: "Really?"},
		workflow.Step{Subject: "Next", BlockedBy: []int64{1}})
	l.began(40 * time.Minute)
	require.Equal(t, state.Ask, l.Update(t.Context(), Update{Task: "1", Status: workflow.Completed}).Decision)
	_, v := l.Seen(t.Context(), "", "")
	require.Contains(t, v.Trouble, "25 min over")
	v = l.Completed(t.Context(), Update{Task: "1", Status: workflow.Completed})
	assert.True(t, v.Allowed(), v.Reason)
}

func TestOverTexts(t *testing.T) {
	s := flowState([]workflow.Step{{Subject: "A", Within: 60}})
	for d, want := range map[time.Duration]string{
		0: "", time.Minute: "", 61 * time.Second: "less than 1 min over", 2 * time.Minute: "1 min over", 61 * time.Minute: "1 h over",
		126 * time.Minute: "2 h 5 min over", -time.Hour: "",
	} {
		s.Step(1).Begun = s.Time.Add(-d)
		assert.Equal(t, want, s.OverText(s.Step(1)), d)
	}
}
