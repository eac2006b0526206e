// Command fsmtx-tools is the program of this name for tests with real clients: as it is shipped, except that
// a test can name who runs it.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/tools"
)

func main() { os.Exit(tools.Main(os.Args[1:], callers.Named())) }
