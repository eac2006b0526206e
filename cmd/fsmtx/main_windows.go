// Fsmtx puts a skill's workflow into the client's task list as one transaction.
package main

import (
	"fmt"
	"os"
)

// The crash contract needs what Windows lacks: replacing and linking files that are
// open, syncing directories, flock.
func main() {
	fmt.Fprintln(os.Stderr, "fsmtx: Windows is not supported")
	fmt.Fprintln(os.Stderr, "hint: run fsmtx and the client in WSL")
	os.Exit(1)
}
