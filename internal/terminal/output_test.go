package terminal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// TestAnOutputSurvivesThatItsReaderIsGone: in a process of its own, which SIGPIPE ends else. What is
// written to a reader that is there arrives whole, also if it is more than a pipe holds.
func TestAnOutputSurvivesThatItsReaderIsGone(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 1<<14)
	if how := os.Getenv("FSMTX_TEST_OUTPUT"); how != "" {
		out := terminal.NewOutput(os.Stdout)
		if how == "survives" {
			terminal.Streams{Out: out, Err: os.Stderr}.SurviveBrokenPipe()
		}
		n, err := out.Write([]byte(long))
		switch {
		case err == nil && n == len(long):
			os.Exit(0)
		case errors.Is(err, syscall.EPIPE) && errors.Is(out.Err(), err):
			os.Exit(7)
		}
		os.Exit(8)
	}
	run := func(how string, gone bool) (*os.ProcessState, string) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		if gone {
			require.NoError(t, r.Close())
		}
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = []string{"FSMTX_TEST_OUTPUT=" + how, "GORACE=" + os.Getenv("GORACE")}
		c.Stdout = w
		require.NoError(t, c.Start())
		require.NoError(t, w.Close())
		var text strings.Builder
		if !gone {
			_, err = r.WriteTo(&text)
			require.NoError(t, err)
		}
		_ = c.Wait()
		return c.ProcessState, text.String()
	}
	state, _ := run("survives", true)
	assert.Equal(t, 7, state.ExitCode())
	state, _ = run("ends", true)
	assert.Equal(t, syscall.SIGPIPE, state.Sys().(syscall.WaitStatus).Signal())
	for _, how := range []string{"survives", "ends"} {
		state, text := run(how, false)
		assert.Equal(t, 0, state.ExitCode(), how)
		assert.True(t, text == long, how)
	}
}

// broken is a writer whose every write fails, each with another error.
type broken int

func (b *broken) Write([]byte) (int, error) {
	*b++
	return 0, fmt.Errorf("write %d failed", *b)
}

func TestTheFirstErrorOfAnOutputIsKept(t *testing.T) {
	out := terminal.NewOutput(new(broken))
	require.NoError(t, out.Err())
	for range 2 {
		_, err := out.Write([]byte("x"))
		require.Error(t, err)
		require.EqualError(t, out.Err(), "write 1 failed")
	}
	out.Forget()
	require.NoError(t, out.Err())
	_, _ = out.Write([]byte("x"))
	require.EqualError(t, out.Err(), "write 3 failed")
}
