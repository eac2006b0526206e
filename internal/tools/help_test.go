package tools

import (
	"bytes"
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
)

func TestWrapped(t *testing.T) {
	assert.Equal(t, `A paragraph of several lines
is filled.

  term   a text that is broken
         where it has to be,
         and joined
  other  short

Flags:
      --a-very-long-flag
          a text that is long

  fsmtx step
      # a comment that is
      # too long
  fsmtx step show
      --session 0b54e1c2
`, wrapped(`A paragraph of several
lines is filled.

  term   a text that is broken where it has to be,
         and joined
  other  short

Flags:
      --a-very-long-flag   a text that is long

  fsmtx step       # a comment that is too long
  fsmtx step show --session 0b54e1c2
`, 30))
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
	eachVisible(func(c *cobra.Command, path string) {
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
	eachVisible(func(c *cobra.Command, path string) {
		for _, name := range []string{"session", "from-session"} {
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
	eachVisible(func(_ *cobra.Command, path string) {
		f(path, func(columns string) string {
			var out bytes.Buffer
			args := append(strings.Fields(path)[1:], "--help")
			Main(args, terminal.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Caller: callers.Script,
				Getenv: func(name string) (string, bool) {
					return columns, name == "COLUMNS" && columns != ""
				}})
			return out.String()
		})
	})
}

// eachVisible calls f for every visible command with its full name, parents first.
func eachVisible(f func(c *cobra.Command, path string)) {
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		f(c, path)
		for _, sub := range c.Commands() {
			if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
				visit(sub, path+" "+sub.Name())
			}
		}
	}
	visit(Tree(), "fsmtx")
}
