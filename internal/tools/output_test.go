package tools_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	eachCommand(true, func(_ *cobra.Command, path string) {
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

// TestHelpFitsTheTerminal is wrapped at the width of the terminal, and no word of it is lost.
func TestHelpFitsTheTerminal(t *testing.T) {
	eachHelp(func(path string, help func(columns string) string) {
		for line := range strings.Lines(help("60")) {
			line = strings.TrimRight(line, "\n")
			if strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(line, "  ") {
				require.LessOrEqual(t, terminal.Width(line), 60, "%s --help: %s", path, line)
			}
		}
		plain := help("")
		words := func(text string) []string { return strings.Fields(strings.ReplaceAll(text, "# ", "")) } // each line of a comment has a sign
		require.Equal(t, words(plain), words(help("60")), "%s: wrapping changes words", path)
		require.Contains(t, plain, "Examples:", path)
	})
}

// Every flag whose values are a few words has completions for them: the flags listed here, and
// any other flag whose help lists its values.
func TestFlagsWithFewValuesHaveCompletions(t *testing.T) {
	few := []string{"scope", "active", "stop", "checks", "dialect", "format", "with"}
	listed := regexp.MustCompile(`\w+, \w+ or \w+|"\w+".*"\w+"|: \w+ or \w+| \w+ \(default\)`)
	eachCommand(false, func(c *cobra.Command, path string) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Value.Type() == "bool" || !slices.Contains(few, f.Name) && !listed.MatchString(f.Usage) {
				return
			}
			complete, found := c.GetFlagCompletionFunc(f.Name)
			require.True(t, found, "%s --%s", path, f.Name)
			words, _ := complete(c, nil, "")
			require.NotEmpty(t, words, "%s --%s", path, f.Name)
		})
	})
}

// Flags and arguments that name a task list or a skill have completions.
func TestSessionsAndSkillsHaveCompletions(t *testing.T) {
	eachCommand(false, func(c *cobra.Command, path string) {
		for _, name := range []string{"session", "list"} {
			if f := c.Flags().Lookup(name); f != nil && strings.Contains(f.Usage, "task") {
				_, found := c.GetFlagCompletionFunc(name)
				require.True(t, found, "%s --%s", path, name)
			}
		}
		if strings.Contains(c.Use, "SKILL") || strings.Contains(c.Use, "COMMAND_NAME") ||
			strings.Contains(c.Use, "[SESSION]") && !strings.HasPrefix(path, "fsmtx guard") {
			require.NotNil(t, c.ValidArgsFunction, path)
		}
	})
}

// eachHelp calls f for every visible command, parents first, with its full name and a
// function that returns its help, wrapped for a terminal of so many columns unless that is "".
func eachHelp(f func(path string, help func(columns string) string)) {
	eachCommand(false, func(_ *cobra.Command, path string) {
		f(path, func(columns string) string {
			out, _, _ := inProcess(map[string]string{"COLUMNS": columns}, "", append(strings.Fields(path)[1:], "--help")...)
			return out
		})
	})
}

// eachCommand calls f for every command of the program with its full name, parents first; only if all is true for hidden ones,
// help and completion.
func eachCommand(all bool, f func(c *cobra.Command, path string)) {
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		f(c, path)
		for _, sub := range c.Commands() {
			if all || !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
				visit(sub, path+" "+sub.Name())
			}
		}
	}
	visit(tools.Tree(), "fsmtx")
}
