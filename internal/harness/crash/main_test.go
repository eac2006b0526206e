//go:build unix

package crash

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/harness/overseer"
	"github.com/fsmtx/fsmtx/internal/harness/worlds"
	"github.com/fsmtx/fsmtx/internal/tools"
	"github.com/fsmtx/fsmtx/txn/vfs"
	"github.com/fsmtx/fsmtx/txn/vfs/faultfs"
)

// every makes the tests try every step of the large workloads, instead of the first,
// the last and one other of each kind.
var every = flag.Bool("every", false, "try every step of every workload")

var of = flag.String("of", "", "try only the transitions whose names match this regular expression")

// raceOptions passes on the options of the race detector: by default each process
// sleeps for a second at its end.
var raceOptions = "GORACE=" + os.Getenv("GORACE")

// TestMain runs the other processes of the tests in this program. The environment
// says which:
//
//	FSMTX_TEST_DIE_AT=N    hydrate the list in HOME and be killed ahead of step N, or make
//	                       the transition FSMTX_TEST_TRANSITION of the workflow in HOME
//	FSMTX_TEST_FSMTX=1     run fsmtx under the restrictions of restrict
func TestMain(m *testing.M) {
	overseer.Become()
	switch {
	case os.Getenv("FSMTX_TEST_TRANSITION") != "":
		n, err := strconv.Atoi(os.Getenv("FSMTX_TEST_DIE_AT"))
		if err == nil {
			dieInTransition(os.Getenv("HOME"), os.Getenv("FSMTX_TEST_TRANSITION"), n)
		}
		os.Exit(exitCode(err))
	case os.Getenv("FSMTX_TEST_DIE_AT") != "":
		os.Exit(exitCode(dieAt(os.Getenv("FSMTX_TEST_DIE_AT"))))
	case os.Getenv("FSMTX_TEST_FSMTX") != "":
		if err := restrict(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(cannotRestrict)
		}
		os.Exit(tools.Main(os.Args[1:], callers.Played()))
	}
	callers.Forget()
	flag.Parse()
	runtime.MemProfileRate = 0 // the tests allocate much and keep little
	debug.SetGCPercent(400)
	// The go command would list the files that the tests open, to cache the result: some million, which takes it longer to go
	// through than the tests take. Without the list it caches nothing.
	if err := flag.Set("test.testlogfile", ""); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func dieAt(step string) error {
	n, err := strconv.Atoi(step)
	if err != nil {
		return err
	}
	w := &world{Home: worlds.Home{Dir: os.Getenv("HOME")}}
	_, err = w.hydrate("first", faultfs.Kill(vfs.OS{}, n))
	return err
}
