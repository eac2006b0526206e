// Fsmtx-mcp serves a workflow's steps as tools of an MCP server.
package main

import (
	"fmt"
	"os"
)

// The file of this name in cmd/fsmtx explains why.
func main() {
	fmt.Fprintln(os.Stderr, "fsmtx-mcp: Windows is not supported")
	fmt.Fprintln(os.Stderr, "hint: run fsmtx and the client in WSL")
	os.Exit(1)
}
