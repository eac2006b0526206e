// Fsmtx puts a skill's workflow into the client's task list as one transaction.
package main

import (
	"os"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func main() {
	setHome()
	os.Exit(command.Main(os.Args[1:], terminal.Process()))
}
