// Command fsmtx-mcp is the server as tests start it: as it is shipped, except that who runs it is
// played.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/mcp"
)

func main() { os.Exit(mcp.Main(os.Args[1:], callers.Played())) }
