package tools

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
)

// printHelp makes the help of a command and of its subcommands say so if it is asked for a command that does not exist.
func printHelp(c *cobra.Command, misused *error) {
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if c.HasSubCommands() && c.Flags().NArg() > 0 { // fsmtx nonsense --help
			*misused = command.NoSuchCommand(c, c.Flags().Args())
			return
		}
		text := c.Short
		if c.Long != "" {
			text = strings.TrimSpace(c.Long)
		}
		_, _ = io.WriteString(c.OutOrStdout(), text+"\n\n"+c.UsageString())
	})
}
