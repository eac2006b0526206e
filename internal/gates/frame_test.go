package gates

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/tasks"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// TestAStartThatIsRepeatedStartsNothingElse: the line about another step that it has seen is not its own.
func TestAStartThatIsRepeatedStartsNothingElse(t *testing.T) {
	l := hydrated(t, `{}`, `{"produces": ["out"]}`)
	l.Apply = true
	for _, u := range []Update{{Task: "1", Status: inProgress}, {Task: "2", Status: inProgress},
		{Task: "1", Status: completed}, {Task: "2", Status: inProgress}} {
		require.True(t, l.Update(t.Context(), u).Allowed(), "%+v", u)
	}
	assert.Equal(t, inProgress, l.file(2, "status"))
	assert.False(t, l.state().Step(2).Done())
}

// TestAnAnswerAfterATerminal: the person has completed the step in a terminal while they were asked. The agent is told so, and what
// they have decided stays on record as it is, with no refusal beside it.
func TestAnAnswerAfterATerminal(t *testing.T) {
	l := hydrated(t, `{"approval": "Good?"}`)
	l.begin(1)
	require.Equal(t, state.Ask, l.do(1, completed).Decision)
	tty := "pts/1"
	_, err := l.GoPast(t.Context(), Past{Step: 1, Done: true, Because: "so"},
		state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty})
	require.NoError(t, err)
	before := len(l.state().Evidence)
	v := l.Answered(t.Context(), Update{Task: "1", Status: completed}, true, state.ByQuestion)
	require.Equal(t, state.Deny, v.Decision)
	require.Contains(t, v.Reason, "is done already: a person has said so in a terminal, before this question was answered. Go on")
	require.Len(t, l.state().Evidence, before)
}

// TestAStepThatIsNotInTheListAnyMore: its workflow was done, the client has removed its tasks, and another one has come. Nothing is
// decided about it, with and without the lock, and an answer about it is no answer.
func TestAStepThatIsNotInTheListAnyMore(t *testing.T) {
	l := hydrated(t, `{}`)
	l.ended(1)
	l.remove(1)
	l.nest(workflow.Workflow{Command: "other"}, `{"id": 11}`)
	update := Update{Task: "1", Status: completed}
	assert.Equal(t, state.Deny, l.Answered(t.Context(), update, true, state.ByQuestion).Decision)
	assert.True(t, l.Update(t.Context(), update).Allowed())
	dir, err := l.List.Open(t.Context())
	require.NoError(t, err)
	defer dir.Close()
	l.List.Wait = time.Millisecond
	assert.True(t, l.Update(t.Context(), update).Allowed(), "locked")
}

func TestWhoDecided(t *testing.T) {
	failed, passed := &state.Result{Exit: 7}, &state.Result{}
	tty := "/dev/pts/7"
	by := func(who state.Who, how state.How) state.By { return state.By{Who: who, How: how} }
	person, mcp := state.By{Who: state.ThePerson, How: state.AtTerminal, TTY: &tty}, by("", state.ByMCP)
	for name, c := range map[string]struct {
		verdict Verdict
		via     state.By
		seen    bool // it was completed past the hooks
		want    state.By
	}{
		"it is carried out":      {Verdict{Decision: state.Allow}, state.By{}, false, by(state.TheAgent, state.ByUpdate)},
		"after its check passed": {Verdict{Decision: state.Allow, Check: passed}, mcp, false, by(state.TheAgent, state.ByMCP)},
		"a person":               {Verdict{Decision: state.Allow}, person, false, person},
		"it is denied to a person": {Verdict{Decision: state.Deny}, person, false,
			state.By{Who: state.Fsmtx, How: state.AtTerminal, TTY: &tty}},
		"a question":                 {Verdict{Decision: state.Ask}, state.By{}, false, by(state.TheAgent, state.ByUpdate)},
		"its answer":                 {Verdict{answer: state.ByElicitation}, mcp, false, by(state.ThePerson, state.ByElicitation)},
		"a rule":                     {Verdict{Decision: state.Deny}, state.By{}, false, by(state.Fsmtx, state.ByUpdate)},
		"although its check passed":  {Verdict{Decision: state.Deny, Check: passed}, mcp, false, by(state.Fsmtx, state.ByMCP)},
		"its check fails":            {Verdict{Decision: state.Deny, Check: failed}, mcp, false, by(state.TheCommand, state.ByMCP)},
		"seen":                       {Verdict{}, state.By{}, true, by(state.Fsmtx, state.ByUpdate)},
		"seen, and its check fails":  {Verdict{Decision: state.Deny, Check: failed}, mcp, true, by(state.TheCommand, state.ByMCP)},
		"seen, and its check passes": {Verdict{Check: passed}, mcp, true, by(state.TheCommand, state.ByMCP)},
	} {
		f := &Frame{Store: state.Store{Session: "s1"}, Via: c.via}
		decides := f.by
		if c.seen {
			decides = f.seenBy
		}
		c.want.Session, c.want.Agent = "s1", "helper"
		assert.Equal(t, c.want, decides(Update{Agent: "helper"}, c.verdict), name)
	}
}

// TestAnAnswerToAQuestionThatIsOutOfDate: a yes counts for the update that the person was
// asked about, and for the step as it was then.
func TestAnAnswerToAQuestionThatIsOutOfDate(t *testing.T) {
	asked := func(to string, v state.Decision, from string) *state.State {
		return stateFrom(ago(stateOf(stepLine{id: 1, status: inProgress}), 0, 1, to, v), from)
	}
	for name, c := range map[string]struct {
		s  *state.State
		ok bool
	}{
		"as it was":                  {asked(completed, state.Ask, inProgress), true},
		"nobody was asked":           {stateOf(stepLine{id: 1, status: inProgress}), false},
		"it was let through since":   {asked(completed, state.Allow, inProgress), false},
		"asked about another status": {asked(inProgress, state.Ask, inProgress), false},
		"its status is another now":  {asked(completed, state.Ask, pending), false},
		"another step was asked about": {stateFrom(ago(stateOf(stepLine{id: 1, status: inProgress}, stepLine{id: 2}), 0, 2, completed,
			state.Ask), inProgress), false},
	} {
		v := answered(c.s, c.s.Step(1), Update{Status: completed}, true, state.ByElicitation)
		assert.Equal(t, c.ok, v.Allowed(), "%s: %s", name, v.Why)
		if !c.ok {
			assert.Contains(t, v.Reason, "has changed since the person was asked. Complete it again", name)
		}
	}
	s := asked(completed, state.Ask, inProgress)
	assert.Contains(t, answered(s, s.Step(1), Update{Status: completed}, false, state.ByElicitation).Reason, "Ask them what is missing")
}

// TestUpdatesWithoutAGate: each reason for which no gate applies is enough by itself, and only for this update.
func TestUpdatesWithoutAGate(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"blockedBy": [1]}`)
	l.remove(3)
	for _, status := range []string{pending, inProgress, completed} {
		assert.Equal(t, "no gate applies", l.ask(3, status).Why, "it is gone")
	}
	l.set(2, inProgress)
	assert.True(t, l.ask(2, pending).Allowed(), "back to pending")
	assert.False(t, l.ask(2, completed).Allowed())
	l.allows(1, completed)
	l.allows(2, completed)
	l.set(1, pending)
	assert.True(t, l.ask(2, completed).Allowed(), "it is done already")
	assert.False(t, l.ask(2, inProgress).Allowed(), "it would be open again, after a step that is not done")
}

// TestRedo: what the list shows is put on record, and how a step ended that needs no gate.
func TestRedo(t *testing.T) {
	for _, c := range []struct {
		step string
		ask  bool
		want state.Decision
	}{
		{`{"check": "true"}`, true, state.Reached},
		{`{}`, false, state.SeenDone},
		{`{"outcomes": ["ok"]}`, false, state.SeenDone},
	} {
		l := hydrated(t, c.step)
		if c.ask {
			require.True(t, l.ask(1, completed).Allowed())
		}
		l.set(1, completed)
		l.redo()
		require.Equal(t, []any{c.want, ""}, []any{l.lastLine().Verdict, l.lastLine().By.Agent}, c.step)
		held, err := l.List.Open(t.Context())
		require.NoError(t, err)
		impatient := l.beside()
		impatient.List.Wait = time.Millisecond
		impatient.redo() // nothing is left to do, so it takes no lock
		held.Close()
	}
}

// TestAStepThatWasStartedIsNotCompletedUnseen: the decision that let it start does not count
// for its completion.
func TestAStepThatWasStartedIsNotCompletedUnseen(t *testing.T) {
	l := hydrated(t, `{"approval": "Good?"}`, `{"check": "exit 1"}`)
	for id := range int64(2) {
		l.begin(id + 1)
		v := l.Completed(t.Context(), Update{Task: message.Itoa(id + 1), Status: completed})
		assert.Equal(t, state.Deny, v.Decision, "%+v", v)
	}
}

// TestWhoIsOnRecord: what a hook may have said for a person, a hook that came later, and an update that no hook has seen.
func TestWhoIsOnRecord(t *testing.T) {
	l := newList(t)
	l.nest(workflow.Workflow{Command: "release", Answerers: []string{"old"}}, `{"subject": "Publish", "approval": "Good?"}`, `{}`,
		`{"check": "true"}`)
	hooks := func(sum string) func() []state.Answerer {
		return func() []state.Answerer { return []state.Answerer{{Name: "a hook of the project", Sum: sum}} }
	}
	done := func() Verdict {
		require.Equal(t, state.Ask, l.ask(1, completed).Decision)
		return l.Completed(t.Context(), Update{Task: "1", Status: completed})
	}
	l.Answerers = hooks("new")
	require.Contains(t, done().Reason, "a hook of the project")
	require.Equal(t, []any{state.Deny, state.TheCommand, "a new hook may have answered for a person"},
		[]any{l.lastLine().Verdict, l.lastLine().By.Who, l.lastLine().Why})
	l.Answerers = hooks("old")
	require.True(t, done().Allowed())
	require.Equal(t, "a person said yes, or a hook of the project did for them", l.lastLine().Why)
	l.Unseen = func() bool { return true }
	l.begin(2)
	require.Equal(t, []any{state.ByShell, []state.Gap{state.Unseen}}, []any{l.lastLine().By.How, l.lastLine().Gaps})
	l.Unseen, l.Forged = nil, func() bool { return true }
	l.begin(3)
	require.Equal(t, state.ByUpdate, l.lastLine().By.How)
	l.allows(3, completed)
	require.Equal(t, state.ByShell, l.lastLine().By.How, "the agent has had its check run")
}

// TestATaskThatCannotBeRead counts as pending: so its gates apply.
func TestATaskThatCannotBeRead(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`)
	l.put(1, `{"id":"1","status":"done"}`)
	assert.Contains(t, l.denies(2, inProgress), "must be done first")
	l.remove(1)
	require.NoError(t, os.Mkdir(l.path(1), 0o700))
	s := l.state()
	assert.Equal(t, []any{pending, false, 1}, []any{s.Step(1).Status, s.Step(1).Gone(), len(s.Troubles)})
}

// TestAnsweredAppliesAYesOnce: to the step that was asked about; a task that is not a step
// needs no answer, and without the record nothing is let through.
func TestAnsweredAppliesAYesOnce(t *testing.T) {
	l := hydrated(t, `{"approval": "Good?"}`)
	answer := func(id int64) Verdict {
		return l.Answered(t.Context(), Update{Task: message.Itoa(id), Status: completed}, true, state.ByElicitation)
	}
	assert.True(t, answer(99).Allowed(), "it is not a step")
	assert.False(t, answer(1).Allowed(), "nobody was asked")
	require.Equal(t, state.Ask, l.ask(1, completed).Decision)
	assert.True(t, answer(1).Allowed())
	assert.Equal(t, state.Allow, l.lastLine().Verdict)
	assert.False(t, answer(1).Allowed(), "the answer is used up")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, silent(l.Answered(ctx, Update{Task: "1", Status: completed}, true, state.ByElicitation)))
}

// TestWhatAStepNeedsIsNotAskedForAtItsEnd, nor when it is started again: files that were there at the start may be used up.
func TestWhatAStepNeedsIsNotAskedForAtItsEnd(t *testing.T) {
	for name, outcomes := range map[string]string{"no outcomes": `null`, "outcomes": `{"again": {"back": 1, "max": 2}}`} {
		l := hydrated(t, `{"ready": ["in"], "outcomes": `+outcomes+`}`, `{"blockedBy": [1]}`)
		require.Contains(t, l.denies(1, inProgress), "in", name)
		l.denies(1, completed)
		l.write("in", "x")
		l.begin(1)
		require.NoError(t, os.Remove(filepath.Join(l.project, "in")))
		l.begin(1)
		l.allows(1, completed)
	}
}

// TestWithoutAClientThatChangesTheList: the update is carried out as it is allowed, and what
// the caller gives has to be of use.
func TestWithoutAClientThatChangesTheList(t *testing.T) {
	for _, way := range []state.How{state.ByShell, state.ByMCP} {
		t.Run(string(way), func(t *testing.T) {
			l := versioned(t)
			l.Apply, l.Via = true, state.By{How: way}
			var all []string
			for _, u := range []Update{
				{Task: "2", Status: completed},
				{Task: "1", Status: inProgress},
				{Task: "1", Status: completed},
				{Task: "1", Status: completed, Outcome: "mayor"},
				{Task: "1", Status: completed, Outcome: "major"},
				{Task: "1", Status: completed, Outcome: "major"},
				{Task: "1", Status: completed, Outcome: "minor"},
				{Task: "1", Status: inProgress},
				{Task: "2", Status: completed},
				{Task: "2", Status: completed, Outcome: "again"},
				{Task: "1", Status: completed, Outcome: "minor"},
				{Task: "2", Status: completed, Outcome: "done", Values: jsontext.Value(`{"version": "1", "channel": "beta"}`)},
				{Task: "2", Status: completed, Outcome: "done", Values: jsontext.Value(`{"version": "1"}`)},
				{Task: "2", Status: completed, Values: jsontext.Value(`{"version": "2"}`)},
				{Task: "3", Status: completed},
			} {
				if u.Values != nil {
					l.write("v/1.txt", "x") // not before the loop: it has to be new
					l.write("notes/1/a.md", "x")
				}
				v := l.Update(t.Context(), u)
				require.Empty(t, v.Trouble)
				text := string(v.Decision) + " " + strings.Split(v.Reason, ".\nA person")[0]
				if v.Turn != nil {
					text += "turn: " + string(v.Turn.Text)
				}
				all = append(all, text+"; "+l.file(1, "status")+" "+l.file(2, "status")+" "+l.file(3, "status"))
			}
			text := strings.Join(all, "\n") + "\n"
			if way == state.ByMCP {
				text = strings.NewReplacer(`outcome "major"`, "--outcome major", `values {"version": "…", "channel": "…"}`,
					"--set version=TEXT --set channel=TEXT").Replace(text)
			}
			golden(t, "served.txt", text)
		})
	}
}

// TestHowToSayIt: an outcome, values or both, by each way.
func TestHowToSayIt(t *testing.T) {
	for how, want := range map[state.How]string{
		state.ByShell:    "|--outcome o|--set a=TEXT|--outcome o --set a=TEXT --set b=TEXT",
		state.AtTerminal: "|--outcome o|--set a=TEXT|--outcome o --set a=TEXT --set b=TEXT",
		state.ByMCP:      `|outcome "o"|values {"a": "…"}|outcome "o" and values {"a": "…", "b": "…"}`,
		state.ByUpdate:   `metadata {}|metadata {"outcome": "o"}|metadata {"a": "…"}|metadata {"outcome": "o", "a": "…", "b": "…"}`,
	} {
		assert.Equal(t, want, strings.Join([]string{Say(how, ""), Say(how, "o"), Say(how, "", "a"), Say(how, "o", "a", "b")}, "|"), how)
	}
}

// TestWhatIsOfNoUseIsRefused: a caller that is told that the step is done would take the rest for
// heard. In the client's list a value may be metadata of another purpose.
func TestWhatIsOfNoUseIsRefused(t *testing.T) {
	l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Test"}`)
	values := jsontext.Value(`{"a": "1"}`)
	for want, u := range map[string]Update{"has no outcomes. Leave the outcome out": {Outcome: "ok"},
		"it sets no values. Leave the others out": {Values: values}, "": {Metadata: values}} {
		u.Task, u.Status, l.Apply = "1", completed, want != ""
		v := l.Update(t.Context(), u)
		assert.Equal(t, want == "", v.Allowed(), "%+v", v)
		assert.Contains(t, v.Reason, want)
		assert.NotContains(t, v.Reason, "A person can go past this")
		assert.Equal(t, pending, l.file(1, "status"))
	}
}

// TestWithoutTheLockNothingIsCarriedOut: the caller is told why, and that it is not the gates.
func TestWithoutTheLockNothingIsCarriedOut(t *testing.T) {
	l := hydrated(t, `{"subject": "Build"}`)
	l.Apply, l.List.Wait = true, time.Millisecond
	dir, err := l.List.Open(t.Context())
	require.NoError(t, err)
	v := l.ask(1, inProgress)
	require.NoError(t, dir.Close())
	l.List.Wait = 5 * time.Second
	assert.Equal(t, state.Deny, v.Decision)
	assert.True(t, v.Undecided(), "%+v", v)
	assert.Regexp(t, "^the task list is busy, so nothing was changed: .* Try again.?$", v.Reason)
	assert.Equal(t, pending, l.file(1, "status"))
	assert.Empty(t, l.state().Evidence)
	v = l.ask(9, inProgress)
	assert.True(t, v.Allowed() && !v.Undecided())
	assert.True(t, l.ask(1, inProgress).Allowed())
	assert.Equal(t, inProgress, l.file(1, "status"))
	assert.False(t, l.ask(1, workflow.Deleted).Undecided(), "that is a rule")
}

// TestCommandsNameTheList by the name that a person uses for it.
func TestCommandsNameTheList(t *testing.T) {
	l := hydrated(t, `{"subject": "Build"}`, `{"subject": "Test", "blockedBy": [1]}`)
	for _, name := range []string{"9bd5", "team"} {
		l.ListName, l.Session = func() string { return name }, name // each session is told once
		flag := " --list " + name
		assert.Contains(t, l.denies(2, inProgress), `step skip 1 --because "..."`+flag+" (or done")
		assert.Equal(t, `fsmtx step end 1 --because "..."`+flag, l.EndCommand(l.state().Step(1)))
		assert.Contains(t, l.denies(1, workflow.Deleted), `they can skip it with fsmtx step skip 1 --because "..."`+flag+
			` (or done instead of skip), and end its whole workflow with fsmtx step end 1 --because "..."`+flag)
	}
	l.ListName = nil
	assert.Equal(t, " --list "+filepath.Base(l.List.Dir), l.ListFlag())
}

// TestWhatDecisionsAreAbout: subjects have the values of their time, also in the copies of a step, and what
// another program completed is a decision, too.
func TestWhatDecisionsAreAbout(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "vars": {"goal": "g"}, "steps": [
 {"id": 1, "subject": "Name {goal} {round}", "set": {"v": "^.$"}, "outcomes": {"again": {"back": 1, "max": 1}, "ok": {}}},
 {"id": 2, "subject": "Do {v}", "blockedBy": [1], "each": {"lines": "lines"}, "do": [{"id": 1, "subject": "{item} of {v}, {goal}"}]}]}`,
		"lines", "a\n")
	require.NotNil(t, l.end(1, "again").Turn)
	l.gives(1, `{"outcome":"ok","v":"x"}`)
	l.begin(2)
	l.set(3, completed)
	l.seen()
	none, troubles, err := (&state.Store{List: tasks.List{Dir: t.TempDir()}}).Decided()
	require.Equal(t, []any{nil, 0, 0}, []any{err, len(troubles), len(none)})
	require.Equal(t, "allow Name g 1: again, time 1 of 1, allow Name g 2: ok, expand Do x: 1 item, allow Do x: , "+
		"seen a of x, g: it was completed past the hooks", l.decided())
}

// TestTornLinesAreSkipped: the next one is on a line of its own.
func TestTornLinesAreSkipped(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	l.allows(1, completed)
	data, err := os.ReadFile(l.stateFile(state.EvidenceFile))
	require.NoError(t, err)
	data = append(data, `{"sum":"0a1b2c3d","time":"2026-01-02T03:04:05Z","step":2,"to":"comp`...)
	require.NoError(t, os.WriteFile(l.stateFile(state.EvidenceFile), data, 0o600))
	require.Len(t, l.state().Evidence, 1)
	l.allows(2, completed)
	require.Len(t, l.state().Evidence, 3)
	require.Equal(t, 2, l.state().Count().Done)
}

// After a loss of evidence the check runs again, and the order still holds.
func TestLostEvidence(t *testing.T) {
	l := hydrated(t, `{"check": "echo x >> ran"}`, `{"blockedBy": [1]}`)
	l.allows(1, completed)
	require.NoError(t, os.Remove(l.stateFile(state.EvidenceFile)))
	require.False(t, l.state().Step(1).Done())
	l.begin(2)
	ran, err := os.ReadFile(filepath.Join(l.project, "ran"))
	require.NoError(t, err)
	require.Equal(t, "x\nx\n", string(ran))
}

// TestTheLiveSteps of a list are those whose files a hydration has created and no transaction has deleted or undone.
func TestTheLiveSteps(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	live := func(want ...int64) (history []txn.Entry) {
		t.Helper()
		var got []int64
		for _, c := range l.state().Steps {
			got = append(got, c.ID)
		}
		require.Equal(t, want, got)
		history, err := txn.ReadHistory(l.List.Dir)
		require.NoError(t, err)
		return history
	}
	undo := func(e txn.Entry) string {
		label := fmt.Sprintf(`{"undo":%q}`, e.ID)
		require.Equal(t, e.ID, tasks.Undoes(label))
		return label
	}
	live(1, 2)
	l.hydrate(`{"id": 3}`)
	live(1, 2, 3)
	l.commit(txn.Change{Label: `{"command":"release"}`, Deletes: []string{"1.json"}})
	all := live(2, 3)
	l.commit(txn.Change{Label: undo(all[2]), Restores: []txn.Restore{{ID: all[2].ID, Name: "1.json"}}})
	live(1, 2, 3)
	l.commit(txn.Change{Label: undo(all[1]), Deletes: []string{"3.json"}})
	live(1, 2)

	// An undo that keeps a task, because it was changed, leaves that step in force, and a person can go past it.
	l.hydrate(`{"id": 7, "produces": ["out"]}`, `{"id": 8, "blockedBy": [7], "produces": ["out"]}`)
	all = live(1, 2, 7, 8)
	l.commit(txn.Change{Label: undo(all[len(all)-1]), Deletes: []string{"7.json"}})
	live(1, 2, 8)
	require.Contains(t, l.denies(8, completed), "it needs out")
	l.skip(8)
}

// A record that cannot be read concerns the tasks that it is about, and no others. Of those
// the order is known from the list.
func TestARecordOfAnotherVersionIsTrouble(t *testing.T) {
	l := hydrated(t, `{"approval": "Yes?"}`)
	l.commit(txn.Change{Label: "x", Record: `{"version":9,"dir":"/"}`, Creates: []txn.File{
		{Name: "5.json", Data: []byte(taskText("5", "Five", pending, `[]`)), Mode: 0o644},
		{Name: "6.json", Data: []byte(taskText("6", "Six", pending, `["5"]`)), Mode: 0o644},
	}})
	v := l.ask(1, completed)
	require.Equal(t, state.Ask, v.Decision)
	require.Contains(t, v.Trouble, "recorded by another version", "what is under the step may be unknown")
	require.Empty(t, l.ask(1, completed).Trouble, "it is about other steps, and was told in this session")
	require.Contains(t, l.denies(6, inProgress), `#6 "Six" cannot be started: #5 "Five" must be done first`)
	require.Contains(t, l.denies(5, workflow.Deleted), "stays in the list")
	v = l.do(5, completed)
	require.True(t, v.Allowed())
	require.Contains(t, v.Trouble, "so only the order of its steps is enforced: the workflow was recorded by another version of "+
		"fsmtx: version 9, want 7")
	v = l.do(6, inProgress)
	require.True(t, v.Allowed())
	require.NotEmpty(t, v.Trouble, "until it is mended")
	require.Len(t, l.state().Troubles, 1)
}

func TestAReopenedStepIsNotDone(t *testing.T) {
	l := hydrated(t, `{"produces": ["out"]}`, `{"blockedBy": [1]}`)
	l.write("out", "x")
	l.allows(1, completed)
	l.allows(1, completed)
	require.Len(t, l.state().Evidence, 2, "nothing changes")
	require.Contains(t, l.denies(1, pending), "A person can open it again")
	l.reopen(1)
	l.denies(2, inProgress)
	require.NoError(t, os.Remove(filepath.Join(l.project, "out")))
	l.set(1, completed) // without an update
	require.False(t, l.state().Step(1).Done())
	l.denies(2, completed)
}

func TestAListWithoutWorkflow(t *testing.T) {
	l := newList(t)
	require.Equal(t, Verdict{}, l.ask(1, workflow.Deleted))
	require.Equal(t, Verdict{}, l.Completed(t.Context(), Update{Task: "1", Status: completed}))
	require.Equal(t, Verdict{}, l.Edit(l.path(1), "/"))
	agent, person := l.stops(Stopping{Mode: Hold})
	require.Empty(t, agent+person+l.resumes())
	require.NoDirExists(t, filepath.Dir(l.List.Dir))
}

// TestAnOverrideOfSeveralStepsKeepsWhatIsOnRecord: every denial, and what is on record of another workflow.
func TestAnOverrideOfSeveralStepsKeepsWhatIsOnRecord(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"blockedBy": [2]}`)
	for range 2 * state.MaxRepeats {
		l.denies(3, inProgress)
	}
	lines := func() int {
		data, err := os.ReadFile(l.stateFile("steps.jsonl"))
		require.NoError(t, err)
		return strings.Count(string(data), "\n")
	}
	before := lines()
	l.past(Past{Step: 2, WithBlockers: true})
	assert.Equal(t, before+2, lines())
}

// unread damages the record of the list, and returns what puts it right again.
func (l *list) unread() (right func()) {
	l.t.Helper()
	found, err := filepath.Glob(l.stateFile("done-*"))
	require.NoError(l.t, err)
	require.Len(l.t, found, 1)
	whole, err := os.ReadFile(found[0])
	require.NoError(l.t, err)
	require.NoError(l.t, os.WriteFile(found[0], []byte("damaged"), 0o600))
	return func() { require.NoError(l.t, os.WriteFile(found[0], whole, 0o600)) }
}

// TestGatesAreEvaluatedOnceTheRecordCanBeRead: what was let through without a look at them is completed past the hooks.
func TestGatesAreEvaluatedOnceTheRecordCanBeRead(t *testing.T) {
	for name, outcomes := range map[string]string{"of an array": `null`, "with outcomes": `{"failed": {"back": 1, "max": 3}}`} {
		l := hydrated(t, `{"check": "false", "outcomes": `+outcomes+`}`, `{"blockedBy": [1]}`, `{}`)
		right := l.unread()
		l.Apply = true
		require.Equal(t, state.Deny, l.Update(t.Context(), Update{Task: "3", Status: completed, Outcome: "done"}).Decision, name)
		require.Equal(t, pending, l.file(3, "status"), "only the record says what an outcome leads to")
		require.NotEmpty(t, l.ask(3, completed).Trouble, name)
		require.Equal(t, completed, l.file(3, "status"), name)
		l.Apply = false
		require.NotEmpty(t, l.do(1, completed).Trouble, name)
		require.True(t, l.state().Step(1).Done(), "the list is believed meanwhile")
		right()
		require.False(t, l.state().Step(1).Done(), name)
		require.Equal(t, state.Deny, l.ask(2, inProgress).Decision, name)
	}
}

// TestAPersonGoesPastWithoutARecord: the list shows their word at once, also where its steps wait for one another.
func TestAPersonGoesPastWithoutARecord(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1, 3]}`, `{"blockedBy": [2]}`, `{}`)
	l.rewrite(2, `{"status": "pending", "blockedBy": ["3"]}`)
	l.rewrite(3, `{"status": "pending", "blockedBy": ["2"]}`)
	l.unread()
	_, err := l.GoPast(t.Context(), Past{Step: 3, Because: "x"}, state.By{})
	require.ErrorIs(t, err, errBlocked)
	l.past(Past{Step: 3, WithBlockers: true})
	l.past(Past{Step: 1, Done: true})
	for id := range int64(3) {
		require.Equal(t, completed, l.file(id+1, "status"))
		require.True(t, l.state().Step(id+1).Done())
	}
	_, err = l.Reopen(t.Context(), 1, "x", state.By{})
	require.ErrorIs(t, err, errUnread)
	s, err := l.End(t.Context(), 4, "x", state.By{})
	require.NoError(t, err)
	require.False(t, s.HasOpen())
	require.Equal(t, pending, l.file(4, "status"))
}

// TestStepsThatAreGone: what was done or is not needed may go, as when the client removes the tasks of a list.
func TestStepsThatAreGone(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Choose", "outcomes": ["x", "y"]}, {"id": 2, "subject": "Do x", `+
		`"when": {"1": "x"}},
		{"id": 3, "subject": "Do y", "when": {"1": "y"}}, {"id": 4, "subject": "Begun", "status": "completed"}]}`)
	l.end(1, "y")
	for _, id := range ids(1, 2, 4) {
		l.remove(id)
	}
	s := l.state()
	assert.True(t, s.Step(2).NotNeeded)
	assert.Empty(t, s.Missing())
	assert.Empty(t, s.Troubles)
	assert.True(t, s.HasOpen())

	l.put(1, "{}")
	l.remove(3)
	s = l.state()
	assert.Equal(t, []*state.Current{s.Step(3)}, s.Missing())
	assert.Len(t, s.Troubles, 1)
	assert.Equal(t, 2, s.Count().Done, "that a file is gone does not show that the step was done")
	assert.False(t, s.HasOpen())
	l.remove(1)
	s = l.state()
	assert.Empty(t, s.Troubles, "nothing is left to enforce")
	assert.Equal(t, state.Count{Done: 2, Skipped: 1, Gone: 1, NotNeeded: 1}, s.Count())
}

// While a change of the list is under way, or after the death of its process, the tasks that it deletes
// are not missing: its record is not in the history yet.
func TestAnInterruptedChangeMissesNothing(t *testing.T) {
	l := hydrated(t, `{}`, `{}`, `{}`)
	died := errors.New("died")
	var dead error
	dir, err := txn.Open(t.Context(), l.List.Dir, txn.WithFS(&faultfs.Steps{FS: vfs.OS{}, Before: func(s faultfs.Step) error {
		if s.Op == "remove" && filepath.Base(s.Path) == fileName(2) {
			dead = died
		}
		return dead
	}}))
	require.NoError(t, err)
	require.ErrorIs(t, dir.Commit(t.Context(), txn.Change{Deletes: []string{fileName(1), fileName(2)}}), txn.ErrRecoveryRequired)
	_ = dir.Close()
	require.NoFileExists(t, l.path(1))
	s, err := state.Load(t.Context(), l.List.Dir)
	require.NoError(t, err)
	assert.Empty(t, s.Troubles)
	assert.Empty(t, s.Missing())
	assert.True(t, isBehind(s), "whoever may opens the list")
}

// readHook calls do once, when a record of the history has been read.
type readHook struct {
	vfs.FS
	do func()
}

func (h *readHook) ReadFile(name string) ([]byte, error) {
	data, err := h.FS.ReadFile(name)
	if do := h.do; do != nil && strings.HasPrefix(filepath.Base(name), "done-") {
		h.do = nil
		do()
	}
	return data, err
}

// A change that is committed between the two looks of a reader makes no task missing.
func TestAChangeMeanwhileMissesNothing(t *testing.T) {
	l := hydrated(t, `{}`, `{}`)
	list := tasks.List{Dir: l.List.Dir, FS: &readHook{vfs.OS{}, func() { l.commit(txn.Change{Deletes: []string{fileName(1)}}) }}}
	s, err := (&state.Store{List: list}).Now(t.Context())
	require.NoError(t, err)
	assert.Empty(t, s.Troubles)
	require.Len(t, s.Steps, 1)
}

// TestAQuestionIsNoCompletion: a step about whose approval the person was asked was not done, if it then goes.
func TestAQuestionIsNoCompletion(t *testing.T) {
	l := hydrated(t, `{"approval": "Good?"}`, `{}`)
	require.Equal(t, state.Ask, l.do(1, completed).Decision)
	l.remove(1)
	s := l.state()
	assert.Equal(t, []*state.Current{s.Step(1)}, s.Missing())
	assert.Zero(t, s.Count().Done)
}

// TestAnotherSpellingIsNoTask: TaskUpdate finds a task by its number alone.
func TestAnotherSpellingIsNoTask(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`)
	data, err := os.ReadFile(l.path(2))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(l.List.Dir, "02.json"), data, 0o644))
	for _, id := range []string{"2", "02", "+2", " 2", "0", "-2", "x", "", "../2"} {
		assert.Equal(t, id == "2", l.Update(t.Context(), Update{Task: id, Status: inProgress}).Decision == state.Deny, id)
		task, err := state.TaggedTask(l.List.Dir, id)
		assert.NoError(t, err)
		assert.Equal(t, id == "2", task != nil, id)
	}
}

// TestATaskThatTheAgentMarks: the steps of the list are enforced as before, and what is told of it does not stand for what is
// told if the record is removed.
func TestATaskThatTheAgentMarks(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`)
	l.put(7, `{"id":"7","subject":"Test","description":"","status":"pending","blocks":[],"blockedBy":[],"metadata":{"fsm":"release"}}`)
	v := l.ask(7, completed)
	assert.True(t, v.Allowed())
	assert.Contains(t, v.Trouble, `#7 "Test" is marked as a step of the workflow "release", but nothing about it is on record`)
	assert.Contains(t, v.Trouble, "so it is not enforced; the steps that are on record are.")
	assert.Empty(t, l.ask(7, completed).Trouble)
	l.denies(2, completed)

	s := state.StateDir(l.List.Dir)
	all, err := os.ReadDir(s)
	require.NoError(t, err)
	for _, e := range all {
		if e.Name() != state.SessionFile {
			require.NoError(t, os.RemoveAll(filepath.Join(s, e.Name())))
		}
	}
	assert.Contains(t, l.ask(2, completed).Trouble, "so the steps of this list are not enforced.")
}

// TestStepsChangedInAnotherWay: nothing let them through, and the state says so.
func TestStepsChangedInAnotherWay(t *testing.T) {
	l := hydrated(t, `{}`, `{"blockedBy": [1]}`, `{"blockedBy": [2], "approval": "Good?"}`, `{"status": "completed"}`)
	are := func(want ...string) {
		t.Helper()
		s, err := state.LoadNow(t.Context(), l.List.Dir)
		require.NoError(t, err)
		for i, c := range s.Steps {
			assert.Equal(t, want[i], s.Otherwise(c), c.ID)
		}
	}
	l.set(2, inProgress)
	l.set(3, completed)
	are("", "started past the hooks", "completed past the hooks", "")
	l.allows(1, completed)
	l.set(2, completed)
	are("", "completed past the hooks", "", "") // the third is unchecked
}

// decided returns the decisions that are kept with the list.
func (l *list) decided() string {
	l.t.Helper()
	read, troubles, err := l.Decided()
	require.NoError(l.t, err)
	require.Empty(l.t, troubles)
	var kept []string
	for _, r := range read {
		require.Equal(l.t, l.List.Dir, r.List)
		kept = append(kept, r.Decision+" "+r.Subject+": "+r.Why)
	}
	return strings.Join(kept, ", ")
}
