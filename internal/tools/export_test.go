package tools

import (
	"github.com/spf13/cobra"

	"github.com/fsmtx/fsmtx/internal/settings"
)

// EachCommand calls f for every command of the program with its full name, parents first,
// hidden commands included.
func EachCommand(f func(c *cobra.Command, path string)) {
	var visit func(c *cobra.Command, path string)
	visit = func(c *cobra.Command, path string) {
		f(c, path)
		for _, sub := range c.Commands() {
			visit(sub, path+" "+sub.Name())
		}
	}
	visit(Tree(), "fsmtx")
}

// SetManagedDir makes the program look for an organisation's settings in dir.
func SetManagedDir(dir string) { settings.ManagedDir = func() string { return dir } }
