package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/visible"
)

// inDirectory adds the flag -C to a command and to those below it, which makes them run in
// another directory. refuse returns the error of the command if the program cannot change to
// it.
func inDirectory(c *cobra.Command, refuse func(error) error) {
	for _, sub := range c.Commands() {
		inDirectory(sub, refuse)
	}
	if c.Flags().Lookup("directory") != nil { // it was added when this command was built
		return
	}
	dir := c.Flags().StringP("directory", "C", "", "run as if started in `DIR`")
	_ = c.MarkFlagDirname("directory")
	next := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if *dir != "" {
			if err := os.Chdir(*dir); err != nil {
				return refuse(fmt.Errorf("-C: %w", err))
			}
		}
		if next != nil {
			return next(c, args)
		}
		return nil
	}
}

// leadingDirectory splits args behind flags -C that stand before the command.
func leadingDirectory(args []string) (flags, rest []string) {
	i := 0
	for i < len(args) {
		switch value, ok := strings.CutPrefix(args[i], "-C"); {
		case ok && value != "", strings.HasPrefix(args[i], "--directory="):
			i++
		case (ok || args[i] == "--directory") && i+1 < len(args):
			i += 2
		default:
			return args[:i:i], args[i:]
		}
	}
	return args[:i:i], args[i:]
}

// choice is a flag whose value is one of a few words. The first is the default.
type choice struct {
	words []string
	value string
}

func (e *choice) String() string { return e.value }
func (e *choice) Type() string   { return strings.Join(e.words, "|") }

func (e *choice) Set(word string) error {
	if !slices.Contains(e.words, word) {
		last := len(e.words) - 1
		return fmt.Errorf("want %s or %s", strings.Join(e.words[:last], ", "), e.words[last])
	}
	e.value = word
	return nil
}

// choose adds a flag with these words as values. Help and completion show them.
func choose(c *cobra.Command, name, usage string, words ...string) *choice {
	e := &choice{words, words[0]}
	c.Flags().Var(e, name, usage)
	complete(c, name, words...)
	return e
}

// complete makes the shell complete the values of a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// exists reports whether dir has an entry of this name.
func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// finder returns what finds skills where the agent looks for them, below which the command runs:
// elsewhere where Claude Code does.
func finder(s terminal.Streams) (hydrate.Finder, error) {
	return hydrate.FinderOf(s.Getenv, s.Who().Program)
}

// offer adds a word, with a description, to the completions for the shell. A word with
// characters that are shown as escapes is left out: it cannot be typed, and its line feeds
// or tabs would split it.
func offer(words []string, word, description string) []string {
	if word != visible.Line(word) {
		return words
	}
	if description != "" {
		word += "\t" + visible.Line(description)
	}
	return append(words, word)
}

// completeSkills completes the names of skills with a workflow, and paths.
func completeSkills(s terminal.Streams) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var names []string
		l, err := finder(s)
		cwd, cwdErr := os.Getwd()
		if err != nil || cwdErr != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		list, _ := l.Workflows(cwd)
		for _, w := range list {
			if !w.Unused && strings.HasPrefix(w.Command, begun) {
				names = offer(names, w.Command, w.Path)
			}
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
