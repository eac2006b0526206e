package gates

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWithoutAClientThatChangesTheList: the update is carried out as it is allowed, and what
// the caller gives has to be of use.
func TestWithoutAClientThatChangesTheList(t *testing.T) {
	for _, way := range []state.How{state.ByShell, state.ByMCP} {
		t.Run(string(way), func(t *testing.T) {
			l := versioned(t)
			l.put(3, `{"id":"3","subject":"Publish {version}","description":"To {channel}, {version}.","activeForm":"Publishing `+
				`{version}","status":"pending","blocks":[],"blockedBy":["2"],"metadata":{"fsm":"release"}}`)
			l.Apply, l.Via = true, state.By{How: way}
			var all []string
			for _, u := range []Update{
				{Task: "2", Status: workflow.Completed},
				{Task: "1", Status: workflow.InProgress},
				{Task: "1", Status: workflow.Completed},
				{Task: "1", Status: workflow.Completed, Outcome: "mayor"},
				{Task: "1", Status: workflow.Completed, Outcome: "major"},
				{Task: "1", Status: workflow.Completed, Outcome: "major"},
				{Task: "1", Status: workflow.Completed, Outcome: "minor"},
				{Task: "1", Status: workflow.InProgress},
				{Task: "2", Status: workflow.Completed},
				{Task: "2", Status: workflow.Completed, Outcome: "again"},
				{Task: "1", Status: workflow.Completed, Outcome: "minor"},
				{Task: "2", Status: workflow.Completed, Outcome: "done", Values: jsontext.Value(`{"version": "1", "channel": "beta"}`)},
				{Task: "2", Status: workflow.Completed, Outcome: "done", Values: jsontext.Value(`{"version": "1"}`)},
				{Task: "2", Status: workflow.Completed, Values: jsontext.Value(`{"version": "2"}`)},
				{Task: "3", Status: workflow.Completed},
			} {
				if u.Values != nil {
					l.write("v/1.txt", "x") // not before the loop: it has to be new
					l.write("notes/1/a.md", "x")
				}
				v := l.Update(t.Context(), u)
				require.Empty(t, v.Trouble)
				text := string(v.Decision) + " " + strings.Split(v.Reason, ".\nA person")[0]
				if v.Turn != nil {
					text += "turn: " + v.Turn.Text
				}
				all = append(all, text+"; "+l.file(1, "status")+" "+l.file(2, "status")+" "+l.file(3, "status"))
			}
			want := `
deny #2 "Write the version" cannot be completed: #1 "Choose" must be done first. Ready now: #1 "Choose"; pending pending pending
allow ; in_progress pending pending
deny #1 "Choose" cannot be completed: say how it ends. Complete it with --outcome major, or with minor.; in_progress pending pending
deny #1 "Choose" cannot be completed: it cannot end as "mayor". Complete it with --outcome major, or with minor.; in_progress pending pending
allow ; completed pending pending
allow ; completed pending pending
deny #1 "Choose" ended as major and is done. A person can open it again in a terminal: fsmtx step reopen 1 --because "..." --session s1; completed pending pending
deny #1 "Choose" ended as major and is done. A person can open it again in a terminal: fsmtx step reopen 1 --because "..." --session s1; completed pending pending
deny #2 "Write the version" cannot be completed: it has to give version, which matches ^[0-9.]+$; it has to give channel, which is beta or stable. Complete it with --set version=TEXT --set channel=TEXT; completed pending pending
allow turn: Write the version: again, time 1 of 3. #1 "Choose" and #2 "Write the version" are open again. Ready: #1 "Choose": How to do 1.; pending pending pending
allow ; completed pending pending
allow ; completed completed pending
allow ; completed completed pending
deny #2 "Write the version" ended as done and is done. A person can open it again in a terminal: fsmtx step reopen 2 --because "..." --session s1; completed completed pending
ask Is 1 out?
(Yes completes the step #3 "Publish 1" of release.); completed completed pending`
			if way == state.ByMCP {
				want = strings.NewReplacer("--outcome major", `outcome "major"`, "--set version=TEXT --set channel=TEXT",
					`values {"version": "…", "channel": "…"}`).Replace(want)
			}
			assert.Equal(t, want, "\n"+strings.Join(all, "\n"))
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
	l := hydrated(t, workflow.Step{Subject: "Build"}, workflow.Step{Subject: "Test"})
	for _, u := range []Update{{Outcome: "ok"}, {Values: jsontext.Value(`{"a": "1"}`)}} {
		for _, apply := range []bool{true, false} {
			want := map[bool]state.Decision{true: state.Deny, false: state.Allow}[apply]
			if l.Apply = apply; !apply {
				u = Update{Metadata: jsontext.Value(`{"a": "1"}`)}
			}
			u.Task, u.Status = "1", workflow.Completed
			v := l.Update(t.Context(), u)
			assert.Equal(t, want, v.Decision, "%+v", v)
			assert.NotContains(t, v.Reason, "A person can go past this")
			if apply {
				assert.Contains(t, v.Reason, map[bool]string{true: "has no outcomes. Leave the outcome out",
					false: "it sets no values"}[u.Outcome != ""])
			}
		}
	}
	assert.Equal(t, workflow.Pending, l.file(1, "status"))
}

// TestWithoutTheLockNothingIsCarriedOut: the caller is told why, and that it is not the gates.
func TestWithoutTheLockNothingIsCarriedOut(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Build"})
	l.Apply, l.List.Wait = true, time.Millisecond
	dir, err := l.List.Open(t.Context())
	require.NoError(t, err)
	v := l.ask(1, workflow.InProgress)
	require.NoError(t, dir.Close())
	l.List.Wait = 5 * time.Second
	assert.Equal(t, state.Deny, v.Decision)
	assert.True(t, v.Undecided(), "%+v", v)
	assert.Contains(t, v.Reason, "the steps of the task list "+l.List.Dir+" are not enforced: ")
	assert.Equal(t, workflow.Pending, l.file(1, "status"))
	assert.Empty(t, l.state().Evidence)
	v = l.ask(9, workflow.InProgress)
	assert.True(t, v.Allowed() && !v.Undecided())
	assert.True(t, l.ask(1, workflow.InProgress).Allowed())
	assert.Equal(t, workflow.InProgress, l.file(1, "status"))
	assert.False(t, l.ask(1, workflow.Deleted).Undecided(), "that is a rule")
}

// TestCommandsNameTheList: unless a person finds it without.
func TestCommandsNameTheList(t *testing.T) {
	l := hydrated(t, workflow.Step{Subject: "Build"}, workflow.Step{Subject: "Test", BlockedBy: []int64{1}})
	for unnamed, flag := range map[bool]string{false: " --session s1", true: ""} {
		l.Unnamed, l.Session = func() bool { return unnamed }, fmt.Sprint(unnamed) // each session is told once
		assert.Contains(t, l.denies(2, workflow.InProgress), `step skip 1 --because "..."`+flag+" (or:")
		assert.Equal(t, `fsmtx step end 1 --because "..."`+flag, l.EndCommand(l.state().Step(1)))
	}
	for dir, flag := range map[string]string{"/c/tasks/s1": " --session s1", "/d/fsmtx/tasks/p-1": " --list p-1",
		"/fsmtx/x/p": " --session p"} {
		l.List.Dir, l.Unnamed = dir, nil
		assert.Equal(t, flag, l.ListFlag())
	}
}
