// Package command is the program's command line: one file a subcommand, and
// nothing in it but flags, words and exit codes.
package command

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Exit codes shared by the subcommands; each says in its help when it uses
// another one.
const (
	exitOK    = 0
	exitNo    = 1 // the answer is no, or the command line is wrong
	exitBlock = 2 // to a client: show the agent what standard error says
)

// exit ends the program with a code. A nil err prints nothing: what there was
// to say has been said.
type exit struct {
	code int
	err  error
	hint string
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// subcommands are made one by one so that a hook, which starts on every call
// of a skill, initialises only its own.
var subcommands = []subcommand{
	{name: "hydrate", make: newHydrate, misused: refuseFlags},
	{name: "recover", make: newRecover},
	{name: "locate", make: newLocate},
	{name: "validate", make: newValidate, misused: refuseToValidate},
	{name: "install", make: newInstall},
	{name: "plugin", make: newPlugin},
	{name: "hooks", make: newHooks, below: hooksSubcommands},
	{name: "demo", make: newDemo},
	{name: "guard", make: newGuard},
	{name: "version", make: newVersion},
}

type subcommand struct {
	name    string
	make    func(terminal.Streams) *cobra.Command
	misused func(terminal.Streams, error) error // answers wrong flags; nil for the usual way
	below   func() []subcommand                 // its own subcommands, where these are made one by one too
}

// build makes the command.
func (sub subcommand) build(s terminal.Streams) *cobra.Command {
	c := sub.make(s)
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if sub.misused != nil {
			return sub.misused(s, err)
		}
		return &exit{exitNo, err, "run " + c.CommandPath() + " --help"}
	})
	return c
}

// Main runs the program with the arguments after its name and returns its exit
// code.
func Main(args []string, s terminal.Streams) int {
	err := newRoot(args, s).ExecuteContext(context.Background())
	if err == nil {
		return exitOK
	}
	code, hint := exitNo, ""
	if e, ok := errors.AsType[*exit](err); ok {
		code, hint = e.code, e.hint
	}
	if msg := err.Error(); msg != "" {
		s.Errorf("%s", msg)
	}
	if hint != "" {
		s.Hintf("%s", hint)
	}
	return code
}

// newRoot returns the command that args are for. A subcommand named by args is a
// root of its own: cobra gives a root with subcommands two more, help and
// completion, which a hook would make for nothing at every start.
func newRoot(args []string, s terminal.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "fsmtx",
		Short: "Put a skill's workflow into the client's task list, all of it or none of it",
		Long:  "fsmtx puts the tasks that a skill declares in its fsm.json into the task list of Claude Code\nwhen the skill is invoked: all of them or none of them, whatever fails.",
		Example: example(
			"fsmtx demo                           # see it work, in a temporary directory",
			"fsmtx install                        # put it into the client, for this project",
			"fsmtx validate skills/*/fsm.json     # check workflows",
			"fsmtx recover                        # after a crash"),
		Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	if sub, path, rest := named(subcommands, args); sub != nil {
		root, args = sub.build(s), rest
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "fsmtx " + path}
	}
	if root.Use == "fsmtx" {
		for _, sub := range subcommands {
			root.AddCommand(sub.build(s))
		}
	}
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = root.Use != "fsmtx"
	if root.HasSubCommands() {
		completeHelp(root)
	}
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	return root
}

// named returns the subcommand that args begin with, as deep as it goes, its name
// and the rest of args; nil if they begin with none.
func named(all []subcommand, args []string) (sub *subcommand, path string, rest []string) {
	i := slices.IndexFunc(all, func(sub subcommand) bool { return len(args) > 0 && args[0] == sub.name })
	if i < 0 {
		return nil, "", args
	}
	if all[i].below != nil {
		if below, path, rest := named(all[i].below(), args[1:]); below != nil {
			return below, all[i].name + " " + path, rest
		}
	}
	return &all[i], all[i].name, args[1:]
}

// completeHelp makes the two commands that cobra would add, to give them what every
// command of this program has: an example, and an error for what they do not know.
func completeHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = example(c.CommandPath() + " " + root.Commands()[0].Name())
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return helpOn(root, args) }
		case "completion":
			c.Example = example("fsmtx completion bash > ~/.local/share/bash-completion/completions/fsmtx")
			c.Args, c.RunE = noSuchCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
			for _, shell := range c.Commands() {
				shell.Args = noArguments
				shell.Example = example("fsmtx completion " + shell.Name())
			}
		}
	}
}

// helpOn shows the help of the command that args name.
func helpOn(root *cobra.Command, args []string) error {
	c, unknown, err := root.Find(args)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return noSuchCommand(c, unknown)
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// noSuchCommand refuses what is no command, and says which one is near.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	hint := "run " + c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %s %s?", c.CommandPath(), near[0])
	}
	return &exit{exitNo, fmt.Errorf("unknown command %q", args[0]), hint}
}

// noArguments refuses what follows a command's flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &exit{exitNo, fmt.Errorf("unexpected argument %q", args[0]), "run " + c.CommandPath() + " --help"}
}

// interruptible returns a context that SIGINT and SIGTERM end, for what waits or
// has something to undo. Whatever else is simply ended by them.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
}

// example indents the lines of a command's examples as its help shows them.
func example(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ")
}
