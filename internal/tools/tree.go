package tools

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/terminal"
)

// Tree returns all commands, to generate manual pages from them. They must not be run.
func Tree() *cobra.Command {
	none := terminal.Streams{Getenv: func(string) (string, bool) { return "", false }}
	return tools(none).Root(nil, none, new(error))
}
