// Fsmtx-tools has the commands of fsmtx for people, and its MCP server. Fsmtx starts it: package
// internal/programs explains why they are two programs.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/terminal"
	"github.com/fsmtx/fsmtx/internal/tools"
)

func main() {
	os.Exit(tools.Main(os.Args[1:], terminal.Process()))
}
