// Program is fsmtx, or fsmtx-mcp if it has that name, as sessions of testdata start it: who runs
// it, and where the settings of the organisation are, is said by variables of tests.
package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsmtx/fsmtx/internal/claude/switches"
	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/mcp"
)

func main() {
	managed := cmp.Or(os.Getenv("FSMTX_TEST_MANAGED"), os.DevNull) // never the machine's own
	switches.ManagedDir = func() string { return managed }
	if strings.HasPrefix(filepath.Base(os.Args[0]), "fsmtx-mcp") {
		os.Exit(mcp.Main(os.Args[1:], callers.Played()))
	}
	os.Exit(command.Main(os.Args[1:], callers.Played()))
}
