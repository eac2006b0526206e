package together_test

import (
	"os"
	"testing"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/program"
)

// roleVariable names the environment variable that holds the role of this program in
// a child process.
const roleVariable = "FSMTX_TEST_ROLE"

// raceOptions passes on the options of the race detector: by default each process
// sleeps for a second when it ends.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "hook at another time":
		runAtAnotherTime()
	case "scripted hook":
		os.Exit(runScriptedHook())
	case "client":
		os.Exit(runClientEmulator(os.Args[1]))
	}
	callers.Forget()
	os.Exit(program.Run(m))
}
