package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fsmtx/fsmtx/internal/agent"
	"github.com/fsmtx/fsmtx/internal/caller"
	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const hookLong = `Hook is the one hook of fsmtx. It reads an event from standard input, finds out which agent
sent it and what it is about, and does what the event needs, in one process and in this
order: recover, reconcile, hydrate, judge, tell.

  a session starts       finishes an interrupted change of the list; a resumed session
                         receives the state of its workflow
  a prompt               notes whether the person says stop, or wants only a part; takes
                         up the skill that the prompt names
  a tool is about to run corrects the tasks if the client ran another folder than was
                         predicted; refuses a step before its turn or whose gates do not
                         hold, calls that belong to a later step, and edits of the files
                         of the list; asks the person about commands of fsmtx that take
                         something away
  a tool has run         takes up the skill that the tool has loaded, or whose SKILL.md the
                         agent's shell has read; records what a person chose
  the turn ends          corrects the tasks, and sends the agent back to a step that is
                         ready (--stop)

Taking a skill up puts the workflow of its fsm.json into the list and tells the agent its
steps, and how it can work on them.

In Claude Code the list is the session's. If a skill's workflow cannot be taken up, the list stays
as it was, and the hook exits with 2 and the reason, which the agent reads, on standard
error; when the user has typed the skill, that also stops the prompt. A refused call exits
with 2, too. A call takes at most 5 s more than --lock-timeout, unless the check of a step
runs, for which --limit is. With --steps off nothing is enforced.

In other agents the list is the session's or the project's: docs/agents.md says which. A skill whose workflow is already
open continues it. The answer is in the form that the agent reads, with exit code 0.
--checks, --limit, --announce, --plugin-dir and --add-dir have no effect there.

Without --agent the event shows which agent sent it. With --agent, hook ignores the events of
other agents, whose own hooks answer them. Errors of fsmtx refuse nothing; they are reported
to the agent and the person. fsmtx install registers the hook.

` + wrongHook

// wrongHook says what a wrong registration comes to.
const wrongHook = `The exit code is 0 also for a wrong command line, which is reported to the agent and the person,
and 1 if it has an argument: 2 would refuse what the agent is about to do.`

// hookFlags returns the flags of the hook, with their defaults.
func hookFlags() *hook.Flags { return &hook.Flags{Flags: hydrate.DefaultFlags(), Read: readCall} }

func runHook(ctx context.Context, s terminal.Streams, f *hook.Flags) error {
	if f.Agent != "" && agent.Named(f.Agent) == nil {
		return misusedHook(s, fmt.Errorf("--agent: got %q, want %s", f.Agent, strings.Join(agent.Names(), ", ")))
	}
	if err := f.Check(); err != nil {
		return misusedHook(s, err)
	}
	return exit(hook.Run(ctx, s, f))
}

// exit returns the error that ends a hook with an exit code.
func exit(code int) error {
	if code == ExitOK {
		return nil
	}
	return &Exit{Code: code}
}

func misusedHook(s terminal.Streams, err error) error { return exit(hook.Misused(s, err)) }

// readHook returns the flags of a plain call of the hook, which is run without cobra: the client waits for it at each call. Of
// anything else, such as a call of the hook with a wrong flag, it returns nil.
func readHook(args []string) *hook.Flags {
	if len(args) == 0 || args[0] != "hook" {
		return nil
	}
	f, set := hookFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	set.Usage = func() {}
	if f.Add(set); set.Parse(args[1:]) != nil || set.NArg() > 0 {
		return nil
	}
	return f
}

func NewHook(s terminal.Streams) *cobra.Command {
	f := hookFlags()
	c := &cobra.Command{
		Use:   "hook",
		Short: "As a hook of any agent: do what its event needs",
		Long:  hookLong,
		Example: Example(
			"fsmtx hook --agent claude < event.json",
			"fsmtx hook --agent codex < event.json",
			"fsmtx hook --agent gemini --stop hold < event.json"),
		Args: NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return runHook(c.Context(), s, f) },
	}
	f.Add(c.Flags())
	CompleteChoices(c)
	return c
}

const hydrateLong = `As a hook of Claude Code, hydrate is "fsmtx hook --agent claude" without the rest: it takes up
the skill that was invoked, and corrects the tasks if the client ran another folder than was
predicted. It exits with 2 if the event cannot be read. fsmtx hook --help says more.

` + wrongHook

func newHydrate(s terminal.Streams) *cobra.Command {
	f := hookFlags()
	f.Agent, f.Hydrates, f.Announce = caller.Claude, true, false
	c := &cobra.Command{
		Use:   "hydrate",
		Short: "As a hook: fsmtx hook without the rules about steps",
		Long:  hydrateLong,
		Example: Example(
			"fsmtx hydrate < event.json",
			"fsmtx hydrate --announce --log ~/.claude/fsmtx.log < event.json"),
		Args: NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return runHook(c.Context(), s, f) },
	}
	f.AddOnly(c.Flags(), hydrate.OfHydrate)
	CompleteChoices(c)
	return c
}

// CompleteChoices completes the values of those flags of the hook that the command has.
func CompleteChoices(c *cobra.Command) {
	for _, choice := range append(new(hydrate.Flags).Choices(), hydrate.Choice{Flag: "agent", Words: agent.Names()}) {
		if c.Flags().Lookup(choice.Flag) != nil {
			Complete(c, choice.Flag, choice.Words...)
		}
	}
}

// isFed reports whether standard input begins as an event does. An agent that drops the arguments of a hook (Copilot CLI those of Claude
// Code) must not read the help as its answer. Input that stays silent for a second is not an event.
func isFed(s terminal.Streams) bool {
	if s.InputIsTerminal() {
		return false
	}
	first := make(chan byte, 1)
	go func() {
		var b [1]byte
		_, _ = s.In.Read(b[:])
		first <- b[0]
	}()
	select {
	case b := <-first:
		return b == '{'
	case <-time.After(time.Second):
		return false
	}
}

// NotFed is the error of a command that a person has typed without the event that it needs.
func NotFed(command string) error { return Unfed("an event", command+" < event.json") }

// Unfed is the error of a command that a person has typed without what it reads.
func Unfed(what, hint string) error {
	return &Exit{ExitNo, errors.New("standard input is a terminal; it must be " + what), hint}
}
