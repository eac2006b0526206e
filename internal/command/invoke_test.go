package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Each command that takes something away is recognised in a line of the agent's shell, also those that the other program has.
func TestEveryRuleIsAppliedToALine(t *testing.T) {
	for _, l := range hook.Loosenings() {
		name := strings.Fields(l.Command)
		call, ok := readCall(name)
		assert.True(t, ok, l.Command)
		assert.Equal(t, l.Command, call.Rule.Command)

		_, ok = readCall(append(name, "--help"))
		assert.False(t, ok, l.Command)
	}
}

// The flags of a command that the other program has decide as they do there.
func TestFlagsOfOtherCommandsAreRead(t *testing.T) {
	for line, takes := range map[string]bool{
		"undo": true, "undo s1 4": true, "undo --dry-run": false, "undo --because x --dry-run": false,
		"doctor": false, "doctor --fix": true, "doctor --json --fix": true,
		"install": false, "install --remove": true, "install --remove --print": false, "install --stop off": true, "install --stop=hold": false,
		"install --project --checks off": true, "install --with none": true, "install -- --scope all": true, "install --": true,
		"plugin --no-steps dir": true, "guard unlock": true,
	} {
		call, ok := readCall(strings.Fields(line))
		assert.True(t, ok, line)
		assert.Equal(t, takes, call.Rule.Takes(call.Flags), line)
	}
	for _, line := range []string{"status", "log", "install --stop", "guard list", "nonsense"} {
		_, ok := readCall(strings.Fields(line))
		assert.False(t, ok, line)
	}
}

// TestWhatTheHooksDoUnlessTold: as hooks that are registered without flags.
func TestWhatTheHooksDoUnlessTold(t *testing.T) {
	s := terminal.Streams{}
	for name, want := range map[string]string{"hook": "true", "hydrate": "false"} {
		c := map[string]func(terminal.Streams) *cobra.Command{"hook": NewHook, "hydrate": newHydrate}[name](s)
		assert.Equal(t, want, c.Flags().Lookup("announce").DefValue, name)
	}
}

// TestPlainCallsOfTheHook go past the command line's library; any other is left to it, with what it says.
func TestPlainCallsOfTheHook(t *testing.T) {
	for line, plain := range map[string]bool{"hook": true, "hook --agent claude": true, "hook --agent=claude --stop=hold": true, "": false,
		"hook x": false, "hook --nonsense": false, "hook --help": false, "step": false, "hydrate": false} {
		assert.Equal(t, plain, readHook(strings.Fields(line)) != nil, line)
	}
}

// TestALostOutputIsToldOnce: also by a command that returns the error of writing. The exit code and the hint stay the command's.
func TestALostOutputIsToldOnce(t *testing.T) {
	lost := "cannot write the result: write |1: file already closed"
	for name, c := range map[string]struct {
		err  func(lost error) error
		code int
		want string
	}{
		"no error":     {func(error) error { return nil }, ExitNo, "fsmtx: " + lost + "\n"},
		"without text": {func(error) error { return &Exit{Code: 3} }, 3, "fsmtx: " + lost + "\n"},
		"this one":     {func(lost error) error { return fmt.Errorf("x: %w", lost) }, ExitNo, "fsmtx: x: write |1: file already closed\n"},
		"another":      {func(error) error { return &Exit{3, errors.New("x"), "do y"} }, 3, "fsmtx: x\n" + lost + "\nhint: do y\n"},
	} {
		_, w, err := os.Pipe()
		assert.NoError(t, err)
		assert.NoError(t, w.Close())
		var told bytes.Buffer
		code := ended(terminal.Streams{Out: w, Err: &told}, func(s terminal.Streams) error {
			_, err := s.Out.Write([]byte("x"))
			return c.err(err)
		})
		assert.Equal(t, c.code, code, name)
		assert.Equal(t, c.want, told.String(), name)
	}
}
