package caller

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatAProcessWasStartedWith is read of another process.
func TestWhatAProcessWasStartedWith(t *testing.T) {
	if os.Getenv("FSMTX_TEST_WAITS") != "" {
		_, _ = os.Stdout.WriteString("here")
		_, _ = os.Stdin.Read(make([]byte, 1))
		return
	}
	c := exec.Command(os.Args[0], "-test.run=TestWhatAProcessWasStartedWith", "--", "a b", `it's "c"`, "größer")
	c.Env = append(os.Environ(), "FSMTX_TEST_WAITS=one two")
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	_, err = out.Read(make([]byte, 1)) // it has begun
	require.NoError(t, err)
	args := Arguments(c.Process.Pid)
	assert.Contains(t, envOf(c.Process.Pid), "FSMTX_TEST_WAITS=one two")
	require.NoError(t, in.Close())
	require.NoError(t, c.Wait())
	require.Len(t, args, 6)
	assert.Equal(t, c.Args[1:], args[1:])
	assert.Empty(t, Arguments(0))
}
