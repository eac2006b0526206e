//go:build linux || darwin

package caller

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain makes the test program say who calls it, if it is told to. With "orphan" it first
// waits for the end of its input.
func TestMain(m *testing.M) {
	switch os.Getenv("FSMTX_TEST_SAY") {
	case "":
		os.Exit(m.Run())
	case "orphan":
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	c := Of(os.LookupEnv)
	if near := Imitates(os.LookupEnv); near != c.Imitates() {
		panic(fmt.Sprintf("Imitates says %v, and the caller is %+v", near, c))
	}
	if client, err := strconv.Atoi(os.Getenv("FSMTX_TEST_CLIENT")); err == nil {
		c = c.Beside(Began(client))
	}
	fmt.Printf("%s|%s|%v|%s|%s\n", c.Kind, c.Program, c.Shell, c.Terminal, c.Why)
}

// says starts a program and returns what the test program says below it.
func says(t *testing.T, env []string, program string, args ...string) []string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SELF=" + self(t)}, env...)
	return parsed(t, string(must(c.CombinedOutput())))
}

func parsed(t *testing.T, line string) []string {
	t.Helper()
	words := strings.SplitN(strings.TrimSpace(line), "|", 5)
	require.Len(t, words, 5, line)
	return words
}

// must returns the value of a call that has to succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func self(t *testing.T) string {
	t.Helper()
	return must(os.Executable())
}

// An agent is found above, however its variables are hidden.
func TestAnAgentAbove(t *testing.T) {
	sh := must(exec.LookPath("sh"))
	text := must(os.ReadFile(sh))
	for _, name := range []string{"claude", "codex"} {
		program := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(program, text, 0o755))
		for _, line := range []string{
			`FSMTX_TEST_SAY=1 "$SELF"; exit $?`,
			`sh -c 'env -i FSMTX_TEST_SAY=1 "$0"; exit $?' "$SELF"; exit $?`,
		} {
			c := exec.Command(program, "-c", line)
			c.Env = []string{"PATH=" + os.Getenv("PATH"), "SELF=" + self(t)}
			said := parsed(t, string(must(c.CombinedOutput())))
			assert.Equal(t, []string{"agent", name}, said[:2], said)
			assert.Contains(t, said[4], fmt.Sprintf("(process %d)", c.Process.Pid), "it is the nearest one")
		}
	}
}

// A variable that was taken away is still in the environment of the shell above.
func TestAnAgentsVariableAbove(t *testing.T) {
	said := says(t, []string{"CLAUDECODE=1", "AI_AGENT=claude-code_2_agent"}, "sh", "-c", `env -i FSMTX_TEST_SAY=1 "$SELF"; exit $?`)
	assert.Equal(t, "agent", said[0], said)
	said = says(t, []string{"QWEN_CODE=1", "FSMTX_TEST_SAY=1"}, self(t))
	assert.Equal(t, "agent", said[0], said)
	assert.Equal(t, "true", said[2], said)
}

// An orphan has begun after the client that works on the list, and is unknown then.
func TestAnOrphan(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	parentRuns, ended, err := os.Pipe()
	require.NoError(t, err)
	c := exec.Command("sh", "-c", `FSMTX_TEST_SAY=orphan "$SELF" <&3 & exit 0`)
	c.ExtraFiles = []*os.File{parentRuns}
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "SELF=" + self(t), "FSMTX_TEST_CLIENT=" + strconv.Itoa(os.Getpid())}
	c.Stdout = write
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, c.Run())
	write.Close()
	parentRuns.Close()
	ended.Close()
	said := parsed(t, must(bufio.NewReader(read).ReadString('\n')))
	if adopter, _ := above(func(process) bool { return false }); agentOfAny(adopter) { // it may have adopted the orphan
		assert.Contains(t, []string{"unknown", "agent"}, said[0], said)
		return
	}
	assert.Equal(t, "unknown", said[0], said)
}

// TestTheLastProcessAbove: no process above it is looked at, nor at its arguments if its name suffices.
func TestTheLastProcessAbove(t *testing.T) {
	chain, err := above(func(p process) bool { return p.pid == os.Getppid() })
	require.NoError(t, err)
	require.Len(t, chain, 2)
	assert.Equal(t, os.Getppid(), chain[1].pid)
	assert.Empty(t, chain[1].args)
	assert.Empty(t, chain[1].env)
}

func agentOfAny(chain []process) bool {
	return slices.ContainsFunc(chain, func(p process) bool { return agentOf(p) != "" })
}

// TestBegan: a process has begun before what it has started.
func TestBegan(t *testing.T) {
	before := time.Now()
	self := Began(os.Getpid())
	assert.True(t, self.Before(before))
	assert.True(t, self.After(before.Add(-time.Hour)), "%v", self)
	sleep := exec.Command("sleep", "600")
	require.NoError(t, sleep.Start())
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	assert.False(t, Began(sleep.Process.Pid).Before(self))
	assert.Zero(t, Began(1<<30))
}

// In a terminal it is a person, unless there is an agent or no process above.
func TestATerminal(t *testing.T) {
	master, terminal, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer terminal.Close()
	c := exec.Command(self(t))
	c.Env = []string{"FSMTX_TEST_SAY=1"}
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	line := must(bufio.NewReader(master).ReadString('\n'))
	require.NoError(t, c.Wait())
	said := parsed(t, line)
	if own := Of(func(string) (string, bool) { return "", false }); own.Kind == Agent || own.Kind == Unknown {
		assert.Equal(t, string(own.Kind), said[0], said)
		t.Skipf("the rest is skipped: these tests run where nobody is a person: %s", own.Why)
	}
	assert.Equal(t, "person", said[0], said)
	assert.Equal(t, terminal.Name(), said[3])
}
