// Fsmtx-mcp serves a workflow's steps as tools of an MCP server.
package main

import (
	"fmt"
	"os"
)

// See the same file of fsmtx.
func main() {
	fmt.Fprintln(os.Stderr, "fsmtx-mcp: Windows is not supported")
	fmt.Fprintln(os.Stderr, "hint: run fsmtx and the client in WSL")
	os.Exit(1)
}
