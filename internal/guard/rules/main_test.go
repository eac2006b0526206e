package rules_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmtx/fsmtx/internal/guard"
	"github.com/fsmtx/fsmtx/internal/harness/callers"
	"github.com/fsmtx/fsmtx/internal/tools"
)

// A loaded machine may need longer than LockWait for a lock. This also applies to the
// processes that the tests start.
func init() { guard.LockWait = time.Minute }

// TestMain lets the test binary act as the program, for tests that start processes.
func TestMain(m *testing.M) {
	if !strings.HasPrefix(filepath.Base(os.Args[0]), "fsmtx") {
		callers.Forget()
	}
	testscript.Main(m, map[string]func(){
		"fsmtx": func() { os.Exit(tools.Main(os.Args[1:], callers.Played())) },
	})
}
