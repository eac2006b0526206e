// Package command is the program's command line: one file a subcommand, and
// nothing in it but flags, words and exit codes.
package command

import (
	"context"
	"errors"
	"os/signal"
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
var subcommands = []struct {
	name string
	make func(terminal.Streams) *cobra.Command
}{
	{"hydrate", newHydrate},
	{"recover", newRecover},
	{"locate", newLocate},
	{"validate", newValidate},
	{"install", newInstall},
	{"plugin", newPlugin},
	{"hooks", newHooks},
	{"version", newVersion},
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

func newRoot(args []string, s terminal.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "fsmtx",
		Short:         "Put a skill's workflow into the client's task list, all of it or none of it",
		Long:          "fsmtx puts the tasks that a skill declares in its fsm.json into the task list of Claude Code\nwhen the skill is invoked: all of them or none of them, whatever fails.",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &exit{exitNo, err, "run " + c.CommandPath() + " --help"}
	})
	for _, sub := range wanted(args) {
		root.AddCommand(sub(s))
	}
	return root
}

// wanted returns the constructor of the one subcommand that args name, or all
// of them where help, completion or a mistyped name needs the whole list.
func wanted(args []string) []func(terminal.Streams) *cobra.Command {
	var all []func(terminal.Streams) *cobra.Command
	for _, sub := range subcommands {
		if len(args) > 0 && args[0] == sub.name {
			return []func(terminal.Streams) *cobra.Command{sub.make}
		}
		all = append(all, sub.make)
	}
	return all
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
