// Command fsmtx is the program for tests with real clients: as it is shipped, except that a
// test can name who runs it.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
)

func main() { os.Exit(command.Main(os.Args[1:], callers.Named())) }
