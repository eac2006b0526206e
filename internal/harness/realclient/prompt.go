//go:build unix

package realclient

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// Prompt sends one prompt to the sandbox's session, resumes the session if it exists,
// and waits for the client to exit. args are further arguments of the client. Prompt
// ends the test if the client fails, deviates from the script or uses the network. A
// test that fails, even later, logs the conversation.
func (s *Sandbox) Prompt(script fakemodel.Script, prompt string, args ...string) *Run {
	s.t.Helper()
	r := s.Try(script, prompt, args...)
	require.Zero(s.t, r.Code, "the client failed")
	require.False(s.t, r.IsError, "the client failed")
	require.Empty(s.t, r.Faults(), "the client deviated from the script")
	return r
}

// Try is Prompt for a run that may fail. It ends the test only if the client cannot be
// started or does not exit.
func (s *Sandbox) Try(script fakemodel.Script, prompt string, args ...string) *Run {
	s.t.Helper()
	return s.converse(script, prompt, "", []string{"-p", prompt}, args)
}

// PromptAndSay is Prompt with a second message of the user. Both are on the client's
// standard input from the start, and it takes them in order.
func (s *Sandbox) PromptAndSay(script fakemodel.Script, prompt, more string, args ...string) *Run {
	s.t.Helper()
	var stdin strings.Builder
	for _, text := range []string{prompt, more} {
		line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
		require.NoError(s.t, err)
		stdin.Write(append(line, '\n'))
	}
	r := s.converse(script, prompt, stdin.String(), []string{"-p", "--input-format", "stream-json"}, args)
	require.Zero(s.t, r.Code, "the client failed")
	require.Empty(s.t, r.Faults(), "the client deviated from the script")
	return r
}

// converse runs the client with the arguments first, those of arguments, and more.
func (s *Sandbox) converse(script fakemodel.Script, prompt, stdin string, first, more []string) *Run {
	s.t.Helper()
	m, err := fakemodel.Start(script)
	require.NoError(s.t, err)
	defer m.Close()
	out, err := s.run(m.URL(), stdin, s.program, slices.Concat(first, s.arguments(), more))
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

func (s *Sandbox) arguments() []string {
	args := []string{"--model", s.Model, "--output-format", "stream-json", "--verbose", "--include-hook-events"}
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
