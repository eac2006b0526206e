package tools

import "github.com/spf13/cobra"

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
