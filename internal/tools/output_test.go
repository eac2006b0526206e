package tools_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// full is a standard output that takes nothing.
type full struct{}

var errFull = errors.New("the disk is full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestLostOutput: a result that cannot be printed is an error of every command, and its help.
func TestLostOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("ok.json", []byte(`[{"id": 1, "subject": "a"}]`), 0o600))
	require.NoError(t, os.WriteFile("bad.json", []byte(`[`), 0o600))
	home := t.TempDir()
	lines := []string{
		"validate ok.json", "validate bad.json", "validate --json ok.json", "validate --format github bad.json", "fmt ok.json",
		"fmt -d ok.json", "graph ok.json", "schema",
		"locate", "locate x", "locate --json", "doctor", "doctor --json", "install --print", "install --check", "version", "--version",
		"guard list", "hooks list",
		"hooks status", "hooks check --dialect claude ok.json", "recover --json", "help", "help validate", "",
		"completion bash", "new skill --template",
	}
	tools.EachCommand(func(_ *cobra.Command, path string) {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(path, "fsmtx"), " ")+" --help")
	})
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			var stderr strings.Builder
			code := tools.Main(strings.Fields(line), terminal.Streams{In: strings.NewReader(""), Out: full{}, Err: &stderr, Caller: callers.Script,
				Getenv: func(name string) (string, bool) { return home, name == "HOME" }})

			assert.NotZero(t, code)
			assert.Contains(t, stderr.String(), errFull.Error())
		})
	}
}

// TestHelpOnNothing: help on a command that does not exist is an error, however it is asked for.
func TestHelpOnNothing(t *testing.T) {
	for _, line := range []string{"nonsense --help", "nonsense -h", "help nonsense", "hooks nonsense --help", "guard nonsense --help",
		"step nonsense --help", "completion nonsense --help"} {
		var stdout, stderr strings.Builder
		code := tools.Main(strings.Fields(line), terminal.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr,
			Caller: callers.Script, Getenv: func(string) (string, bool) { return "", false }})

		assert.NotZero(t, code, line)
		assert.Empty(t, stdout.String(), line)
		assert.Contains(t, stderr.String(), `unknown command "nonsense"`, line)
	}
}
