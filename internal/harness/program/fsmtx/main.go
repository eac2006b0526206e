// Command fsmtx is the program as tests start it: as it is shipped, except that who runs it is
// played, and that an organisation's settings are where FSMTX_TEST_MANAGED says.
package main

import (
	"cmp"
	"os"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/settings"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

func main() {
	managed := cmp.Or(os.Getenv("FSMTX_TEST_MANAGED"), os.DevNull) // never the machine's own
	settings.ManagedDir = func() string { return managed }
	os.Exit(callers.Read(callers.Played(), func(s terminal.Streams) int { return command.Main(os.Args[1:], s) }))
}
