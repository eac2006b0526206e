package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/message"
)

// messageLine is a line of a transcript with calls of the agent.
func messageLine(id string, uses ...string) string {
	blocks := make([]string, len(uses))
	for i, use := range uses {
		blocks[i] = `{"type":"tool_use","id":"` + use + `","name":"Bash","input":{}}`
	}
	return `{"type":"assistant","message":{"id":"` + id + `","content":[` + strings.Join(blocks, ",") + "]}}\n"
}

func result(use string) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"` + use + `","content":"ok"}]}}` + "\n"
}

func transcriptOf(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return path
}

// TestAGrantPermitsOneCommandOnce, below the process that the client starts for its call.
func TestAGrantPermitsOneCommandOnce(t *testing.T) {
	l := hydrated(t, `{}`)
	grant := func(command string) {
		require.NoError(t, l.Grant(t.Context(), Grant{Command: command, Session: "s1", Use: "u1", Agent: "a"}))
	}
	use := func(command string, started ...string) error {
		g, err := l.UseGrant(t.Context(), command, started)
		if err == nil {
			assert.Equal(t, []string{command, "a", "u1"}, []string{g.Command, g.Agent, g.Use})
			assert.False(t, g.Time.IsZero())
		}
		return err
	}
	const because = "fsmtx step done 1 --because 'no time'"
	call := []string{"bash", "-c", `source x && eval 'fsmtx step done 1 --because '"'"'no time'"'" && pwd`}
	require.ErrorIs(t, use(because, call...), ErrNoGrant, "nobody was asked")
	grant("fsmtx step skip 1")
	grant(because)

	require.ErrorIs(t, use(because), ErrNoGrant, "it is not known what the client has started")
	require.ErrorIs(t, use(because, "bash", "-c", "eval 'sh past.sh'"), ErrNoGrant, "a script")
	require.ErrorIs(t, use(because, "bash", "-c", "eval 'fsmtx step done 1'"), ErrNoGrant, "another command")
	require.ErrorIs(t, use("fsmtx step done 1", call...), ErrNoGrant)
	require.NoError(t, use(because, call...))
	require.ErrorIs(t, use(because, call...), ErrNoGrant, "once")
	require.NoError(t, use("fsmtx step skip 1", "bash", "-c", "eval 'cd x && /bin/fsmtx step skip 1'"))
	require.NoFileExists(t, filepath.Join(StateDir(l.List.Dir), SessionFile), "no grant is left, and no file")
}

// TestAGrantEndsWithItsCall: what the person agreed to was that call.
func TestAGrantEndsWithItsCall(t *testing.T) {
	l := hydrated(t, `{}`)
	for name, c := range map[string]struct {
		lines []string
		over  bool
	}{
		"the call is running":      {[]string{messageLine("m1", "u1", "u2")}, false},
		"another call has ended":   {[]string{messageLine("m1", "u1", "u2"), result("u2")}, false},
		"it has ended":             {[]string{messageLine("m1", "u1"), result("u1")}, true},
		"the agent has gone on":    {[]string{messageLine("m1", "u1"), messageLine("m2", "u3")}, true},
		"it is not written so far": {[]string{messageLine("m0", "u0")}, false},
	} {
		require.NoError(t, l.Grant(t.Context(), Grant{Command: "x", Session: "s1", Use: "u1", Written: transcriptOf(t, c.lines...)}))
		_, err := l.UseGrant(t.Context(), "x", []string{"x"})
		require.Equal(t, c.over, err != nil, name)
	}
}

// TestANoBeforeAYesTakesNothingFromIt: the same command was refused before, and nothing has ended that grant.
func TestANoBeforeAYesTakesNothingFromIt(t *testing.T) {
	l := hydrated(t, `{}`)
	written := transcriptOf(t, messageLine("m1", "u1"), result("u1"), messageLine("m2", "u2"))
	for _, use := range []string{"u1", "u2"} {
		require.NoError(t, l.Grant(t.Context(), Grant{Command: "x", Session: "s1", Use: use, Written: written}))
	}
	g, err := l.UseGrant(t.Context(), "x", []string{"x"})
	require.NoError(t, err)
	require.Equal(t, "u2", g.Use)
}

// TestWhichEventsEndAGrant: it lives as long as calls of the same message are carried out.
func TestWhichEventsEndAGrant(t *testing.T) {
	l := hydrated(t, `{}`)
	running := transcriptOf(t, messageLine("m1", "u1", "u2"))
	gone := transcriptOf(t, messageLine("m1", "u1", "u2"), messageLine("m2", "u3"))
	early := transcriptOf(t, messageLine("m0", "u0"))
	for name, c := range map[string]struct {
		written string
		event   Seen
		lives   bool
	}{
		"another session stops":              {running, Seen{Session: "s2", Between: true}, true},
		"the session stops":                  {running, Seen{Session: "s1", Between: true}, false},
		"the person sends a prompt":          {running, Seen{Session: "s1"}, true},
		"a subagent ends":                    {running, Seen{Session: "s1", Agent: "a", Between: true}, true},
		"a subagent's call, no transcript":   {"", Seen{Session: "s1", Agent: "a", Use: "u2"}, true},
		"the call itself":                    {running, Seen{Session: "s1", Use: "u1"}, true},
		"the call itself, without a message": {"", Seen{Session: "s1", Use: "u1"}, true},
		"a call beside it":                   {running, Seen{Session: "s1", Use: "u2"}, true},
		"a call after it":                    {gone, Seen{Session: "s1", Use: "u3"}, false},
		"a call, and the transcript is late": {early, Seen{Session: "s1", Use: "u2"}, false},
		"a call, and there is no transcript": {"", Seen{Session: "s1", Use: "u2"}, false},
		"an event that is about no call":     {"", Seen{Session: "s1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, l.Grant(t.Context(), Grant{Command: "x", Session: "s1", Use: "u1", Written: c.written}))
			require.NoError(t, l.EndGrants(t.Context(), c.event))
			m, err := l.Memory()
			require.NoError(t, err)
			require.Equal(t, c.lives, len(m.Grants) > 0)
			require.NoError(t, l.EndGrants(t.Context(), Seen{Session: "s1", Between: true}))
			_, err = l.UseGrant(t.Context(), "x", []string{"x"})
			require.ErrorIs(t, err, ErrNoGrant)
		})
	}
}

// TestGrantsAreLimited: the oldest go first.
func TestGrantsAreLimited(t *testing.T) {
	all := make([]Grant, maxGrants)
	l := hydrated(t, `{}`)
	for i := range all {
		all[i] = Grant{Use: message.Itoa(int64(i))}
	}
	require.NoError(t, l.Remember(t.Context(), func(m *Memory) { m.Grants = all }))
	require.NoError(t, l.Grant(t.Context(), Grant{Use: "last"}))
	m, err := l.Memory()
	require.NoError(t, err)
	left := m.Grants
	require.Len(t, left, maxGrants)
	require.Equal(t, "1", left[0].Use)
	require.Equal(t, "last", left[maxGrants-1].Use)
}
