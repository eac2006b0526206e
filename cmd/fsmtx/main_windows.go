// Fsmtx puts a skill's workflow into the client's task list as one transaction.
package main

import (
	"fmt"
	"os"
)

// The crash contract rests on what Windows has not: names that can be linked and
// replaced while files are open, directories that can be synced, flock.
func main() {
	fmt.Fprintln(os.Stderr, "fsmtx: Windows is not supported")
	fmt.Fprintln(os.Stderr, "hint: run it in WSL, beside a client that runs there too")
	os.Exit(1)
}
