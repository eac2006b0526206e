//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// fsmtx is the path of the built program.
var fsmtx string

// TestMain builds the program, in which a test can name who runs it, and fsmtx-tools beside it. In a child process it runs the
// hydration that kills itself (hydrate_test.go), or plays a person (approval_modes_test.go).
func TestMain(m *testing.M) {
	if where := os.Getenv(dieIn); where != "" {
		os.Exit(hydrateAndDie(where))
	}
	if os.Getenv(personTool) != "" {
		os.Exit(servePerson())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fsmtx-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	fsmtx = filepath.Join(dir, "fsmtx")
	build := exec.Command("go", "build", "-trimpath", "-o", dir, "github.com/fsmtx/fsmtx/internal/harness/callers/fsmtx",
		"github.com/fsmtx/fsmtx/internal/harness/callers/fsmtx-tools")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
