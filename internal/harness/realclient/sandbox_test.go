//go:build unix

package realclient

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// withScript creates a sandbox whose client is a shell script.
func withScript(t *testing.T, client string) *Sandbox {
	t.Helper()
	bin := t.TempDir()
	script(t, bin, "claude", client)
	return sandbox(t, filepath.Join(bin, "claude"))
}

func TestEnvironmentContainsNothingOfTheMachine(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "the-real-key")
	t.Setenv("SOMETHING_ELSE", "of-this-machine")
	s := withScript(t, "env; echo; pwd")
	s.Env["EXTRA"] = "asked-for"
	s.Env["LANG"] = "xx"

	out := s.Claude()

	assert.NotContains(t, out.Stdout, "the-real-key")
	assert.NotContains(t, out.Stdout, "of-this-machine")
	assert.Contains(t, out.Stdout, "HOME="+s.Home+"\n")
	assert.Contains(t, out.Stdout, "EXTRA=asked-for\n")
	assert.Contains(t, out.Stdout, "LANG=xx\n")
	assert.Regexp(t, `(?m)^ANTHROPIC_BASE_URL=http://127\.0\.0\.1:\d+$`, out.Stdout)
	assert.Regexp(t, `(?m)^HTTPS_PROXY=http://127\.0\.0\.1:\d+$`, out.Stdout)
	assert.True(t, strings.HasSuffix(out.Stdout, "\n"+s.Project+"\n"))
}

func TestSessionIsStartedAndResumed(t *testing.T) {
	s := withScript(t, `echo "$@" >&2`)
	first := s.Session

	started, resumed := s.Try(fakemodel.Script{}, "one"), s.Try(fakemodel.Script{}, "two")
	s.Session = NewSession()
	s.Allow = nil
	other := s.Try(fakemodel.Script{}, "three", "--more")

	assert.Contains(t, started.Stderr, "-p one --model claude-opus-5-5 ")
	assert.Contains(t, started.Stderr, "--session-id "+first)
	assert.Contains(t, started.Stderr, "--allowedTools Agent,Bash")
	assert.Contains(t, resumed.Stderr, "--resume "+first)
	assert.Contains(t, other.Stderr, "--session-id "+s.Session+" --more")
	assert.NotContains(t, other.Stderr, "--allowedTools")
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first)
}

func TestRunParsesTheClientsOutput(t *testing.T) {
	s := withScript(t, `cat <<'END'
{"type": "system", "subtype": "init", "cwd": "/"}
{"type": "system", "subtype": "hook_response", "hook_event": "Stop", "hook_name": "Stop", "stdout": "out", "stderr": "err", "exit_code": 2, "outcome": "error"}
{"type": "system", "subtype": "hook_response", "hook_event": "SessionStart", "hook_name": "SessionStart:startup"}
{"type": "user", "message": {"role": "user", "content": "x"}}
{"type": "result", "subtype": "success", "is_error": true, "result": "bye", "permission_denials": [{"tool_use_id": "b1"}]}
END
exit 3`)

	r := s.Try(fakemodel.Script{}, "go")

	assert.Equal(t, []Hook{{Event: "Stop", Name: "Stop", Stdout: "out", Stderr: "err", ExitCode: 2, Outcome: "error"}}, r.Ran("Stop"))
	assert.Len(t, r.Hooks, 2)
	assert.Equal(t, []string{"b1"}, r.Denied)
	assert.Equal(t, "bye", r.Final)
	assert.True(t, r.IsError)
	assert.Equal(t, 3, r.Code)
	for _, want := range []string{"hook Stop: exit code 2", "exit code 3: bye"} {
		assert.Contains(t, r.String(), want)
	}
}

func TestResultWithoutSuccessIsAnError(t *testing.T) {
	s := withScript(t, `echo '{"type": "result", "subtype": "error_max_turns", "is_error": false}'`)

	r := s.Try(fakemodel.Script{}, "go")

	assert.True(t, r.IsError)
	assert.Equal(t, "error_max_turns", r.Final)
}

// TestRunKillsTheProcessGroupOnTimeout: a child of the client holds the other end of the
// pipe, which is closed when the child is killed.
func TestRunKillsTheProcessGroupOnTimeout(t *testing.T) {
	s := withScript(t, "sleep 600 > pipe & wait")
	s.limit = 200 * time.Millisecond
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.Project, "pipe"), 0o600))
	pipe, err := os.OpenFile(filepath.Join(s.Project, "pipe"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer pipe.Close()
	require.NoError(t, pipe.SetReadDeadline(time.Now().Add(30*time.Second)))

	_, err = s.run("http://127.0.0.1:9", "", s.program, nil)

	assert.ErrorContains(t, err, "still running after 200ms")
	_, err = pipe.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.EOF)
}

func TestCommandReturnsOutputAndExitCode(t *testing.T) {
	s := withScript(t, "")

	out := s.Command("given", "/bin/sh", "-c", "cat; echo said >&2; exit 7")

	assert.Equal(t, Output{Stdout: "given", Stderr: "said\n", Code: 7}, out)
}

func TestAMissingProgramIsAnError(t *testing.T) {
	s := sandbox(t, filepath.Join(t.TempDir(), "claude"))

	_, err := s.run("", "", s.program, nil)

	require.Error(t, err)
}
