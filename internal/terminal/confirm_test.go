//go:build linux || darwin

package terminal_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// TestMain makes the test program ask at its terminal, if it is told to.
func TestMain(m *testing.M) {
	switch os.Getenv("FSMTX_TEST_CONFIRM") {
	case "":
		os.Exit(m.Run())
	case "late":
		late, stop := context.WithCancel(context.Background())
		stop()
		fmt.Println("said:", terminal.Process().Confirm(late, "why"))
	default:
		fmt.Println("said:", terminal.Process().Confirm(context.Background(), "why\nso"))
	}
}

// TestTheWordIsTypedAtTheTerminal, whatever the standard streams are.
func TestTheWordIsTypedAtTheTerminal(t *testing.T) {
	for name, c := range map[string]struct{ when, typed, said string }{
		"the word":       {"1", "", "<nil>"},
		"another":        {"1", "yes", "the word was not typed"},
		"an empty line":  {"1", " ", "the word was not typed"},
		"the end":        {"1", "\x04", "the word was not typed"},
		"after the time": {"late", "-", "the word was not typed"},
	} {
		t.Run(name, func(t *testing.T) {
			master, slave, err := pty.Open()
			require.NoError(t, err)
			defer master.Close()
			read, write, err := os.Pipe()
			require.NoError(t, err)
			self, err := os.Executable()
			require.NoError(t, err)
			p := exec.Command(self)
			p.Env = []string{"FSMTX_TEST_CONFIRM=" + c.when}
			p.Stdout, p.ExtraFiles = write, []*os.File{slave}
			p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
			require.NoError(t, p.Start())
			slave.Close()
			write.Close()
			shown := bufio.NewReader(master)
			why, err := shown.ReadString('\n')
			require.NoError(t, err)
			assert.Contains(t, why, "why")
			prompt, err := shown.ReadString(':')
			require.NoError(t, err)
			words := strings.Fields(prompt)
			require.Len(t, words, 5, prompt) // Type WORD to go on:
			switch c.typed {
			case "":
				_, err = master.WriteString(words[1] + "\n")
			case "\x04":
				_, err = master.WriteString(c.typed)
			case "-":
			default:
				_, err = master.WriteString(c.typed + "\n")
			}
			require.NoError(t, err)
			said, err := bufio.NewReader(read).ReadString('\n')
			require.NoError(t, err)
			assert.Equal(t, "said: "+c.said, strings.TrimSpace(said))
			require.NoError(t, p.Wait())
		})
	}
}

func TestWithoutATerminalNothingIsTyped(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := exec.Command(self)
	p.Env = []string{"FSMTX_TEST_CONFIRM=1"}
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	said, err := p.Output()
	require.NoError(t, err)
	assert.Contains(t, string(said), "said: the word was not typed: open /dev/tty: ")
}
