//go:build unix

package realclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/fakemodel"
)

// defaultLimit bounds one run of a program. A prompt takes a second or two on an idle
// machine.
const defaultLimit = 90 * time.Second

// Output is the output of a program and its exit code.
type Output struct {
	Stdout string
	Stderr string
	Code   int // exit code, -1 if a signal killed it
}

// String shows the output for a failing test.
func (o Output) String() string {
	return fmt.Sprintf("exit code %d\nstandard output:\n%s\nstandard error:\n%s", o.Code, o.Stdout, o.Stderr)
}

// Command runs a program in the project with the client's environment and no
// model, as a script does. It ends the test if the program cannot be started.
func (s *Sandbox) Command(stdin, program string, args ...string) Output {
	s.t.Helper()
	out, err := s.run("http://127.0.0.1:9", stdin, program, args, callers.Environ(caller.Script))
	require.NoError(s.t, err)
	return out
}

// Claude runs a command of the client that needs no model, such as "plugin install". It
// ends the test if the command fails or uses the network.
func (s *Sandbox) Claude(args ...string) Output {
	s.t.Helper()
	m, err := fakemodel.Start(fakemodel.Script{})
	require.NoError(s.t, err)
	defer m.Close()
	out, err := s.run(m.URL(), "", s.program, args)
	require.NoError(s.t, err)
	require.Zero(s.t, out.Code, "claude %s\n%s", strings.Join(args, " "), out)
	require.Empty(s.t, m.Record().Faults(), "claude %s\n%s", strings.Join(args, " "), out)
	return out
}

// run runs a program in the project with the client's environment and more variables.
func (s *Sandbox) run(url, stdin, program string, args []string, more ...string) (Output, error) {
	program, args = s.managed(program, args)
	return Exec{Program: program, Args: args, Dir: s.Project, Env: append(s.environ(url), more...), Stdin: stdin,
		Limit: s.limit}.Run(s.t.Context())
}

// Exec is one run of a program.
type Exec struct {
	Program string
	Args    []string
	Dir     string
	Env     []string
	Stdin   string
	Limit   time.Duration
}

// Run runs the program and waits for it. On timeout it kills the whole process group,
// because a hook that hangs must not outlive the test.
func (e Exec) Run(ctx context.Context) (Output, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.Limit, fmt.Errorf("still running after %v", e.Limit))
	defer cancel()
	c := exec.CommandContext(ctx, e.Program, e.Args...)
	c.Dir, c.Env = e.Dir, e.Env
	c.Stdin = strings.NewReader(e.Stdin)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	err := c.Run()
	out := Output{Stdout: stdout.String(), Stderr: stderr.String(), Code: -1}
	if c.ProcessState != nil {
		out.Code = c.ProcessState.ExitCode()
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("%s: %w\n%s", e.Program, context.Cause(ctx), out)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, nil
	}
	return out, err
}
