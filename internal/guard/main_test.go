package guard_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// TestMain lets the test binary be the program: for sessions, and for tests
// that need processes rather than goroutines.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"fsmtx": func() { os.Exit(command.Main(os.Args[1:], terminal.Process())) },
	})
}

func TestSessions(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "../../testdata/guards/sessions",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"expand": expand},
	})
}

// expand fills in the variables in files: an event names absolute paths.
func expand(ts *testscript.TestScript, _ bool, files []string) {
	for _, file := range files {
		text := os.Expand(ts.ReadFile(file), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}
