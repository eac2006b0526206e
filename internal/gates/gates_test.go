package gates

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/fsmspec"
	"github.com/fsmtx/fsmtx/internal/facts"
	"github.com/fsmtx/fsmtx/internal/machine"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// stepLine is a step of a State, as short as the tables need it.
type stepLine struct {
	id       int64
	status   string
	passed   bool
	after    []int64
	check    bool
	approval string
}

// stateOf returns a state with these steps.
func stateOf(lines ...stepLine) *state.State {
	var entries []string
	for _, l := range lines {
		members := map[string]any{"id": l.id, "subject": string(rune('A' + l.id - 1))}
		if l.check {
			members["check"] = jsontext.Value(`{"run": "make", "timeout": 600}`)
		}
		if l.approval != "" {
			members["approval"] = l.approval
		}
		entries = append(entries, q(members))
	}
	w := planned(entries...)
	s := &state.State{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for i, l := range lines {
		c := &state.Current{Workflow: &w, Status: l.status, Step: w.Steps[i]}
		c.BlockedBy = l.after
		if l.passed {
			c.Outcome = machine.Done
		}
		s.Steps = append(s.Steps, c)
	}
	return proved(s)
}

// proved gives the workflows of the state machines, with their steps in any order.
func proved(s *state.State) *state.State {
	s.Flows = map[*workflow.Workflow]machine.State{}
	for _, w := range s.Workflows() {
		var all []machine.Step
		for _, c := range s.Steps {
			if c.Workflow == w {
				all = append(all, machine.Step{ID: c.ID})
			}
		}
		if w.Machine == nil {
			w.Machine, _ = machine.New(all)
		}
		s.Flows[w] = w.Machine.Start()
	}
	return s
}

// ago adds a decision about a step that was made that long ago.
func ago(s *state.State, d time.Duration, step int64, to string, v state.Decision) *state.State {
	s.Evidence = append(s.Evidence, state.Evidence{Time: s.Time.Add(-d), Step: step, From: pending, To: to, Verdict: v})
	return s
}

// startedIn makes steps be in progress, one started after the other by the agent.
func startedIn(s *state.State, agent string, ids ...int64) *state.State {
	for _, id := range ids {
		s.Time = s.Time.Add(time.Second)
		s.Step(id).Status = inProgress
		s.Evidence = append(s.Evidence, state.Evidence{Time: s.Time, Step: id, From: pending, To: inProgress, Verdict: state.Allow, Agent: agent,
			By: state.By{Session: "s1", Agent: agent}})
	}
	return s
}

func TestAPersonIsOfferedTheStepThatComesFirst(t *testing.T) {
	first := stepLine{id: 1, status: pending}
	second := stepLine{id: 2, status: pending, after: ids(1)}
	third := stepLine{id: 3, status: pending, after: ids(2)}
	for name, c := range map[string]struct {
		s    *state.State
		want pastHint
	}{
		"one step before it":    {stateOf(first, stepLine{id: 4, status: pending, after: ids(1)}), pastHint{step: 1}},
		"the nearest one waits": {stateOf(first, second, third, stepLine{id: 4, status: pending, after: ids(3)}), pastHint{step: 1, more: true}},
		"two that wait for nothing": {stateOf(first, stepLine{id: 2, status: pending}, stepLine{id: 4, status: pending, after: ids(2, 1)}),
			pastHint{step: 2, more: true}},
		"the first of them is done": {stateOf(stepLine{id: 1, status: completed, passed: true}, second, third,
			stepLine{id: 4, status: pending, after: ids(3)}), pastHint{step: 2, more: true}},
		"all wait for one another": {stateOf(stepLine{id: 1, status: pending, after: ids(2)}, second,
			stepLine{id: 4, status: pending, after: ids(2)}), pastHint{step: 2, only: true}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, order(c.s, c.s.Step(4), Update{Status: inProgress}).past)
		})
	}
}

func TestOrder(t *testing.T) {
	done := stepLine{id: 1, status: completed, passed: true}
	open := stepLine{id: 1, status: pending}
	second := stepLine{id: 2, status: pending, after: ids(1)}
	for name, c := range map[string]struct {
		s    *state.State
		want string // empty if it is allowed
	}{
		"every blocker is done":         {stateOf(done, second), ""},
		"no blocker":                    {stateOf(open, stepLine{id: 2, status: pending}), ""},
		"a blocker is gone":             {stateOf(stepLine{id: 1}, second), ""},
		"a blocker was replaced":        {stateOf(second), ""},
		"a blocker is open":             {stateOf(open, second), `#1 "A" must be done first. Ready now: #1 "A"`},
		"a blocker is in progress":      {stateOf(stepLine{id: 1, status: inProgress}, second), `#1 "A" must be done first. In progress: #1 "A"`},
		"a blocker was not let through": {stateOf(stepLine{id: 1, status: completed}, second), `#1 "A" must be done first. Unchecked: #1 "A"`},
		"others can be worked on": {stateOf(open, second, stepLine{id: 3, status: inProgress}),
			`#1 "A" must be done first. In progress: #3 "C". Ready now: #1 "A"`},
		"after a clock was set back": {ago(stateOf(open, second), -time.Hour, 1, completed, state.Allow), `Ready now: #1 "A"`},
		"two blockers are open": {stateOf(open, stepLine{id: 2, status: pending, after: ids(1, 3)},
			stepLine{id: 3, status: pending}), `#1 "A" and #3 "C" must be done first. Ready now: #1 "A" and #3 "C"`},
		"a blocker's check is running": {&state.State{Steps: stateOf(open, second).Steps, Pending: []state.Pending{{Step: 1}}},
			`The check of #1 "A" is running in another call: wait until it ends, then try again`},
		"a blocker is about to be done": {ago(stateOf(open, second), time.Second, 1, completed, state.Allow),
			`Another update is about to complete #1 "A": try again in the next message, not in the same one`},
		"a completion was lost": {ago(stateOf(open, second), time.Hour, 1, completed, state.Allow), `Ready now: #1 "A"`},
		"a circle": {stateOf(stepLine{id: 1, status: pending, after: ids(2)}, second),
			"No step is ready, because every open step waits for another open step: only a person can go past that"},
	} {
		t.Run(name, func(t *testing.T) {
			target := c.s.Step(2)
			v := order(c.s, target, Update{Status: inProgress})
			require.Equal(t, c.want == "", v.Allowed(), v.Reason)
			require.Contains(t, v.Reason, c.want)
			if c.want != "" {
				require.Contains(t, v.Reason, `#2 "B" cannot be started: `)
				reason := order(c.s, target, Update{Status: completed}).Reason
				require.Contains(t, reason, `#2 "B" cannot be completed: `)
				require.Contains(t, reason, c.want)
			}
		})
	}
}

// TestKeep: updates of the step #2, with words of their denial, and none if they are allowed.
func TestKeep(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: inProgress}, stepLine{id: 2, status: pending, after: ids(1)})
	text := func(s string) *string { return &s }
	s.Steps[0].Description, s.Steps[1].Description = "Do it.", "Do it."
	for name, k := range map[string]struct {
		u    Update
		want string
	}{
		"a status": {Update{Status: completed}, ""},
		"a deletion": {Update{Status: workflow.Deleted},
			`#2 "B" is a step of the workflow "release" and stays in the list. Its status can become in_progress, completed or pending again`},
		"other metadata":         {Update{Metadata: []byte(`{"x": null, "f": {"fsm": null}, "_internal": false}`)}, ""},
		"the same tag":           {Update{Metadata: []byte(`{"fsm": "release"}`)}, ""},
		"no tag":                 {Update{Metadata: []byte(`{"fsm": null}`)}, `its metadata "fsm" must not change`},
		"another tag":            {Update{Metadata: []byte(`{"fsm": "other"}`)}, `its metadata "fsm" must not change`},
		"a tag that is not text": {Update{Metadata: []byte(`{"fsm": ["release"]}`)}, `its metadata "fsm" must not change`},
		"a tag, escaped":         {Update{Metadata: []byte(`{"f\u0073m": null}`)}, `its metadata "fsm" must not change`},
		"two tags":               {Update{Metadata: []byte(`{"fsm": "release", "fsm": null}`)}, `its metadata "fsm" must not change`},
		"null metadata":          {Update{Metadata: []byte(`null`)}, ""},
		"hidden": {Update{Metadata: []byte(`{"_internal": true}`)},
			`its metadata "_internal", which hides a task, cannot be set`},
		"hidden, with a status":     {Update{Status: completed, Metadata: []byte(`{"_internal": 1}`)}, `its metadata "_internal"`},
		"no longer hidden":          {Update{Metadata: []byte(`{"_internal": null}`)}, ""},
		"the same subject":          {Update{Subject: text("B"), Description: text("Do it.")}, ""},
		"another subject":           {Update{Status: inProgress, Subject: text("C")}, "so its subject must not change. Leave that out"},
		"no subject":                {Update{Subject: text("")}, "so its subject must not change"},
		"another description":       {Update{Description: text("Do nothing.")}, "so its description must not change. Leave that out"},
		"another blocker":           {Update{AddBlockedBy: []string{"99"}}, "so what it waits for must not change. Leave addBlockedBy out"},
		"a blocker that it has":     {Update{AddBlockedBy: []string{"1"}}, ""},
		"a task of the agent waits": {Update{AddBlocks: []string{"99"}}, ""},
		"another step waits":        {Update{AddBlocks: []string{"1"}}, `and so is #1 "A": what a step waits for must not change`},
		"it waits for a task of no skill": {Update{Task: "99", AddBlocks: []string{"2"}},
			"so it cannot be made to wait for another task. Leave it out of addBlocks of #99"},
	} {
		k.u.Task = cmp.Or(k.u.Task, "2")
		v := keep(s, s.Step(2), k.u)
		assert.Equal(t, k.want == "", v.Allowed(), name)
		assert.Contains(t, v.Reason, k.want, name)
		assert.Equal(t, k.want == "", v.Why == "", name)
	}
	require.True(t, keep(s, s.Step(1), Update{Task: "1", AddBlocks: []string{"2"}}).Allowed(), "the other step waits for it already")
}

func TestEdit(t *testing.T) {
	for path, allowed := range map[string]bool{
		"/c/tasks/s1/1.json": false, "/c/tasks/s1": false, "/c/tasks/s1/sub/x": false, "/c/tasks/.s1.fsmtx/steps.jsonl": false,
		"/C/Tasks/S1/1.json": false, "/c/tasks/s2/1.json": true, "/c/tasks/s11/1.json": true, "/c/tasks": true,
		"/project/tasks/s1/1.json": true, "/": true,
	} {
		require.Equal(t, allowed, edit(path, "/c/tasks/s1", "/c/tasks/.s1.fsmtx").Allowed(), path)
	}
}

// TestEditsByAnyPath: the client reads ~ as the home directory, and .. as a part of the text.
func TestEditsByAnyPath(t *testing.T) {
	l := hydrated(t, `{}`)
	t.Setenv("HOME", filepath.Dir(l.List.Dir))
	name := filepath.Base(l.List.Dir)
	require.NoError(t, os.Symlink("/", filepath.Join(l.List.Dir, "../elsewhere")))
	require.NoError(t, os.Symlink(l.List.Dir, filepath.Join(l.List.Dir, "../there")))
	for path, allowed := range map[string]bool{
		l.List.Dir + "/1.json": false, "~/" + name + "/1.json": false, name + "/1.json": false, "there/1.json": false, "x/1.json": true,
		"elsewhere/../" + name + "/1.json": false, "there/../" + name + "/1.json": false, "": true,
	} {
		v := l.Edit(path, filepath.Dir(l.List.Dir))
		require.Equal(t, allowed, v.Allowed(), path)
		require.Equal(t, !allowed, strings.Contains(v.Reason,
			"Use your tools for the task list, the tools of the workflow, or fsmtx start and fsmtx complete"))
	}
	require.True(t, l.Edit("1.json", "").Allowed())
}

func TestStop(t *testing.T) {
	one := stepLine{id: 1, status: pending}
	blocked := stepLine{id: 2, status: pending, after: ids(1)}
	working := stepLine{id: 3, status: inProgress}
	done := stepLine{id: 1, status: completed, passed: true}
	background := func(text string) Stopping { return Stopping{Background: []byte(text)} }
	for name, c := range map[string]struct {
		s    *state.State
		x    Stopping
		want []int64
	}{
		"a step is ready":             {stateOf(one, blocked), Stopping{}, ids(1)},
		"steps in progress are first": {stateOf(one, blocked, working), Stopping{}, ids(3, 1)},
		"several are ready": {stateOf(one, stepLine{id: 4, status: pending}, stepLine{id: 5, status: pending}), Stopping{},
			ids(1, 4, 5)},
		"every step is done":       {stateOf(done), Stopping{}, nil},
		"no step":                  {stateOf(), Stopping{}, nil},
		"every step is blocked":    {stateOf(stepLine{id: 1, status: pending, after: ids(2)}, blocked), Stopping{}, nil},
		"switched off":             {stateOf(one), Stopping{Mode: StopOff}, nil},
		"completed in another way": {stateOf(stepLine{id: 1, status: completed}), Stopping{}, ids(1)},
		"an agent is running":      {stateOf(one), background(`[{"id": "a", "type": "subagent", "status": "running"}]`), nil},
		"an agent has ended":       {stateOf(one), background(`[{"id": "a", "type": "subagent", "status": "completed"}]`), ids(1)},
		"a shell is running":       {stateOf(one), background(`[{"id": "a", "type": "shell", "status": "running"}]`), ids(1)},
		"a question":               {stateOf(one), Stopping{Mode: Remind, Message: "Which one?"}, nil},
		"a question, held":         {stateOf(one), Stopping{Mode: Hold, Message: "Which one?"}, ids(1)},
		"in plan mode":             {stateOf(one, working), Stopping{Mode: Remind, Planning: true}, nil},
		"in plan mode, held":       {stateOf(one), Stopping{Mode: Hold, Planning: true}, ids(1)},
		"a wake-up":                {stateOf(one), Stopping{Mode: Remind, Crons: []byte(`[{"recurring": false}]`)}, nil},
		"a wake-up, held":          {stateOf(one), Stopping{Mode: Hold, Crons: []byte(`[{"recurring": false}]`)}, ids(1)},
		"a wake-up, of a subagent": {startedIn(stateOf(working), "x", 3),
			Stopping{Mode: Remind, Agent: "x", Crons: []byte(`[{"recurring": false}]`)}, ids(3)},
		"a check is running":    {&state.State{Steps: stateOf(one).Steps, Pending: []state.Pending{{Step: 1}}}, Stopping{}, nil},
		"a person was asked":    {ago(stateOf(one), time.Hour, 1, completed, state.Ask), Stopping{}, nil},
		"a person has said yes": {ago(ago(stateOf(one), time.Hour, 1, completed, state.Ask), 0, 1, completed, state.Allow), Stopping{}, ids(1)},
		"a person has said no":  {ago(stateOf(one), 0, 1, completed, state.Declined), Stopping{}, nil},
		"denied twice":          {ago(ago(stateOf(one), 0, 1, completed, state.Deny), 0, 1, completed, state.Deny), Stopping{}, ids(1)},
		"denied three times": {ago(ago(ago(stateOf(one), 0, 1, completed, state.Deny), 0, 1, completed, state.Deny), 0, 1, completed, state.Deny),
			Stopping{}, nil},
		"a subagent that started none": {stateOf(one, working), Stopping{Agent: "x"}, nil},
		"a subagent that started one": {startedIn(stateOf(one, working), "x", 3),
			Stopping{Mode: Remind, Agent: "x", Background: []byte(`[{"id": "x", "type": "subagent", "status": "running"}]`)}, ids(3)},
		"another subagent": {startedIn(stateOf(one, working), "x", 3), Stopping{Mode: Remind, Agent: "y"}, nil},
		"a subagent in the background": {stateOf(one),
			Stopping{Agent: "a", Background: []byte(`[{"id": "a", "type": "subagent", "status": "running"}]`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ids := func(reminded string) (ids []int64) {
				for _, left := range stop(c.s, c.x, reminder{reminded, 1}) {
					ids = append(ids, left.ID)
				}
				return ids
			}
			require.Equal(t, c.want, ids(""))
			if c.x.Mode == "" {
				c.x.Mode = Remind
				require.Equal(t, c.want, ids("other progress"))
				require.Empty(t, ids(c.s.ProgressDigest()), "nothing has changed since it was sent back")
				c.x.Mode = Hold
				require.Equal(t, c.want, ids(c.s.ProgressDigest()))
			}
		})
	}
}

func TestSentBack(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: completed, passed: true}, stepLine{id: 2, status: inProgress}, stepLine{id: 3, status: pending})
	s.Steps[1].Description = "Write it."
	agent, person := sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	require.EqualValues(t, `release: 1 of 3 steps done. #2 "B" is in progress. 1 more can be done. Go on with the workflow, `+
		`or ask what only the person knows.`, agent)
	require.EqualValues(t, `release: 1 of 3 steps done: the agent was sent back to #2 "B"`, person)
	agent, _ = sentBack(s, s.Ready()[1:], Stopping{Mode: Hold}, "Ask")
	require.EqualValues(t, `release: 1 of 3 steps done. #3 "C" is ready. Go on with the workflow, or ask with Ask what only the `+
		`person knows, or let them say that it may stop.`, agent)
	s = stateOf(stepLine{id: 1, status: completed})
	agent, _ = sentBack(s, s.Ready(), Stopping{Mode: Remind}, "")
	require.Contains(t, agent, `#1 "A" is completed without passing its gates, so complete it again.`)
	agent, _ = sentBack(s, s.Ready(), Stopping{Mode: Hold}, "")
	require.Contains(t, agent, "Go on with the workflow, or let the person say that it may stop.")
	s = stateOf(stepLine{id: 1, status: completed}, stepLine{id: 2, status: pending})
	require.Len(t, stop(s, Stopping{Mode: Remind}, reminder{}), 1, "beside it no other step is let through")
}

func TestResumed(t *testing.T) {
	s := stateOf(stepLine{id: 1, status: completed, passed: true}, stepLine{id: 2, status: inProgress}, stepLine{id: 3, status: pending},
		stepLine{id: 4, status: pending}, stepLine{id: 5, status: inProgress}, stepLine{id: 6, status: pending, after: ids(2)})
	s.Steps[1].Description, s.Steps[2].Description = "Write it.", strings.Repeat("x", 5000)
	ago(s, 0, 5, completed, state.Ask)
	require.Equal(t, `The task list has an unfinished workflow (release: 1 of 6 steps done). Its steps must be done in order: a step can be `+
		`started when the steps before it are done.
In progress: #2 "B": Write it.
Ready: #3 "C": `+strings.Repeat("x", 3000)+`…
Also ready: #4 "D"
#5 "E" waits for a person.
`, resumed(s))
	require.Empty(t, resumed(stateOf(stepLine{id: 1, status: completed, passed: true})))
	require.Empty(t, resumed(stateOf()))
	unchecked := stateOf(stepLine{id: 1, status: completed}, stepLine{id: 2, status: pending})
	require.NotContains(t, resumed(unchecked), "Ready", "#1 is looked at first")
	require.Contains(t, resumed(stateOf(stepLine{id: 1, status: pending, after: ids(1)})), "only a person can go past that")
}

// TestWhatAGateSays of a step, in the evidence and to whom it concerns; nothing if it passes.
func TestWhatAGateSays(t *testing.T) {
	c := stateOf(stepLine{id: 4, status: inProgress, approval: "Publish?\nReally?"}).Steps[0]
	missing := func(names ...string) fact { return fact{dir: "/project", Sight: facts.Sight{Missing: names}} }
	link := missing("a.txt")
	link.Unfit, link.Sight.Err = []string{"link leads out of it, and does not count"}, errors.New("no permission")
	for _, g := range []struct {
		verdict     Verdict
		why, reason string
	}{
		{files(c, fsmspec.AtCompletion, missing()), "", ""},
		{files(c, fsmspec.AtStart, missing()), "", ""},
		{files(c, fsmspec.AtCompletion, missing("a.txt", "dist/*")), "missing: a.txt and dist/*",
			`#4 "D" cannot be completed: it needs a.txt and dist/*, which are missing or empty in /project`},
		{files(c, fsmspec.AtStart, missing("plan.md")), "missing before the start: plan.md",
			`#4 "D" cannot be started: it needs plan.md, which is missing or empty in /project`},
		{files(c, fsmspec.AtCompletion, link), "missing: a.txt", `#4 "D" cannot be completed: it needs a.txt, which is missing or empty ` +
			`in /project. link leads out of it, and does not count. It cannot all be read: no permission`},
		{files(c, fsmspec.AtCompletion, fact{dir: "/project", Sight: facts.Sight{Limit: "the search for * met more than 5 names"}}),
			"missing: the search for * met more than 5 names", `#4 "D" cannot be completed: the search for * met more than 5 names ` +
				`in /project. Remove what is not needed there, or tell the person that the fsm.json has to name its files more precisely`},
		{check(c, state.Result{Run: "make"}), "", ""},
		{check(c, state.Result{Run: "make test", Exit: 2, Output: "a\nb\n\n"}), "check failed: exit status 2", `#4 "D" cannot be completed: ` +
			"its check failed (exit status 2): make test\nThe end of its output:\na\nb\nFix that, then complete the step again"},
		{check(c, state.Result{Run: "x", Exit: 1}), "check failed: exit status 1", `#4 "D" cannot be completed: its check failed ` +
			"(exit status 1): x\nIt printed nothing. Fix what it checks, then complete the step again"},
		{check(c, state.Result{Run: "x", Exit: -1, Failed: "it did not end within 5m0s"}), "check failed: it did not end within 5m0s",
			`#4 "D" cannot be completed: its check failed (it did not end within 5m0s): x` +
				"\nIt printed nothing. Fix what it checks, then complete the step again"},
		{check(c, state.Result{Run: "x", Interrupted: true}), "check interrupted", // its exit 0 does not count
			`#4 "D" is not completed: its check was interrupted before it ended: x` + "\nComplete the step again to run it anew"},
		{approval(c), "approval: Publish? Really?", "Publish?\nReally?\n(Yes completes the step #4 \"D\" of release.)"},
		{unapproved(c), "completed without approval", `#4 "D" was completed without the approval that it needs. ` +
			`Set it to in_progress and complete it again, so that the person is asked`},
	} {
		require.Equal(t, []any{g.why, g.reason, g.why == ""}, []any{g.verdict.Why, g.verdict.Reason, g.verdict.Allowed()})
	}
	require.NotNil(t, check(c, state.Result{Run: "make"}).Check, "the result is kept as evidence")
	require.Equal(t, state.Ask, approval(c).Decision)
}
