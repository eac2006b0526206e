package rules_test

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// A lock is waited for as long as a loaded machine needs, in these tests and in the
// processes they start.
func init() { guard.LockWait = time.Minute }

// TestMain lets the test binary act as the program, for tests that need processes
// and not goroutines.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fsmtx": func() { os.Exit(command.Main(os.Args[1:], terminal.Process())) },
	})
}
