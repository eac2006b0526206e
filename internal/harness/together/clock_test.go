package together_test

import (
	"os"
	"os/signal"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/tools"
	"github.com/fsmtx/fsmtx/txn"
)

// clockVariable names the environment variable with the clock of a hook, as the time since
// the start of 2000.
const clockVariable = "FSMTX_TEST_CLOCK"

// hookArguments are the arguments of a hook at another time.
var hookArguments []string

// runAtAnotherTime makes m.Run run only TestHookAtAnotherTime: only a test can have a
// simulated clock (testing/synctest).
func runAtAnotherTime() {
	hookArguments = os.Args[1:]
	os.Args = []string{os.Args[0], "-test.run=^TestHookAtAnotherTime$"}
	// Notify starts a goroutine. Inside the test it would keep the clock from advancing.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
}

// TestHookAtAnotherTime runs the program with a clock that is set to FSMTX_TEST_CLOCK. The
// clock stands still while the program works, and jumps ahead when it only waits.
func TestHookAtAnotherTime(t *testing.T) {
	text := os.Getenv(clockVariable)
	if text == "" {
		t.Skip("skipped: this is what TestClocksThatDisagree and make soak start")
	}
	since, err := time.ParseDuration(text)
	require.NoError(t, err)
	synctest.Test(t, func(*testing.T) {
		time.Sleep(since)
		os.Exit(tools.Main(hookArguments, callers.Played()))
	})
}

// TestClocksThatDisagree hydrates at one time after the other, as if the clock were set
// back and ahead by years. The history is in the order of the hydrations.
func TestClocksThatDisagree(t *testing.T) {
	w := newWorld(t)
	year := 365 * 24 * time.Hour
	for _, at := range []time.Duration{30 * year, year, 50 * year, 2 * year} {
		o := w.run(t, call{skill: "three", clock: at})
		require.Zero(t, o.code, "%s", o)
		require.Len(t, o.created, 3)
		require.Equal(t, o.created, w.names(), "the tasks of the one before are replaced")
	}
	history, err := txn.ReadHistory(w.List())
	require.NoError(t, err)
	var years []int
	for _, e := range history {
		years = append(years, e.Time.Year())
	}
	assert.Equal(t, []int{2029, 2000, 2049, 2001}, years)
}
