package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newHooks(s terminal.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "Run, list, check and test the hooks of any configuration, without the agent",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newHooksEval(s))
	return c
}
