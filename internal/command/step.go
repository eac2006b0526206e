package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/hook"
	"github.com/fsmtx/fsmtx/internal/hydrate"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

const stepLong = `As a hook of Claude Code, step is "fsmtx hook --agent claude" without the rest: it enforces
the steps of the workflow in the session's task list, and takes up no skill. fsmtx hook --help
says more.

In a terminal, a person can skip a step with "fsmtx step skip", mark it as done with
"fsmtx step done", or let one call through with "fsmtx step allow".`

func newStep(s terminal.Streams) *cobra.Command {
	f := partOfHook(hook.Enforces)
	c := hookCommand(s, f, &cobra.Command{
		Use:   "step",
		Short: "Decide about a step, as a person: skip, done, reopen, end, allow, move, reload",
		Long:  stepLong,
		Example: Example(
			"fsmtx step < event.json",
			"fsmtx step --stop hold --checks off < event.json",
			`fsmtx step skip 3 --because "there is nothing to publish"`),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return NoSuchCommand(c, args)
			}
			return nil
		},
	})
	f.AddOnly(c.Flags(), hydrate.OfStep)
	CompleteChoices(c)
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

func stepSubcommands() []Subcommand {
	return []Subcommand{
		{Name: "skip", Make: newStepSkip},
		{Name: "done", Make: newStepDone},
		{Name: "reopen", Make: newStepReopen},
		{Name: "end", Make: newStepEnd},
		{Name: "allow", Make: newStepAllow},
		{Name: "move", Make: newStepMove},
		{Name: "reload", Make: newStepReload},
	}
}
