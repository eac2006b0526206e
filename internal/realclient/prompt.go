package realclient

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/fakemodel"
)

// Prompt sends one prompt to the sandbox's session, resuming it if it has had
// one, and returns once the client is done. The test ends if the client fails,
// or leaves the script, or wants to leave the machine. A test that fails, now
// or later, shows the conversation. More arguments of the client may follow.
func (s *Sandbox) Prompt(script fakemodel.Script, prompt string, args ...string) *Run {
	s.t.Helper()
	r := s.Try(script, prompt, args...)
	require.Zero(s.t, r.Code, "the client failed")
	require.False(s.t, r.IsError, "the client failed")
	require.Empty(s.t, r.Faults(), "the client left the script")
	return r
}

// Try is Prompt for a run that may fail: only a client that cannot be started
// or does not end is the end of the test.
func (s *Sandbox) Try(script fakemodel.Script, prompt string, args ...string) *Run {
	s.t.Helper()
	m, err := fakemodel.Start(script)
	require.NoError(s.t, err)
	defer m.Close()
	out, err := s.run(m.URL(), "", s.program, append(s.arguments(prompt), args...)...)
	s.begun[s.Session] = true
	r := &Run{Record: m.Record(), Output: out, t: s.t}
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("prompt %q:\n%s", prompt, r)
		}
	})
	require.NoError(s.t, err)
	require.NoError(s.t, r.read())
	return r
}

func (s *Sandbox) arguments(prompt string) []string {
	args := []string{"-p", prompt, "--model", s.Model, "--output-format", "stream-json", "--verbose", "--include-hook-events"}
	if s.begun[s.Session] {
		args = append(args, "--resume", s.Session)
	} else {
		args = append(args, "--session-id", s.Session)
	}
	if len(s.Allow) > 0 {
		args = append(args, "--allowedTools", strings.Join(s.Allow, ","))
	}
	return args
}
