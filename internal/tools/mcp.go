package tools

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/mcp"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func newMCP(s terminal.Streams) *cobra.Command {
	c := mcp.Command(s)
	c.Args = command.NoArguments
	command.Complete(c, "checks", "on", "off")
	_ = c.RegisterFlagCompletionFunc("list", command.CompleteLists(s))
	return c
}
