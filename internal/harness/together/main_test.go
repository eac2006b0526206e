package together_test

import (
	"os"
	"testing"

	"github.com/fsmtx/fsmtx/internal/command"
	"github.com/fsmtx/fsmtx/internal/terminal"
)

// play is the variable that says which part this program plays in a process of
// its own.
const play = "FSMTX_TEST_PLAY"

// raceOptions hands on what the race detector was told: by default each process
// sleeps for a second when it ends.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

func TestMain(m *testing.M) {
	switch os.Getenv(play) {
	case "hook":
		os.Exit(command.Main(os.Args[1:], terminal.Process()))
	case "told hook":
		os.Exit(toldHook())
	case "client":
		os.Exit(playClient(os.Args[1]))
	}
	os.Exit(m.Run())
}
