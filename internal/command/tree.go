package command

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Tree returns all commands, for what is generated from them. They are not to be run.
func Tree() *cobra.Command {
	return newRoot(nil, terminal.Streams{Getenv: func(string) (string, bool) { return "", false }})
}
