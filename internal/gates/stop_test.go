package gates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
)

// TestWhoIsSentBack: only the session that called the skill, by its record or its transcript.
func TestWhoIsSentBack(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	x := Stopping{Mode: Remind}
	sent := func(session string, x Stopping) bool {
		f := *l.Frame
		f.Session = session
		agent, person, err := f.Stop(t.Context(), x)
		require.NoError(t, err)
		require.Equal(t, agent == "", person == "")
		return agent != ""
	}
	require.False(t, sent("stranger", x))
	require.True(t, sent("s1", x), "the stranger did not use up the reminder")
	require.False(t, sent("s1", x), "once for each stall")
	called := x
	called.Transcript = filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(called.Transcript,
		[]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Skill","id":"1","input":{"skill":"release"}}]}}`), 0o600))
	require.True(t, sent("second", called), "it called the skill, whose steps were in the list already")
	require.False(t, sent("second", called))

	l.allows(1, workflow.InProgress)
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
		"a part in a command": {said("<command-message>release</command-message>\n<command-name>/release</command-name>\n<command-args>only " +
			"step 1</command-args>"),
			"Done.", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}}, workflow.Step{BlockedBy: []int64{2}})
			l.allows(1, workflow.Completed)
			x := Stopping{Message: c.message, Prompt: "p", Transcript: filepath.Join(t.TempDir(), "t.jsonl")}
			require.NoError(t, os.WriteFile(x.Transcript, []byte(strings.Join(c.lines, "\n")), 0o600))
			for mode, want := range map[StopMode]bool{Hold: c.hold, Remind: c.remind} {
				require.NoError(t, l.changeReminders(t.Context(), l.reminder(x), reminder{}.String()))
				x.Mode = mode
				agent, _, err := l.Stop(t.Context(), x)
				require.NoError(t, err)
				require.Equal(t, want, agent != "", "%s: %s", mode, agent)
			}
		})
	}
}

// TestAStopIsHeardOnce: in the turns that follow there is no reminder either, until the work
// goes on.
func TestAStopIsHeardOnce(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	x := Stopping{Mode: Remind, Transcript: filepath.Join(t.TempDir(), "t.jsonl")}
	turn := func(text string) string {
		require.NoError(t, os.WriteFile(x.Transcript, []byte(fmt.Sprintf(`{"type":"user","message":{"content":%q}}`, text)), 0o600))
		agent, _, err := l.Stop(t.Context(), x)
		require.NoError(t, err)
		return agent
	}
	require.Empty(t, turn("please stop"))
	require.Empty(t, turn("what does a.go do?"))
	l.allows(1, workflow.InProgress)
	require.NotEmpty(t, turn("what does b.go do?"))
}

// TestResumeWhereAnotherSessionWorks: what is ready is in a workflow that another session has begun under
// a step of this one. Nobody has to go past anything.
func TestResumeWhereAnotherSessionWorks(t *testing.T) {
	l := nested(t)
	s := l.state()
	s.Step(11).Workflow.Session = "s2"
	text := resumed(s.Of("s1", func(string) bool { return false }))
	assert.Contains(t, text, `They wait for #11 "Collect", in what another session has begun in this list.`)
	assert.NotContains(t, text, state.NoneReady)
}

// TestWhatAStopLeftOut stays without a reason of the step that it is under.
func TestWhatAStopLeftOut(t *testing.T) {
	l := ofSpec(t, `{"fsm": 2, "steps": [{"id": 1, "subject": "Review", "do": [
		{"id": 1, "subject": "Read", "outcomes": {"ok": {}, "enough": {"stop": true}}}, {"id": 2, "subject": "Thank", "blockedBy": [1]}]}]}`)
	require.True(t, l.end(2, "enough").Allowed())
	l.seen()
	before := l.all()
	require.Contains(t, before, "Thank (not needed): completed")
	require.True(t, l.end(1, "").Allowed())
	l.seen()
	require.Equal(t, strings.Replace(before, "1 Review: pending", "1 Review: completed", 1), l.all())
}
