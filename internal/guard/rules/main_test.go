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

// A loaded machine may need longer than LockWait for a lock. This also applies to the
// processes that the tests start.
func init() { guard.LockWait = time.Minute }

// TestMain lets the test binary act as the program, for tests that start processes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fsmtx": func() { os.Exit(command.Main(os.Args[1:], terminal.Process())) },
	})
}
