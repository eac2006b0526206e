package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newStep(terminal.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "step",
		Short:   "Decide about a step, as a person: skip, done, reopen, end, allow, move, reload",
		Example: Example(`fsmtx step skip 3 --because "there is nothing to publish"`, `fsmtx step done 3 --because "I have read it"`),
		Args:    NoSuchCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
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
