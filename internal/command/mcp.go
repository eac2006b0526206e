package command

import (
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/mcp/program"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// newMCP returns a command that replaces this process by the program fsmtx-mcp. Package
// program explains why that is a separate program.
func newMCP(s terminal.Streams) *cobra.Command {
	c := program.Command(func(c *cobra.Command, f program.Flags) error {
		path, err := program.Find()
		if err != nil {
			return &exit{exitNo, err, "install it with " + program.Install}
		}
		err = syscall.Exec(path, append([]string{program.Name}, f.Args()...), os.Environ())
		return fmt.Errorf("starting %s: %w", path, err)
	})
	c.Args = noArguments
	complete(c, "checks", "on", "off")
	_ = c.RegisterFlagCompletionFunc("session", completeLists(s))
	return c
}
