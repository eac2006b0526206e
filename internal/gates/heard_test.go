package gates

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/state"
	"github.com/fsmtx/fsmtx/internal/workflow"
	"github.com/fsmtx/fsmtx/txn"
)

// TestWhatIsHeardOfASession: the last prompt says whether to stop, and a limit holds until the
// person asks to go on.
func TestWhatIsHeardOfASession(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{}, workflow.Step{})
	var h Heard
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
		h = h.Hears(l.state(), c.prompt, client.DefaultWords())
		require.Equal(t, Heard{Stop: c.ends, Limit: c.limit}, h, c.prompt)
		p := h.person(l.state())
		require.Equal(t, c.ends, p.ends, c.prompt)
		require.Equal(t, c.limit != "", p.limited, c.prompt)
		require.False(t, p.asked)
	}
}

// TestHeardIsKeptBySession is written only if something changes, and is limited.
func TestHeardIsKeptBySession(t *testing.T) {
	l := hydrated(t, workflow.Step{})
	hear := func(session string, change func(Heard) Heard) {
		t.Helper()
		require.NoError(t, l.Hear(t.Context(), session, change))
	}
	heard := func(session string) Heard {
		t.Helper()
		h, err := l.Heard(session)
		require.NoError(t, err)
		return h
	}
	file := func() []byte {
		data, err := txn.ReadState(l.List.Dir, state.HeardFile)
		require.NoError(t, err)
		return data
	}
	hear("a", func(h Heard) Heard { return h })
	require.Nil(t, file(), "nothing changes")
	hear("a", func(h Heard) Heard { h.Works = true; return h })
	hear("b", func(h Heard) Heard { h.Stop = true; return h })
	hear("a", func(h Heard) Heard { h.Limit = "only step 1"; return h })
	require.Equal(t, Heard{Works: true, Limit: "only step 1"}, heard("a"))
	require.Equal(t, Heard{Stop: true}, heard("b"))
	require.Zero(t, heard("c"))

	for i := range maxReminders {
		require.NoError(t, l.Hear(t.Context(), "x"+strconv.Itoa(i), func(h Heard) Heard { h.Works = true; return h }))
	}
	require.Len(t, state.ParseMemo[map[string]Heard](file()), maxReminders)
	last := "x" + strconv.Itoa(maxReminders-1)
	require.True(t, heard(last).Works)
	hear("0 sorts first", func(h Heard) Heard { h.Stop = true; return h })
	require.True(t, heard("0 sorts first").Stop, "what was just heard is not what is forgotten")
	require.Len(t, state.ParseMemo[map[string]Heard](file()), maxReminders)

	for _, text := range []string{"", "null", "[]", `{"a": 1}`, "{"} {
		require.Zero(t, state.ParseMemo[map[string]Heard]([]byte(text))["a"], text)
	}
}

// TestAnAgentWithoutATranscriptIsNotSentBackAgainstThePersonsWord.
func TestAnAgentWithoutATranscriptIsNotSentBackAgainstThePersonsWord(t *testing.T) {
	for prompt, sent := range map[string]bool{"make the release": true, "please stop here": false, "only step 2 please": true} {
		l := hydrated(t, workflow.Step{}, workflow.Step{BlockedBy: []int64{1}}, workflow.Step{})
		h := Heard{Works: true}.Hears(l.state(), prompt, client.DefaultWords())
		agent, _, err := l.Stop(t.Context(), Stopping{Mode: Remind, Heard: &h})
		require.NoError(t, err)
		require.Equal(t, sent, agent != "", prompt)
	}
}

// TestHoldSendsBackAsOftenAsItSays: an agent whose client never stops it, until a step changes or
// the person sends a prompt.
func TestHoldSendsBackAsOftenAsItSays(t *testing.T) {
	l := hydrated(t, workflow.Step{}, workflow.Step{})
	x := Stopping{Mode: Hold, Turns: 2}
	var got []bool
	sent := func() {
		agent, _, err := l.Stop(t.Context(), x)
		require.NoError(t, err)
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
	l.allows(1, workflow.InProgress)
	sent()
	require.Equal(t, []bool{true, true, false, true, true, false, true}, got)
}

// TestSkillsOfASession: a session works what it called, or everything if one of its skills is not
// known, as on records of earlier versions.
func TestSkillsOfASession(t *testing.T) {
	require.False(t, Heard{}.Called("a"))
	require.True(t, Heard{Works: true}.Called("a"))
	one := Heard{}.Calls("a").Calls("a")
	require.Equal(t, Heard{Works: true, Skills: "a"}, one)
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
