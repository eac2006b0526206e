package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/client"
	"github.com/fsmtx/fsmtx/internal/decisions"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/message"
	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/locator"
)

// inDirectory adds the flag -C to a command, which makes it run in another directory. refuse returns the error of the command if
// the program cannot change to it.
func inDirectory(c *cobra.Command, refuse func(error) error) {
	dir := c.Flags().StringP("directory", "C", "", "run as if started in `DIR`")
	_ = c.MarkFlagDirname("directory")
	c.PreRunE = func(*cobra.Command, []string) error {
		if *dir != "" {
			if err := os.Chdir(*dir); err != nil {
				return refuse(fmt.Errorf("-C: %w", err))
			}
		}
		return nil
	}
}

// Choice is a flag whose value is one of a few words. The first is the default.
type Choice struct {
	words []string
	Value string
}

func (e *Choice) String() string { return e.Value }
func (e *Choice) Type() string   { return strings.Join(e.words, "|") }

func (e *Choice) Set(word string) error {
	if !slices.Contains(e.words, word) {
		return errors.New("want " + message.Alternatives(e.words))
	}
	e.Value = word
	return nil
}

// Choose adds a flag with these words as values. Help and completion show them.
func Choose(c *cobra.Command, name, usage string, words ...string) *Choice {
	e := &Choice{words, words[0]}
	c.Flags().Var(e, name, usage)
	Complete(c, name, words...)
	return e
}

// Complete makes the shell complete the values of a flag.
func Complete(c *cobra.Command, flag string, words ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// Exists reports whether dir has an entry of this name.
func Exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// Finder returns what finds skills where the agent looks for them, below which the command runs:
// in a terminal where any agent does.
func Finder(s terminal.Streams) (hydrate.Finder, error) {
	return hydrate.FinderEverywhere(s.Getenv, s.Who().Program)
}

// Offer adds a word, with a description, to the completions for the shell. A word with
// characters that are shown as escapes is left out: it cannot be typed, and its line feeds
// or tabs would split it.
func Offer(words []string, word, description string) []string {
	if word != message.Line(word) {
		return words
	}
	if description != "" {
		word += "\t" + message.Line(description)
	}
	return append(words, word)
}

// CompleteSkills completes the names of skills with a workflow, and paths.
func CompleteSkills(s terminal.Streams) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		var names []string
		l, err := Finder(s)
		cwd, cwdErr := os.Getwd()
		if err != nil || cwdErr != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		list, _ := l.Workflows(cwd)
		for _, w := range list {
			if !w.Unused && strings.HasPrefix(w.Command, begun) {
				names = Offer(names, w.Command, w.Path)
			}
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}

// Relative returns path relative to cwd if it is below.
func Relative(cwd, path string) string {
	if rest, err := filepath.Rel(cwd, path); err == nil && filepath.IsLocal(rest) {
		return rest
	}
	return path
}

// FinderHere returns what searches from the current directory, and in it if it is a plugin.
func FinderHere(s terminal.Streams) (l hydrate.Finder, cwd string, err error) {
	if l, err = hydrate.FinderOf(s.Getenv, s.Who().Program); err != nil {
		return nil, "", err
	}
	if cwd, err = os.Getwd(); err != nil {
		return nil, "", err
	}
	if client, ok := l.(*locator.Locator); ok && IsPlugin(cwd) {
		client.PluginDirs = []string{cwd}
	}
	return l, cwd, nil
}

// IsPlugin reports whether the client can load a directory with --plugin-dir.
func IsPlugin(dir string) bool { return Exists(dir, client.ManifestPath) }

// InPluginHere returns the path of the fsm.json that the name has in the plugin in the current directory, or "".
func InPluginHere(s terminal.Streams, cwd, name string) string {
	l, here, err := FinderHere(s)
	if err != nil || here != cwd || !IsPlugin(cwd) {
		return ""
	}
	result, _ := l.Locate(name, cwd)
	return result.Path
}

// addLog adds --log to a hook.
func addLog(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "log", "", decisions.Usage)
}
