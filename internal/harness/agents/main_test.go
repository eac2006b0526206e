//go:build agents

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fsmtx/fsmtx/internal/harness/agents"
)

// programs is the directory of the built programs.
var programs string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fsmtx-agents-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	build := exec.Command("go", "build", "-trimpath", "-o", dir, "github.com/fsmtx/fsmtx/internal/harness/callers/fsmtx",
		"github.com/fsmtx/fsmtx/internal/harness/callers/fsmtx-tools")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// each runs a test for each agent that runs hooks, or for those of them that FSMTX_AGENTS names.
func each(t *testing.T, test func(*testing.T, *agents.Agent)) {
	of(t, slices.DeleteFunc(agents.All(), func(a *agents.Agent) bool { return len(a.Events) == 0 }), test)
}

// every runs a test for each agent, also for one without hooks.
func every(t *testing.T, test func(*testing.T, *agents.Agent)) { of(t, agents.All(), test) }

func of(t *testing.T, all []*agents.Agent, test func(*testing.T, *agents.Agent)) {
	wanted := strings.FieldsFunc(os.Getenv("FSMTX_AGENTS"), func(c rune) bool { return c == ',' || c == ' ' })
	for _, a := range all {
		t.Run(a.Program, func(t *testing.T) {
			if len(wanted) > 0 && !slices.Contains(wanted, a.Program) {
				t.Skipf("skipped: FSMTX_AGENTS is %q", wanted)
			}
			test(t, a)
		})
	}
}

// program returns the path of a copy of the program in the world, which a test may remove.
// Its directory is hostile too.
func program(t *testing.T, w *agents.World) string {
	t.Helper()
	path := programIn(t, w, "it's $(touch PWNED)")
	w.Env["PATH"] = filepath.Dir(path) + ":" + os.Getenv("PATH")
	return path
}

// programIn copies the programs into a directory of the world, and returns the path of fsmtx.
func programIn(t *testing.T, w *agents.World, dir string) string {
	t.Helper()
	for _, name := range []string{"fsmtx", "fsmtx-tools"} {
		data, err := os.ReadFile(filepath.Join(programs, name))
		require.NoError(t, err)
		w.Write(dir+"/"+name, string(data))
		require.NoError(t, os.Chmod(w.Path(dir+"/"+name), 0o755))
	}
	return w.Path(dir + "/fsmtx")
}
