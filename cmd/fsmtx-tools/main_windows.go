// Fsmtx-tools has the commands of fsmtx for people, and its MCP server.
package main

import (
	"fmt"
	"os"
)

// The file of this name in cmd/fsmtx explains why.
func main() {
	fmt.Fprintln(os.Stderr, "fsmtx-tools: Windows is not supported")
	fmt.Fprintln(os.Stderr, "hint: run fsmtx and the client in WSL")
	os.Exit(1)
}
